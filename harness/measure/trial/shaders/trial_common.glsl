// What the paired trial's own kernels share: addressing, work split, Philox, fills.
//
// A kernel walks a tensor as 16-byte quads of 32-bit words. Workgroup g takes quads
// [g * iterations * 256, (g + 1) * iterations * 256), neighbouring invocations neighbouring quads.
// Loops are kept under 1024 turns: software devices may stop longer ones.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256, local_size_y = 1, local_size_z = 1) in;

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quad { uvec4 v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint v; };

uint quad_index(uint iterations, uint turn) {
  return (gl_WorkGroupID.x * iterations + turn) * 256u + gl_LocalInvocationID.x;
}
uint64_t quads_in(uint64_t words) { return (words + 3ul) / 4ul; }

// Words past the end read as zero, and are not written.
uvec4 load_quad(uint64_t base, uint quad, uint64_t words) {
  const uint64_t first = uint64_t(quad) * 4ul;
  const uint64_t at = base + first * 4ul;
  if (first + 4ul <= words) return Quad(at).v;
  uvec4 value = uvec4(0u);
  for (uint k = 0u; k < uint(words - first); ++k) value[k] = Word(at + uint64_t(k) * 4ul).v;
  return value;
}
void store_quad(uint64_t base, uint quad, uint64_t words, uvec4 value) {
  const uint64_t first = uint64_t(quad) * 4ul;
  const uint64_t at = base + first * 4ul;
  if (first + 4ul <= words) {
    Quad(at).v = value;
  } else {
    for (uint k = 0u; k < uint(words - first); ++k) Word(at + uint64_t(k) * 4ul).v = value[k];
  }
}

// Philox4x32-10, as kbench/random.h states it.
uvec4 philox(uvec4 counter, uvec2 key) {
  for (int round = 0; round < 10; ++round) {
    uint high0, low0, high1, low1;
    umulExtended(0xD2511F53u, counter.x, high0, low0);
    umulExtended(0xCD9E8D57u, counter.z, high1, low1);
    counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

// Element types as fills know them; fill_kind() in kernels.cc.
const uint kFillF32 = 0u, kFillI64 = 1u, kFillF16 = 2u;
const uint kFillBf16 = 3u, kFillBool = 4u, kFillF64 = 5u, kFillBits = 6u;

// Values that could be a result and are not this sample's: finite, at `scale` (float32), i64 below
// `limit`, or any number of a temporary's other integers. A function of key and place alone, so that
// a comparison can tell which elements still hold it.
uvec4 fill_quad(uint quad, uvec2 key, uint kind, float scale, uint limit) {
  const uvec4 r = philox(uvec4(quad, 0u, 0u, 0u), key);
  switch (kind) {
    case kFillI64: return uvec4(r.x % limit, 0u, r.y % limit, 0u);
    case kFillF16: return (r & 0x83FF83FFu) | 0x38003800u;
    case kFillBf16: return (r & 0x807F807Fu) | 0x3F003F00u;
    case kFillBool: return r & 0x01010101u;
    case kFillBits: return r;
    case kFillF64:
      return uvec4(r.x, (r.y & 0x800FFFFFu) | 0x3FE00000u, r.z, (r.w & 0x800FFFFFu) | 0x3FE00000u);
    default: {
      precise vec4 unit = vec4(r >> 8) * 1.1920928955078125e-7 - 1.0;  // exact, [-1, 1)
      precise vec4 value = unit * scale;
      return floatBitsToUint(value);
    }
  }
}
