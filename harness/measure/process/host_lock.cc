#include "harness/measure/process/host_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "kbench/error.h"

namespace kbench::process {
namespace {

[[noreturn]] void cannot_lock(const std::string& path, int error) {
  throw Error(ErrorCode::kIo,
              "cannot lock " + path + ": " + std::generic_category().message(error));
}

/// Whether any user may make files there, and nobody remove another's. Does not depend on who asks:
/// all must come to the same folder.
bool is_for_all(const char* folder) {
  struct stat status {};
  struct statvfs system {};
  return stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & S_IWOTH) != 0 &&
         (status.st_mode & S_ISVTX) != 0 && statvfs(folder, &system) == 0 &&
         (system.f_flag & ST_RDONLY) == 0;
}

std::string folder_for_locks() {
  if (const char* given = std::getenv("KBENCH_LOCK_FOLDER"); given != nullptr && *given != '\0') {
    return given;
  }
  for (const char* folder : {"/run/lock", "/tmp"}) {
    if (is_for_all(folder)) return folder;
  }
  throw Error(ErrorCode::kIo,
              "there is no folder in which processes of all users could lock a device: neither "
              "/run/lock nor /tmp can be written by all; name one by KBENCH_LOCK_FOLDER");
}

/// Opened for reading, which is enough for a lock: a user may well not be able to write to what
/// another has made. Neither a link nor a pipe that somebody has put there is followed or waited
/// for.
UniqueFd open_lock(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  constexpr mode_t kForAll = 0666;
  constexpr int kTries = 100;
  for (int attempt = 1;; ++attempt) {
    // Without O_CREAT first: fs.protected_regular refuses that for another user's file in a folder
    // of all, though the file is there.
    UniqueFd file(open(path.c_str(), kFlags));
    int error = errno;
    if (!file.open() && error == ENOENT) {
      file = UniqueFd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, kForAll));
      error = errno;
      if (file.open()) fchmod(file.get(), kForAll);  // Whatever the umask is.
    }
    if (file.open()) {
      struct stat status {};
      if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
      throw Error(ErrorCode::kIo, "cannot lock " + path + ": it is not a regular file");
    }
    // Another made it just now (EEXIST), or has made it and not yet for all (EACCES).
    const bool passing = error == EEXIST || error == EACCES || error == EINTR || error == ENOENT;
    if (!passing || attempt == kTries) cannot_lock(path, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Whether the file is still the one of that name: somebody may have tidied up.
bool has_name(const UniqueFd& file, const std::string& path) {
  struct stat ours {
  }, named{};
  return fstat(file.get(), &ours) == 0 && lstat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/// 0, or an error number; EWOULDBLOCK where a stop was requested. The system's own wait can be
/// ended by a signal alone, which is not a library's to send.
int wait_to_lock(const UniqueFd& file, const std::stop_token& cancelled) {
  constexpr std::chrono::milliseconds kLookEvery(2);
  const int flags = LOCK_EX | (cancelled.stop_possible() ? LOCK_NB : 0);
  while (flock(file.get(), flags) != 0) {
    const bool another_has_it = errno == EWOULDBLOCK;
    if (!another_has_it && errno != EINTR) return errno;
    if (cancelled.stop_requested()) return EWOULDBLOCK;
    if (another_has_it) std::this_thread::sleep_for(kLookEvery);
  }
  return 0;
}

}  // namespace

HostLock::HostLock(const std::string& name) : path_(folder_for_locks() + "/kbench-" + name) {
  open_lock(path_);
}

double HostLock::take(const std::function<void()>& on_wait, const std::stop_token& cancelled) {
  if (held()) return 0;
  using Clock = std::chrono::steady_clock;
  double waited = 0;
  for (bool said = false;;) {
    UniqueFd file = open_lock(path_);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) cannot_lock(path_, errno);
      if (!std::exchange(said, true) && on_wait) on_wait();
      const auto start = Clock::now();
      const int error = wait_to_lock(file, cancelled);
      if (error == EWOULDBLOCK) return waited;
      if (error != 0) cannot_lock(path_, error);
      waited += std::chrono::duration<double>(Clock::now() - start).count();
    }
    if (!has_name(file, path_)) continue;
    file_ = std::move(file);
    return waited;
  }
}

std::string device_lock_name(const std::string& device_uuid) {
  return "device-" + device_uuid + ".lock";
}

}  // namespace kbench::process
