#include "harness/measure/trial/secret.h"

#include <random>
#include <string>

#include "kbench/random.h"
#include "libkbench/base/hash.h"

namespace kbench::trial {
namespace {

uint64_t system_entropy() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

/// Value `count` of a kind of streams.
uint64_t value_at(uint64_t key, uint64_t count, uint32_t kind) {
  const auto words = philox4x32(
      {static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32), 0x5ec4e7u, kind},
      {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)});
  return (uint64_t{words[1]} << 32) | words[0];
}

}  // namespace

SecretStream::SecretStream(std::optional<uint64_t> seed) : key_(seed ? *seed : system_entropy()) {}

uint64_t SecretStream::next() { return value_at(key_, count_++, 0); }

uint64_t SecretStream::beside(uint64_t which) const { return value_at(key_, which, 1); }

uint64_t SecretStream::of_draw(int n) const { return value_at(key_, static_cast<uint64_t>(n), 2); }

uint64_t SecretStream::at_sizes(const Variables& sizes) const {
  Sha256 hash;
  for (const auto& [name, value] : sizes) hash.add(name + "=" + to_string(value) + ", ");
  return beside(std::stoull(hash.hex().substr(0, 15), nullptr, 16));
}

}  // namespace kbench::trial
