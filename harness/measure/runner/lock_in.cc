#include "harness/measure/runner/lock_in.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {
namespace {

constexpr rlim_t kOpenFiles = 4096;
constexpr rlim_t kThreads = 8192;  // of all the user's processes, as the kernel counts them
constexpr rlim_t kFileBytes = rlim_t{64} << 20;

/// To be called right after the system call, for its errno.
LockLayer layer(const char* name, bool done, const std::string& detail) {
  return {.name = name, .holds = done, .detail = done ? detail : std::strerror(errno)};
}

LockLayer drop_capabilities() {
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Without CAP_SETPCAP the bounding set stays; no_new_privs makes it useless.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return layer("capabilities", syscall(SYS_capset, &header, none) == 0, "none left");
}

LockLayer die_with(pid_t parent) {
  LockLayer result = layer("parent_death", prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0,
                           "killed with its parent");
  // The parent may have ended before the prctl().
  if (parent != 0 && getppid() != parent) {
    throw Error(ErrorCode::kInternal, "the process that started this runner has ended");
  }
  return result;
}

/// Lowers a hard limit; one that is lower already stays.
bool limit(__rlimit_resource resource, rlim_t most) {
  rlimit value{};
  if (getrlimit(resource, &value) != 0) return false;
  value.rlim_max = std::min(value.rlim_max, most);
  value.rlim_cur = std::min(value.rlim_cur, value.rlim_max);
  return setrlimit(resource, &value) == 0;
}

/// A sanitizer's shadow counts as the process's own memory, and is larger than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

/// The limits of every process that is locked in; `host_bytes` of memory, 0 for no limit.
std::vector<std::pair<__rlimit_resource, rlim_t>> limits_with(uint64_t host_bytes) {
  std::vector<std::pair<__rlimit_resource, rlim_t>> all = {
      {RLIMIT_CORE, 0},           {RLIMIT_NOFILE, kOpenFiles},
      {RLIMIT_FSIZE, kFileBytes}, {RLIMIT_MSGQUEUE, 0},
      {RLIMIT_NICE, 0},           {RLIMIT_RTPRIO, 0}};
  if (kLimitsMemory && host_bytes > 0) all.emplace_back(RLIMIT_DATA, host_bytes);
  return all;
}

LockLayer limit_resources(const LockInOptions& options) {
  signal(SIGXFSZ, SIG_IGN);  // a write past the limit fails instead
  const bool done =
      std::ranges::all_of(limits_with(options.host_memory_bytes),
                          [](const auto& each) { return limit(each.first, each.second); });
  std::string detail = "no core, " + std::to_string(kOpenFiles) + " descriptors, files of " +
                       std::to_string(kFileBytes) + " bytes";
  if (kLimitsMemory && options.host_memory_bytes > 0) {
    detail += ", " + std::to_string(options.host_memory_bytes) + " bytes of memory";
  }
  return layer("limits", done, detail);
}

LockLayer limit_threads() {
  return layer("threads", limit(RLIMIT_NPROC, kThreads),
               std::to_string(kThreads) + " of this user's at most");
}

/// Capabilities and Landlock restrict a thread and those it starts, not threads that exist.
bool has_other_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return !error && std::distance(begin(tasks), end(tasks)) > 1;
}

}  // namespace

bool LockIn::holds(const std::string& name) const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [&](const LockLayer& each) { return each.name == name && each.holds; });
}

std::string describe(const std::vector<LockLayer>& layers) {
  std::string text;
  for (const LockLayer& each : layers) {
    text += each.name + ": " + (each.holds ? "" : "no: ") + each.detail + "\n";
  }
  return text;
}

void LockIn::enter_common() {
  layers_.push_back(layer("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "set"));
  layers_.push_back(drop_capabilities());
  layers_.push_back(die_with(options_.parent));
  layers_.push_back(limit_resources(options_));
}

void LockIn::before_open() {
  const bool too_late = has_other_threads();
  enter_common();
  layers_.push_back(restrict_files(options_.readable, options_.device));
  for (LockLayer& each : layers_) {
    if (too_late && (each.name == "capabilities" || each.name == "landlock")) {
      each.holds = false;
      each.detail = "the process had several threads already";
    }
  }
}

void LockIn::after_open(bool software_device) {
  layers_.push_back(layer("dumpable", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, "off"));
  // The driver has started its threads by now; this limits later ones.
  layers_.push_back(limit_threads());
  layers_.push_back(restrict_system_calls(software_device));
}

nlohmann::json python_lock(const std::vector<std::string>& readable, const std::string& scratch,
                           const std::vector<std::string>& devices, uint64_t host_bytes) {
  nlohmann::json lock = python_file_rules(readable, scratch, devices);
  lock["limits"] = {{static_cast<int>(RLIMIT_NPROC), kThreads}};
  for (const auto& [which, most] : limits_with(host_bytes)) {
    lock["limits"].push_back({static_cast<int>(which), most});
  }
  lock["filter"] = devices.empty() ? hex_of(program_of_python_filter()) : "";
  lock["calls"] = {{"create_ruleset", SYS_landlock_create_ruleset},
                   {"add_rule", SYS_landlock_add_rule},
                   {"restrict_self", SYS_landlock_restrict_self},
                   {"seccomp", SYS_seccomp}};
  return lock;
}

}  // namespace kbench::runner
