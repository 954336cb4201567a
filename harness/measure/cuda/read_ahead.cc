#include "harness/measure/cuda/read_ahead.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "libkbench/base/start_thread.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::cuda {

ReadAhead::ReadAhead(std::vector<std::string> files) : files_(std::move(files)) {
  try {
    thread_ = start_thread<std::thread>([this] {
      for (const std::string& file : files_) read(file);
    });
  } catch (const Error&) {  // opening the files then waits for the disk
  }
}

void ReadAhead::stop() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

void ReadAhead::read(const std::string& file) const {
  constexpr off_t kPiece = off_t{1} << 20;  // the kernel cuts off what is much longer
  const UniqueFd descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &status) != 0) return;
  for (off_t at = 0; at < status.st_size && !stopped_; at += kPiece) {
    if (posix_fadvise(descriptor.get(), at, kPiece, POSIX_FADV_WILLNEED) != 0) return;
  }
}

}  // namespace kbench::cuda
