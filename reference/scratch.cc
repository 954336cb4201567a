#include "reference/scratch.h"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <string>

#include "kbench/error.h"

namespace kbench::reference {
namespace {

// Bytes of a block that is kept; what is smaller, malloc keeps itself.
constexpr size_t kLeastKept = size_t{64} << 10, kMostKept = size_t{32} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

/// What a thread has given back.
class Spares {
 public:
  ~Spares() {
    for (ScratchBlock& block : blocks_) {
      std::free(block.data_);
      block.data_ = nullptr;
    }
  }

  /// The smallest block of that size or more into `to`, if there is one.
  void take(size_t bytes, ScratchBlock& to) {
    ScratchBlock* best = nullptr;
    for (ScratchBlock& block : blocks_) {
      if (block.bytes_ >= bytes && (best == nullptr || block.bytes_ < best->bytes_)) best = &block;
    }
    if (best != nullptr) to.swap(*best);
  }

  /// Keeps the block instead of the smallest one if it is larger; what is left in it is to free.
  void give(ScratchBlock& block) {
    if (block.bytes_ > kMostKept) return;
    ScratchBlock* smallest = &blocks_[0];
    for (ScratchBlock& other : blocks_) {
      if (other.bytes_ < smallest->bytes_) smallest = &other;
    }
    if (block.bytes_ > smallest->bytes_) block.swap(*smallest);
  }

  static Spares& mine() {
    thread_local Spares spares;
    return spares;
  }

 private:
  std::array<ScratchBlock, 4> blocks_{ScratchBlock(), ScratchBlock(), ScratchBlock(),
                                      ScratchBlock()};
};

ScratchBlock::ScratchBlock(size_t bytes) {
  if (bytes == 0) return;
  if (bytes >= kLeastKept) Spares::mine().take(bytes, *this);
  if (data_ != nullptr) return;
  // Large ones lie in large pages, whose addresses the processor finds sooner.
  const size_t alignment = bytes >= kHugePage ? kHugePage : 64;
  bytes_ = (bytes + 64 + alignment - 1) / alignment * alignment;
  data_ = std::aligned_alloc(alignment, bytes_);
  if (data_ == nullptr) {
    throw Error(ErrorCode::kOutOfMemory,
                "no host memory for " + std::to_string(bytes) + " bytes of scratch");
  }
#ifdef MADV_HUGEPAGE
  if (alignment == kHugePage) madvise(data_, bytes_, MADV_HUGEPAGE);  // a hint
#endif
}

ScratchBlock::~ScratchBlock() {
  if (data_ == nullptr) return;
  if (bytes_ >= kLeastKept) Spares::mine().give(*this);
  std::free(data_);
}

}  // namespace kbench::reference
