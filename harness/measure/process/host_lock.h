// A lock that all processes of a host share, including those of other users.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "libkbench/base/files.h"

namespace kbench::process {

/// Held by one object of one process at a time, and released by the kernel when the process ends: a
/// flock() on an empty file in KBENCH_LOCK_FOLDER, else in the first of /run/lock and /tmp that all
/// users can write to. Not thread-safe.
class HostLock {
 public:
  /// Does not take the lock. `name`: a part of the file's name. Throws kIo if there is no folder
  /// for locks or the file in it cannot be used.
  explicit HostLock(const std::string& name);

  /// Waits until it has the lock, and calls `on_wait` once before waiting. Returns the seconds
  /// waited; 0 if it is held already. If a stop is requested it returns soon, without the lock. A
  /// wait that can be stopped polls every two milliseconds. Throws kIo.
  double take(const std::function<void()>& on_wait = {}, const std::stop_token& cancelled = {});
  void release() { file_.reset(); }
  bool held() const { return file_.open(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  UniqueFd file_;
};

/// The name of the lock for measurements on a device, of which one runs at a time on a host.
std::string device_lock_name(const std::string& device_uuid);

}  // namespace kbench::process
