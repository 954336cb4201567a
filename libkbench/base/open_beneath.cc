#include "libkbench/base/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace kbench {
namespace {

// A FIFO is not waited for, and a terminal does not become the process's controlling one.
constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

void close_keeping_errno(int fd) {
  const int kept = errno;
  ::close(fd);
  errno = kept;
}

}  // namespace

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
