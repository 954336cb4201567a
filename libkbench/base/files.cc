#include "libkbench/base/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace kbench {
namespace {

/// The process that holds the lock on a file, as Linux lists locks; 0 when it does not say.
int holder_of(const struct stat& file) {
  char place[64];
  std::snprintf(place, sizeof place, "%02x:%02x:%llu", major(file.st_dev), minor(file.st_dev),
                static_cast<unsigned long long>(file.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    char kind[16], at[64];
    int pid = 0;
    // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:262147 0 EOF"; one that waits has an arrow in front.
    if (std::sscanf(line.c_str(), "%*d: %15s %*s %*s %d %63s", kind, &pid, at) == 3 &&
        std::string_view(kind) == "FLOCK" && std::string_view(at) == place) {
      return pid;
    }
  }
  return 0;
}

// A FIFO is not waited for, and a terminal does not become the process's controlling one.
constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

void close_keeping_errno(int fd) {
  const int kept = errno;
  ::close(fd);
  errno = kept;
}

}  // namespace

namespace fs = std::filesystem;

void throw_io(const std::string& doing, const std::string& path, int error) {
  throw SystemError("cannot " + doing + " " + path + ": " + std::generic_category().message(error),
                    error);
}

std::string read_file(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) throw_io("read", path);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) throw_io("read", path);
  constexpr size_t kChunk = 1 << 16;
  std::string text;
  // One byte more than the file has, so that one call finds its end.
  if (S_ISREG(status.st_mode)) text.reserve(static_cast<size_t>(status.st_size) + 1);
  for (size_t size = 0;;) {
    text.resize(std::max(text.capacity(), size + kChunk));
    const ssize_t count = read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io("read", path);
    size += static_cast<size_t>(count);
    if (count > 0) continue;
    text.resize(size);
    return text;
  }
}

bool is_torn(std::string_view line, bool has_newline, std::string_view start) {
  const size_t zero = line.find('\0');
  if (has_newline && zero == line.npos) return false;
  const std::string_view text = line.substr(0, zero);
  return text.substr(0, start.size()) == start.substr(0, text.size());
}

void write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io("write to", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

NewFile::NewFile(const std::string& path) : path_(path), target_(path) {
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    const fs::path leads_to = fs::canonical(path, ignored);
    if (!leads_to.empty()) target_ = leads_to.string();
  }
  struct stat status {};
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    in_place_ = true;
    fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) throw_io("write", path_);
    return;
  }
  if (exists) {
    // Replacing asks only for the folder's permission, but a file may be protected from it.
    if (access(target_.c_str(), W_OK) != 0) throw_io("write", path_);
    mode_ = status.st_mode & 07777;
  }
  next_ = target_ + "." + std::to_string(getpid()) + ".next";
  const std::string folder = fs::path(target_).parent_path().string();
  fd_ = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ >= 0) return;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) throw_io("write", path_);
  fd_ = open(next_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_io("write", path_);
  named_ = true;
}

NewFile::~NewFile() {
  if (named_) unlink(next_.c_str());
  if (fd_ >= 0) close(fd_);
}

void NewFile::commit(Sync sync) {
  if (!in_place_) replace(sync);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0 && errno != EINTR) throw_io("write", path_);
}

void NewFile::replace(Sync sync) {
  if (mode_ && fchmod(fd_, *mode_) != 0) throw_io("write", path_);
  // Before it has a name: after a loss of power the name must not lead to an empty file.
  if (sync == Sync::yes && fsync(fd_) != 0) throw_io("write", path_);
  if (!named_) {
    const std::string nameless = "/proc/self/fd/" + std::to_string(fd_);
    unlink(next_.c_str());  // of a process that had the same number
    if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, next_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      throw_io("write", path_);
    }
    named_ = true;
  }
  if (rename(next_.c_str(), target_.c_str()) != 0) throw_io("write", path_);
  named_ = false;
}

void replace_file(const std::string& path, std::string_view text, Sync sync) {
  NewFile file(path);
  file.write(text);
  file.commit(sync);
}

void lock_file(int fd, const std::string& path, const std::string& doing) {
  struct stat file {};
  if (fstat(fd, &file) != 0) throw_io("lock", path);
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;
    const int pid = holder_of(file);
    throw Error(ErrorCode::kIo,
                path + " is in use: " + (pid > 0 ? "process " + std::to_string(pid) : "a process") +
                    " is " + doing);
  }
}

void sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const UniqueFd fd(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.open()) fsync(fd.get());
}

int open_beneath(int directory, const std::string& path) {
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
  // Sandboxes that do not know the call answer EPERM; trying the other way gives nothing away.
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
  return open_beneath_by_parts(directory, path);
}

int open_beneath_by_parts(int directory, const std::string& path) {
  if (path.empty() || path[0] == '/') {
    errno = path.empty() ? ENOENT : EXDEV;
    return -1;
  }
  int folder = directory;
  for (size_t begin = 0;;) {
    const size_t end = path.find('/', begin);
    const bool last = end == std::string::npos;
    const std::string part = path.substr(begin, last ? end : end - begin);
    int fd = -1;
    if (part == "..") {
      errno = EXDEV;
    } else {
      fd = ::openat(folder, part.c_str(), last ? kFlags : O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    if (folder != directory) close_keeping_errno(folder);
    if (fd < 0 || last) return fd;
    struct stat status {};
    if (::fstat(fd, &status) == 0 && S_ISLNK(status.st_mode)) {
      ::close(fd);
      errno = ELOOP;
      return -1;
    }
    folder = fd;
    begin = end + 1;
  }
}

}  // namespace kbench
