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

/// Whether all users may make files there and none may remove another's. The answer is the same for
/// every user, so that all choose the same folder.
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

/// Opens it for reading, which a lock needs, as the file may belong to another user. Links are not
/// followed, and a pipe does not block.
UniqueFd open_lock(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  constexpr mode_t kForAll = 0666;
  constexpr int kTries = 100;
  for (int attempt = 1;; ++attempt) {
    // First without O_CREAT, which fs.protected_regular refuses for another user's file in a folder
    // that all can write to.
    UniqueFd file(open(path.c_str(), kFlags));
    int error = errno;
    if (!file.open() && error == ENOENT) {
      file = UniqueFd(open(path.c_str(), kFlags | O_CREAT | O_EXCL, kForAll));
      error = errno;
      if (file.open()) fchmod(file.get(), kForAll);  // despite the umask
    }
    if (file.open()) {
      struct stat status {};
      if (fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
      throw Error(ErrorCode::kIo, "cannot lock " + path + ": it is not a regular file");
    }
    // Another process is just making it (EEXIST), or has not yet called fchmod() (EACCES).
    const bool passing = error == EEXIST || error == EACCES || error == EINTR || error == ENOENT;
    if (!passing || attempt == kTries) cannot_lock(path, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Whether the file still has that name: it may have been removed.
bool has_name(const UniqueFd& file, const std::string& path) {
  struct stat ours {
  }, named{};
  return fstat(file.get(), &ours) == 0 && lstat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/// Returns 0 or an error number, EWOULDBLOCK if a stop was requested. Polls where it can be
/// cancelled, since only a signal would end a blocking flock().
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
