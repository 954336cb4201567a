// Uninitialised aligned memory for an operator's own use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kbench::reference {

/// A block of memory, aligned to 64 bytes. Touching memory for the first time costs more than most
/// operators, so that each thread keeps a few blocks it has given back; those are what it takes
/// first.
class ScratchBlock {
 public:
  explicit ScratchBlock(size_t bytes);  ///< throws kOutOfMemory
  ScratchBlock(ScratchBlock&& other) noexcept { swap(other); }
  ScratchBlock& operator=(ScratchBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~ScratchBlock();

  void* get() const { return data_; }

 private:
  friend class Spares;
  ScratchBlock() = default;
  void swap(ScratchBlock& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  void* data_ = nullptr;
  size_t bytes_ = 0;
};

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t elements) : block_(static_cast<size_t>(elements) * sizeof(T)) {}
  T* get() const { return static_cast<T*>(block_.get()); }
  T& operator[](int64_t i) const { return get()[i]; }

 private:
  ScratchBlock block_;
};

}  // namespace kbench::reference
