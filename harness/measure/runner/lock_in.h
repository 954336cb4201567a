// A runner locks itself in before it reads a candidate. A kernel that takes over the process can
// then reach only this process, its socket to the judge, and the device. The judge starts it with
// an empty working folder, in a process group of its own, with no other descriptors.
//
// A kernel on a GPU can take over the process only through a fault of the driver. On a software
// device it is machine code in the process, and code that it overwrites has the process's rights.
//
// | layer        | what it stops                                            | where               |
// |--------------|----------------------------------------------------------|---------------------|
// | no_new_privs | setuid programs                                          | everywhere          |
// | capabilities | root's rights over files, processes and the system       | everywhere          |
// | parent_death | outliving the thread that started it                     | everywhere          |
// | limits       | core files, filling disk, descriptors, queues, memory    | everywhere          |
// | landlock     | opening any file but those of drivers, writing any but   | Linux 5.13; TCP     |
// |              | the device's, programs, TCP, signals and abstract        | from 6.7, signals   |
// |              | sockets to others                                        | and sockets 6.12    |
// | dumpable     | being traced or read by other programs of the user       | everywhere          |
// | threads      | starting more than the system bears                      | unless run as root  |
// | system_calls | software devices: all but what computing and the socket  | kernels with        |
// |              | take. GPUs: starting programs and processes, reaching    | seccomp             |
// |              | into others, sockets, creating files, the kernel's doors |                     |
//
// Still possible: to use up the processor, to falsify this process's answers (which the judge does
// not trust), and on a GPU to ask the driver for anything through its device files and to read the
// system's public files, as the files a driver needs cannot be listed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace kbench::runner {

struct LockInOptions {
  /// The process that started this one; 0: not checked.
  pid_t parent = 0;
  /// Most bytes of private memory (RLIMIT_DATA); 0: no limit. Device memory of a software device
  /// counts unless it is shared.
  uint64_t host_memory_bytes = 0;
  /// Files and folders that may be read besides those of drivers.
  std::vector<std::string> readable;
  /// The UUID of the device it will open. Files known to belong to other devices are out of reach,
  /// which makes the driver open this one sooner, too.
  std::string device = {};
};

struct LockLayer {
  std::string name;
  bool holds = false;
  std::string detail;  ///< what it restricts, or why it could not be entered
};

/// "landlock: ABI 7, ..." or "landlock: no: the kernel has none", one line for each layer.
std::string describe(const std::vector<LockLayer>& layers);

/// The layers of this process, entered in two steps that cannot be undone. A layer that the system
/// lacks is recorded as not holding and is no error.
class LockIn {
 public:
  explicit LockIn(LockInOptions options = {}) : options_(std::move(options)) {}

  /// First: the table down to landlock. To be called before Vulkan is used, while the process has
  /// one thread, from which later ones inherit. Throws kInternal if the parent has ended.
  void before_open();
  /// Second: the rest, for all threads. To be called when the device is open, since opening it
  /// needs more rights than running on it.
  void after_open(bool software_device);

  const std::vector<LockLayer>& layers() const { return layers_; }
  /// Whether the layer of that name has been entered.
  bool holds(const std::string& name) const;
  /// describe(layers())
  std::string text() const { return describe(layers_); }

 private:
  void enter_common();  ///< the layers down to limits

  LockInOptions options_;
  std::vector<LockLayer> layers_;
};

/// The whole environment of a runner: "NAME=value" for each variable of this process that Vulkan's
/// loader, layers and drivers read, with their caches on disk turned off.
std::vector<std::string> sanitized_environment();

// Linux's Landlock: a process gives up its rights to files, TCP ports and signals.

/// Restricts the calling thread, and those it starts from now on, to reading the files of Vulkan
/// drivers and in `readable`, and using the device files of the device with this UUID.
LockLayer restrict_files(const std::vector<std::string>& readable, const std::string& device);

// The filter of system calls in a locked-in process.

/// Installs the filter in all threads. A denied call fails with EPERM, or with ENOSYS where libc
/// then uses another call. It does not kill, which would look like a crash of the candidate.
LockLayer restrict_system_calls(bool software_device);

/// For python3: denies sockets, signals, leaving its process group, reading other processes, and
/// administration of the kernel. An array of sock_filter. Throws kInternal.
std::vector<uint8_t> program_of_python_filter();

// The lock-in of a process of Python's, which python/prototype.py enters.

/// What it takes: "ruleset" and "rules" of Landlock, "limits" of resources, the "filter" of system
/// calls, and "calls", their numbers. The process may read and run the system's programs and files
/// in `readable`, write below `scratch`, and use the device `devices` (no files: none); it has no
/// network and no signals. With a device the filter is empty: the driver's script enters it once
/// CUDA is there, as cuInit() takes a socket. Throws kUnsupported where the kernel has no Landlock.
nlohmann::json python_lock(const std::vector<std::string>& readable, const std::string& scratch,
                           const std::vector<std::string>& devices, uint64_t host_bytes);

/// Its part of python_lock(): "ruleset" and "rules", each a path with the rights to it if it is a
/// folder, and if it is none.
nlohmann::json python_file_rules(const std::vector<std::string>& readable,
                                 const std::string& scratch,
                                 const std::vector<std::string>& devices);

// The files through which a process reaches devices.

/// The files and folders of /dev that Vulkan's and CUDA's drivers use for the device with this
/// UUID, as vulkan::to_string() writes it. Files of other NVIDIA GPUs are left out if the driver
/// tells which is this one's. Only tests give the other two folders.
std::vector<std::string> device_files(const std::string& uuid, const std::string& dev = "/dev",
                                      const std::string& gpus = "/proc/driver/nvidia/gpus");

}  // namespace kbench::runner
