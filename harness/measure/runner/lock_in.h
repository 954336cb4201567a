// A runner locks itself in before it sees a candidate: what a kernel that takes its process over
// can still reach is this process, its socket to the judge, and the device. Who starts it has
// given it an empty working folder, a process group, and no other descriptors.
//
// A kernel on a GPU gets at the process only through a fault of the driver. On a software device it
// is machine code in the process, and code that it overwrites runs with the process's rights.
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
// What stays possible: to use up the processor, to spoil this process's own answers (which the
// judge believes nothing of), to ask the driver of a GPU for anything through its device files, and
// there, where a driver's needs cannot be listed, to read the system's files that are no secret.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kbench::runner {

struct LockInOptions {
  /// The process that started this one; 0: not looked at.
  pid_t parent = 0;
  /// Most bytes of private memory (RLIMIT_DATA); 0: no limit. Device memory of a software device
  /// counts unless it is shared.
  uint64_t host_memory_bytes = 0;
  /// Files and folders that may be read besides those that drivers have.
  std::vector<std::string> readable;
  /// The UUID of the device it will open; others' files are out of reach where it is known whose
  /// they are. A driver that can see one GPU alone opens it sooner, too.
  std::string device = {};
};

struct LockLayer {
  std::string name;
  bool holds = false;
  std::string detail;  ///< what holds of it, or why it does not
};

/// The layers of this process, entered in two steps that nothing undoes. One that the system lacks
/// is remembered as not holding and is no error.
class LockIn {
 public:
  explicit LockIn(LockInOptions options = {}) : options_(std::move(options)) {}

  /// First: the table down to landlock. Called while the process has one thread, which later ones
  /// inherit from, and before Vulkan is touched. Throws kInternal when the parent has ended.
  void before_open();
  /// Second: the rest, for all threads there are. Called once the device is open, since opening it
  /// takes more than running on it does.
  void after_open(bool software_device);

  /// In place of both, for the process that becomes Triton's python3: it reads and runs the
  /// system's programs and what is in `readable`, writes below `scratch`, and has no network, no
  /// device and nobody to signal. False where a layer that this rests on cannot be had: Landlock
  /// or the filter.
  bool for_python(const std::vector<std::string>& readable, const std::string& scratch);

  const std::vector<LockLayer>& layers() const { return layers_; }
  /// True when the layer of that name has been entered.
  bool holds(const std::string& name) const;
  /// "landlock: ABI 7, ..." or "landlock: no: the kernel has none", one line a layer.
  std::string text() const;

 private:
  LockInOptions options_;
  std::vector<LockLayer> layers_;
};

/// What LockIn::text() writes.
std::string describe(const std::vector<LockLayer>& layers);

/// "NAME=value" for each variable of this process that Vulkan's loader, layers and drivers read,
/// with their caches on disk turned off: the whole environment a runner is started with.
std::vector<std::string> sanitized_environment();

}  // namespace kbench::runner
