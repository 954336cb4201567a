#include "harness/measure/cuda/read_ahead.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "libkbench/base/unique_fd.h"
#include "tests/candidate/support.h"

namespace kbench::cuda {
namespace {

using testing_support::ScratchFolder;

constexpr size_t kBytes = 6 << 20, kPage = 4096;

/// Of a file, the share that is in the system's cache.
double cached(int descriptor) {
  void* const map = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  std::vector<unsigned char> there(kBytes / kPage);
  if (map == MAP_FAILED || mincore(map, kBytes, there.data()) != 0) return -1;
  munmap(map, kBytes);
  size_t count = 0;
  for (const unsigned char page : there) count += page & 1;
  return static_cast<double>(count) / static_cast<double>(there.size());
}

TEST(ReadAhead, BringsAWholeFileIntoTheCache) {
  const ScratchFolder folder;
  folder.write("library", std::string(kBytes, 'x'));
  const UniqueFd file(open(folder.path("library").c_str(), O_RDONLY));
  ASSERT_EQ(fsync(file.get()), 0);
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (cached(file.get()) != 0) GTEST_SKIP() << "this file system keeps its files in memory";
  const ReadAhead reading({folder.path("nothing"), folder.path("library")});
  for (int i = 0; i < 500 && cached(file.get()) < 1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(cached(file.get()), 1);
}

TEST(ReadAhead, EndsWhenItIsTold) {
  ReadAhead reading(std::vector<std::string>(1000, "/proc/self/exe"));
  reading.stop();
  reading.stop();
}

}  // namespace
}  // namespace kbench::cuda
