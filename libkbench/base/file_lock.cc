#include "libkbench/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/unique_fd.h"

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

}  // namespace

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

}  // namespace kbench
