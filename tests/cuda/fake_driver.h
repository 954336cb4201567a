// The fake driver's library as tests open it.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "harness/measure/cuda/driver_list.h"
#include "libkbench/base/files.h"
#include "tests/cuda/fake_cuda.h"

namespace kbench::testing_support {

/// Its state, as at the start of a process.
inline FakeCuda& new_fake_cuda() {
  void* const library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  FakeCuda& state = *reinterpret_cast<FakeCudaCall>(dlsym(library, "fake_cuda"))();
  for (size_t i = 0; i < state.uuid.size(); ++i) state.uuid[i] = static_cast<uint8_t>(i + 1);
  return state;
}

/// Memory as a judge would share it, and this process's own view of it.
class SharedFloats {
 public:
  explicit SharedFloats(size_t count) : bytes_(count * sizeof(float)), fd_(memfd_create("m", 0)) {
    if (ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) throw std::runtime_error("memfd");
    void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (at == MAP_FAILED) throw std::runtime_error("mmap");
    values_ = static_cast<float*>(at);
  }
  ~SharedFloats() { munmap(values_, bytes_); }
  SharedFloats(const SharedFloats&) = delete;
  float& operator[](size_t i) { return values_[i]; }
  size_t bytes() const { return bytes_; }
  UniqueFd descriptor() const { return UniqueFd(dup(fd_.get())); }

 private:
  size_t bytes_;
  UniqueFd fd_;
  float* values_ = nullptr;
};

}  // namespace kbench::testing_support
