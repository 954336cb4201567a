#include "harness/measure/process/cgroups.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

namespace kbench::process {

namespace {

/// The number at the start of a file; nothing if there is none, as in "max".
std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// Whether a list with commas names the controller; an empty list is version 2.
bool names(const std::string& controllers, const std::string& wanted) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');) {
    if (one == wanted) return true;
  }
  return controllers.empty() && wanted.empty();
}

/// Adds the folder of a group below `root`, and those of all groups above it.
void add_groups(const std::string& root, std::string path, std::vector<std::string>& folders) {
  // The group lies outside of what is mounted here.
  if (path.find("..") != std::string::npos) path.clear();
  while (!path.empty() && path != "/") {
    folders.push_back(root + path);
    path.resize(path.rfind('/'));
  }
  folders.push_back(root);
}

/// The folders of the groups of this process, its own first: of a controller of version 1, or of
/// version 2 if `controller` is empty. Some may not exist: in a container the groups may lie
/// directly in the mounted folder.
std::vector<std::string> groups_of(const SystemFolders& system, const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream list(system.proc + "/self/cgroup");
  for (std::string line; std::getline(list, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!names(controllers, controller)) continue;
    const std::string path = line.substr(second + 1);
    if (controller.empty()) {
      add_groups(system.cgroups, path, folders);
      add_groups(system.cgroups + "/unified", path, folders);
    } else {
      add_groups(system.cgroups + "/" + controllers, path, folders);
      if (controllers != controller) add_groups(system.cgroups + "/" + controller, path, folders);
    }
  }
  return folders;
}

void keep_least(std::optional<int64_t>& least, const std::optional<int64_t>& limit,
                const std::optional<int64_t>& used, int64_t reclaimable) {
  if (!limit || !used) return;
  const int64_t left = std::max<int64_t>(*limit - std::max<int64_t>(*used - reclaimable, 0), 0);
  least = std::min(least.value_or(left), left);
}

void keep_least(std::optional<ProcessorQuota>& least, const ProcessorQuota& quota) {
  if (!least || quota.processors < least->processors) least = quota;
}

}  // namespace

int64_t table_entry(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t value = 0;
    if (word == name && file >> value) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

std::optional<int64_t> cgroup_memory_left(const SystemFolders& system) {
  constexpr int64_t kNoLimit = int64_t{1} << 62;  // version 1 writes a larger number for no limit
  std::optional<int64_t> least;
  for (const std::string& group : groups_of(system, "")) {
    keep_least(least, number_in(group + "/memory.max"), number_in(group + "/memory.current"),
               table_entry(group + "/memory.stat", "inactive_file"));
  }
  for (const std::string& group : groups_of(system, "memory")) {
    const auto limit = number_in(group + "/memory.limit_in_bytes");
    if (!limit || *limit >= kNoLimit) continue;
    keep_least(least, limit, number_in(group + "/memory.usage_in_bytes"),
               table_entry(group + "/memory.stat", "total_inactive_file"));
  }
  return least;
}

std::optional<ProcessorQuota> cgroup_processor_quota(const SystemFolders& system) {
  std::optional<ProcessorQuota> least;
  for (const std::string& group : groups_of(system, "")) {
    std::ifstream file(group + "/cpu.max");
    double quota_us = 0, period_us = 0;
    if (!(file >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) continue;
    const auto used_us = static_cast<double>(table_entry(group + "/cpu.stat", "usage_usec"));
    keep_least(least, {quota_us / period_us, used_us * 1e-6});
  }
  const std::vector<std::string> counted = groups_of(system, "cpuacct");
  const std::vector<std::string> limited = groups_of(system, "cpu");
  for (size_t i = 0; i < limited.size(); ++i) {
    const auto quota_us = number_in(limited[i] + "/cpu.cfs_quota_us");
    const auto period_us = number_in(limited[i] + "/cpu.cfs_period_us");
    if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) continue;
    // The groups of both controllers are the same where they are mounted together, as is usual.
    const auto used_ns = i < counted.size() ? number_in(counted[i] + "/cpuacct.usage") : 0;
    keep_least(least, {static_cast<double>(*quota_us) / static_cast<double>(*period_us),
                       static_cast<double>(used_ns.value_or(0)) * 1e-9});
  }
  return least;
}

int64_t available_host_bytes(const SystemFolders& folders) {
  const int64_t free = 1024 * table_entry(folders.proc + "/meminfo", "MemAvailable:");
  const auto left = cgroup_memory_left(folders);
  if (!left) return free;
  const int64_t most = std::max<int64_t>(*left, 1);  // 0 would mean unknown
  return free > 0 ? std::min(free, most) : most;
}

int64_t peak_host_bytes() { return 1024 * table_entry("/proc/self/status", "VmHWM:"); }

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace kbench::process
