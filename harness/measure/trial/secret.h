// Random numbers that a candidate must not be able to predict.
#pragma once

#include <cstdint>
#include <optional>

#include "kbench/task.h"

namespace kbench::trial {

/// A stream of 64-bit values from a key drawn from the operating system, or from a given seed: then
/// it is repeatable and not secret.
class SecretStream {
 public:
  explicit SecretStream(std::optional<uint64_t> seed);
  uint64_t next();
  /// The seed of another such stream.
  uint64_t key() const { return key_; }
  /// The seed of a stream of other values, the same for this key and `which`.
  uint64_t beside(uint64_t which) const;
  /// The seed of the inputs that a trial draws the n-th time (1: the warm-up's), or of what comes
  /// before them (0), as parameters.
  uint64_t of_draw(int n) const;
  /// The key of a trial at further sizes; no two sizes have the same values.
  uint64_t at_sizes(const Variables& sizes) const;

 private:
  uint64_t key_;
  uint64_t count_ = 0;
};

}  // namespace kbench::trial
