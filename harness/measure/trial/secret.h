// Random numbers that a candidate must not be able to predict.
#pragma once

#include <cstdint>
#include <optional>

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

 private:
  uint64_t key_;
  uint64_t count_ = 0;
};

}  // namespace kbench::trial
