#include "harness/measure/trial/secret.h"

#include <random>

#include "kbench/random.h"

namespace kbench::trial {
namespace {

uint64_t system_entropy() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

SecretStream::SecretStream(std::optional<uint64_t> seed) : key_(seed ? *seed : system_entropy()) {}

uint64_t SecretStream::next() {
  const uint64_t count = count_++;
  const auto words =
      philox4x32({static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32), 0x5ec4e7u, 0},
                 {static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32)});
  return (uint64_t{words[1]} << 32) | words[0];
}

}  // namespace kbench::trial
