// Secret random numbers: what a candidate must not be able to foresee.
#pragma once

#include <cstdint>
#include <optional>

namespace kbench::trial {

/// A stream of 64-bit values from a key of the operating system's entropy, or from a given seed
/// (for debugging: the stream is then repeatable, and no secret).
class SecretStream {
 public:
  explicit SecretStream(std::optional<uint64_t> seed);
  uint64_t next();

 private:
  uint64_t key_;
  uint64_t count_ = 0;
};

}  // namespace kbench::trial
