// Philox4x32-10 rounds (Salmon et al., SC 2011), written to inline into vectorised loops.
#pragma once

#include <cstdint>

namespace kbench {

[[gnu::always_inline]] inline void philox_rounds(uint32_t& c0, uint32_t& c1, uint32_t& c2,
                                                 uint32_t& c3, uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c0;
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

}  // namespace kbench
