#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "harness/measure/runner/lock_in.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"

namespace kbench::runner {

namespace {

// Not in Debian 12's header. Only the rights that the kernel's ABI has are passed to it.
struct RulesetAttributes {
  uint64_t files = 0;
  uint64_t network = 0;  // ABI 4
  uint64_t scoped = 0;   // ABI 6
};
constexpr uint64_t kTruncate = uint64_t{1} << 14;       // ABI 3
constexpr uint64_t kDeviceControl = uint64_t{1} << 15;  // ABI 5
constexpr uint64_t kBindTcp = 1, kConnectTcp = 2;
constexpr uint64_t kAbstractSockets = 1, kSignals = 2;

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kUse = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kDeviceControl;
/// Rights that a rule for something other than a folder may name.
constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceControl;

/// Every right to files of an ABI: the ruleset denies those that no rule grants. Mapping a library
/// is not running it.
uint64_t all_rights(long abi) {
  uint64_t rights = (uint64_t{LANDLOCK_ACCESS_FS_MAKE_SYM} << 1) - 1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kDeviceControl;
  return rights;
}

RulesetAttributes attributes_of(long abi) {
  RulesetAttributes attributes;
  attributes.files = all_rights(abi);
  if (abi >= 4) attributes.network = kBindTcp | kConnectTcp;
  if (abi >= 6) attributes.scoped = kAbstractSockets | kSignals;
  return attributes;
}

/// Below 1: the kernel has none.
long landlock_abi() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

class Ruleset {
 public:
  explicit Ruleset(long abi) : attributes_(attributes_of(abi)) {
    fd_ = UniqueFd(static_cast<int>(
        syscall(SYS_landlock_create_ruleset, &attributes_, sizeof attributes_, 0)));
  }

  bool made() const { return fd_.open(); }
  /// A path that does not exist needs no rule.
  void allow(const std::vector<std::string>& paths, uint64_t rights) {
    for (const std::string& path : paths) {
      const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
      struct stat status {};
      if (!file.open() || fstat(file.get(), &status) != 0) continue;
      landlock_path_beneath_attr rule{};
      rule.parent_fd = file.get();
      rule.allowed_access = rights & attributes_.files;
      if (!S_ISDIR(status.st_mode)) rule.allowed_access &= kOfFiles;
      syscall(SYS_landlock_add_rule, fd_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
  }
  bool restrict_self() const { return syscall(SYS_landlock_restrict_self, fd_.get(), 0) == 0; }

 private:
  RulesetAttributes attributes_;
  UniqueFd fd_;
};

/// The paths in an environment variable, separated by colons.
std::vector<std::string> paths_in(const char* variable) {
  std::vector<std::string> paths;
  const char* value = std::getenv(variable);
  std::istringstream text(value ? value : "");
  for (std::string path; std::getline(text, path, ':');) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

void allow_drivers(Ruleset& rules) {
  rules.allow({"/usr", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys"}, kRead);
  // Of /etc only the settings of loaders and drivers.
  rules.allow({"/etc/ld.so.cache", "/etc/vulkan", "/etc/drirc", "/etc/nvidia", "/etc/glvnd",
               "/etc/OpenCL", "/etc/localtime"},
              kRead);
  for (const char* variable : {"LD_LIBRARY_PATH", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"}) {
    rules.allow(paths_in(variable), kRead);
  }
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
    for (const std::string& path : paths_in(variable)) {
      rules.allow({path}, kRead);
      // A driver's library often lies beside its description.
      if (const size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0) {
        rules.allow({path.substr(0, slash)}, kRead);
      }
    }
  }
  for (const char* base : {"XDG_DATA_DIRS", "XDG_CONFIG_DIRS"}) {
    for (const std::string& path : paths_in(base)) rules.allow({path + "/vulkan"}, kRead);
  }
}

/// Enters the rules that `allow` adds; `describe` says what they are for an ABI.
LockLayer enter(const std::function<void(Ruleset&)>& allow,
                const std::function<std::string(long abi)>& describe) {
  LockLayer layer{.name = "landlock", .holds = false, .detail = {}};
  const long abi = landlock_abi();
  if (abi < 1) {
    layer.detail = errno == EOPNOTSUPP ? "it is turned off in the kernel" : "the kernel has none";
    return layer;
  }
  Ruleset rules(abi);
  if (!rules.made()) {
    layer.detail = std::string("no ruleset: ") + std::strerror(errno);
    return layer;
  }
  allow(rules);
  layer.holds = rules.restrict_self();
  layer.detail = layer.holds ? "ABI " + std::to_string(abi) + ": " + describe(abi)
                             : std::string("not entered: ") + std::strerror(errno);
  return layer;
}

namespace fs = std::filesystem;

/// "nvidia0" for the GPU whose file `information` names this UUID; empty if none does.
std::string nvidia_file(const std::string& uuid, const std::string& gpus) {
  std::error_code ignored;
  for (const fs::directory_entry& gpu : fs::directory_iterator(gpus, ignored)) {
    std::ifstream information(gpu.path() / "information");
    bool same = false;
    for (std::string line; std::getline(information, line);) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::string_view name = trimmed(std::string_view(line).substr(0, colon));
      const std::string value(trimmed(std::string_view(line).substr(colon + 1)));
      if (name == "GPU UUID") same = value == "GPU-" + uuid;
      if (name == "Device Minor" && same) return "nvidia" + value;
    }
  }
  return "";
}

/// "nvidia0", "nvidia12"; not "nvidiactl".
bool is_of_one_nvidia_gpu(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

}  // namespace

LockLayer restrict_files(const std::vector<std::string>& readable, const std::string& device) {
  const auto allow = [&](Ruleset& rules) {
    allow_drivers(rules);
    rules.allow(readable, kRead);
    rules.allow({"/dev/null", "/dev/zero"}, kRead | LANDLOCK_ACCESS_FS_WRITE_FILE);
    rules.allow({"/dev/random", "/dev/urandom"}, kRead);
    rules.allow(device_files(device), kUse);
  };
  return enter(allow, [](long abi) {
    return std::string("files of drivers read, only devices' own written, none run") +
           (abi >= 4 ? "; no TCP" : "; TCP stays (Linux 6.7)") +
           (abi >= 6 ? "; no signals or abstract sockets to others"
                     : "; signals to others stay (Linux 6.12)");
  });
}

nlohmann::json python_file_rules(const std::vector<std::string>& readable,
                                 const std::string& scratch,
                                 const std::vector<std::string>& devices) {
  const long abi = landlock_abi();
  if (abi < 1) {
    throw Error(
        ErrorCode::kUnsupported,
        "this system cannot hold a process of Python's in (Landlock and seccomp are needed)");
  }
  const RulesetAttributes attributes = attributes_of(abi);
  nlohmann::json rules = nlohmann::json::array();
  const auto allow = [&](const std::vector<std::string>& paths, uint64_t rights) {
    rights &= attributes.files;
    for (const std::string& path : paths) rules.push_back({path, rights, rights & kOfFiles});
  };
  constexpr uint64_t kRun = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
  allow({"/usr", "/bin", "/lib", "/lib32", "/lib64", "/opt"}, kRun);
  allow(readable, kRun);
  allow({"/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random", "/proc/self",
         "/proc/cpuinfo", "/proc/meminfo"},
        kRead);
  allow({"/dev/null"}, kRead | LANDLOCK_ACCESS_FS_WRITE_FILE);
  allow({scratch}, attributes.files & ~uint64_t{LANDLOCK_ACCESS_FS_EXECUTE} & ~kDeviceControl);
  if (!devices.empty()) {
    allow(devices, kUse);
    allow({"/proc", "/sys"}, kRead);
    // CUDA's driver names its threads there.
    allow({"/proc/self/task"}, kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(&attributes);
  return {{"ruleset", hex_of(std::vector<uint8_t>(bytes, bytes + sizeof attributes))},
          {"rules", std::move(rules)}};
}

std::vector<std::string> device_files(const std::string& uuid, const std::string& dev,
                                      const std::string& gpus) {
  const std::string own = nvidia_file(uuid, gpus);
  std::error_code ignored;
  const bool there = !own.empty() && fs::exists(dev + "/" + own, ignored);
  std::vector<std::string> files;
  for (const char* name : {"dri", "kfd", "dxg", "udmabuf", "dma_heap"}) {
    files.push_back(dev + "/" + name);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(dev, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("nvidia") && !name.starts_with("mali")) continue;
    if (there && is_of_one_nvidia_gpu(name) && name != own) continue;
    files.push_back(entry.path());
  }
  return files;
}

}  // namespace kbench::runner
