// Hashes of a region's blocks: the sum over a block's 32-bit words w_j of k_j * w_j modulo
// p = 2^61 - 1, the keys k_j being secret and uniform in [0, p). docs/measurement.md says why.
//
// A workgroup takes kAtOnce neighbouring blocks side by side: a key that was loaded serves as many
// words, and as many loads are under way. Keys are cut into limbs of 21 bits, so that the products
// of a lane add up in 64 bits without a carry; the modulus is taken once a lane and block.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "trial_common.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) buffer Hash { uint64_t v; };
layout(push_constant, std430) uniform Push {
  uint64_t base, words, table, hashes;
};

const uint kTurns = 4u;   // quads a lane takes of a block; kernels.h knows
const uint kAtOnce = 4u;  // blocks a workgroup takes; kernels.cc knows
const uint kBlockQuads = kTurns * 256u;
const uint kLimb = 0x1FFFFFu;
const uint64_t kPrime = 0x1FFFFFFFFFFFFFFFul;

// Any 64-bit number to one below p + 8 that is the same modulo p.
uint64_t fold(uint64_t x) { return (x & kPrime) + (x >> 61); }
// x * 2^n modulo p for x below 2^61; the result is below 2^62.
uint64_t rotate(uint64_t x, int n) { return ((x << n) & kPrime) + (x >> (61 - n)); }

shared uint64_t sums[kAtOnce * 256u];

// The limbs of a key's halves.
uvec3 limbs_of(uvec2 key) {
  return uvec3(key.x & kLimb, ((key.y << 11) | (key.x >> 21)) & kLimb, key.y >> 10);
}

// 64 bits of a sum take 2^11 products of a word and a limb; there are 4 * kTurns.
#define ADD(b, word, key)                          \
  low[b] += uint64_t(word) * uint64_t((key).x);    \
  middle[b] += uint64_t(word) * uint64_t((key).y); \
  high[b] += uint64_t(word) * uint64_t((key).z);
#define ADD_QUAD(b, quad)    \
  {                          \
    const uvec4 four = quad; \
    ADD(b, four.x, k0)       \
    ADD(b, four.y, k1)       \
    ADD(b, four.z, k2)       \
    ADD(b, four.w, k3)       \
  }
// k0 .. k3: the limbs of the keys of the block's quad.
#define LOAD_KEYS(quad)                                      \
  const uint64_t keys = table + uint64_t(quad) * 32ul;       \
  const uvec4 k01 = Quad(keys).v, k23 = Quad(keys + 16ul).v; \
  const uvec3 k0 = limbs_of(k01.xy), k1 = limbs_of(k01.zw);  \
  const uvec3 k2 = limbs_of(k23.xy), k3 = limbs_of(k23.zw);

// Words past the region's end count as absent.
uvec4 load_present(uint64_t quad) {
  const uint64_t first = quad * 4ul;
  uvec4 value = uvec4(0u);
  for (uint k = 0u; k < 4u; ++k) {
    if (first + uint64_t(k) < words) value[k] = Word(base + (first + uint64_t(k)) * 4ul).v;
  }
  return value;
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint64_t first_block = uint64_t(gl_WorkGroupID.x) * uint64_t(kAtOnce);
  const uint64_t first_quad = first_block * uint64_t(kBlockQuads);
  uint64_t low[kAtOnce], middle[kAtOnce], high[kAtOnce];
  [[unroll]] for (uint b = 0u; b < kAtOnce; ++b) low[b] = middle[b] = high[b] = 0ul;
  if ((first_quad + uint64_t(kAtOnce * kBlockQuads)) * 4ul <= words) {
    const uint64_t from = base + first_quad * 16ul;
    [[unroll]] for (uint turn = 0u; turn < kTurns; ++turn) {
      const uint quad = turn * 256u + lane;
      LOAD_KEYS(quad)
      uvec4 v[kAtOnce];
      [[unroll]] for (uint b = 0u; b < kAtOnce; ++b) {
        v[b] = Quad(from + uint64_t((b * kBlockQuads + quad) * 16u)).v;
      }
      [[unroll]] for (uint b = 0u; b < kAtOnce; ++b) ADD_QUAD(b, v[b])
    }
  } else {
    [[unroll]] for (uint turn = 0u; turn < kTurns; ++turn) {
      const uint quad = turn * 256u + lane;
      LOAD_KEYS(quad)
      [[unroll]] for (uint b = 0u; b < kAtOnce; ++b) {
        ADD_QUAD(b, load_present(first_quad + uint64_t(b * kBlockQuads + quad)))
      }
    }
  }
  [[unroll]] for (uint b = 0u; b < kAtOnce; ++b) {
    sums[b * 256u + lane] = fold(low[b] + rotate(middle[b], 21) + rotate(high[b], 42));
  }
  barrier();

  // The sum of a block, 64 lanes each.
  const uint block = lane / 64u, at = lane % 64u, mine = block * 256u + at;
  uint64_t sum = fold(sums[mine] + sums[mine + 64u] + sums[mine + 128u] + sums[mine + 192u]);
  for (uint width = 32u; width > 0u; width >>= 1) {
    sums[mine] = sum;
    barrier();
    if (at < width) sum = fold(sum + sums[mine + width]);
    barrier();
  }
  const uint64_t index = first_block + uint64_t(block);
  if (at == 0u && index * uint64_t(kBlockQuads) * 4ul < words) {
    Hash(hashes + index * 8ul).v = sum >= kPrime ? sum - kPrime : sum;
  }
}
