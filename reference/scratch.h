// Uninitialised aligned memory for an operator's own use.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "kbench/error.h"

namespace kbench::reference {

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) {
    const size_t bytes = (static_cast<size_t>(elements) * sizeof(T) + 127) / 64 * 64;
    data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
    if (data_ == nullptr) {
      throw Error(ErrorCode::kOutOfMemory,
                  "no host memory for " + std::to_string(bytes) + " bytes of scratch");
    }
  }
  T* get() const { return data_.get(); }
  T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace kbench::reference
