// A lock that all processes of a host share, those of other users too.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "libkbench/base/unique_fd.h"

namespace kbench::process {

/// Held by one process (or one object of one) at a time, and let go by the kernel when its holder
/// ends, however it does: a flock() on an empty file in the one folder that all users of the host
/// may use, /run/lock or else /tmp, or where KBENCH_LOCK_FOLDER says. Not thread-safe; two objects
/// of one name exclude each other like two processes.
class HostLock {
 public:
  /// Takes nothing yet. `name`: a part of the file's name. Throws kIo where there is no folder to
  /// lock in, or the file in it is none that can be used: nobody would know of each other.
  explicit HostLock(const std::string& name);

  /// Waits until it is this object's; `on_wait` is called once, before, if it is another's. Seconds
  /// waited; 0 at once where it is held already. Soon after a stop is requested it waits no more,
  /// and the lock is not held(); a wait that can be stopped asks again every two milliseconds.
  /// Throws kIo.
  double take(const std::function<void()>& on_wait = {}, const std::stop_token& cancelled = {});
  void release() { file_.reset(); }
  bool held() const { return file_.open(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd file_;
};

/// The name of the lock under which a device measures: at most one measurement at a time is taken
/// on it, by all of the host's processes.
std::string device_lock_name(const std::string& device_uuid);

}  // namespace kbench::process
