#include "libkbench/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/unique_fd.h"

namespace kbench {
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

}  // namespace kbench
