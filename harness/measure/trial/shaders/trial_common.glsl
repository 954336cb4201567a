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

// trial::Contents of kernels.h.
const uint kPlausible = 0u, kZeros = 1u, kSmall = 2u;

// Values that could be a result and are not this sample's: finite, at `scale` (float32), i64 below
// `limit`, or any number of a temporary's other integers.
uvec4 plausible_quad(uint quad, uvec2 key, uint kind, float scale, uint limit) {
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

// The number 1 in three words of four, else one of 1 to 256; true in all bytes of a bool's.
uvec4 small_quad(uvec4 r, uint kind) {
  if (kind == kFillBool) return uvec4(0x01010101u);
  const uvec4 value = uvec4(1u) + (r >> 8 & 255u) * uvec4(equal(r & 3u, uvec4(0u)));
  const bool wide = kind == kFillI64 || kind == kFillF64;
  return wide ? uvec4(value.x, 0u, value.z, 0u) : value;
}

// Floats of 2^14 or more in magnitude, finite; integers of any bits.
uvec4 large_quad(uvec4 r, uint kind) {
  switch (kind) {
    case kFillF32: return (r & 0x807FFFFFu) | 0x4B000000u;
    case kFillF16: return (r & 0x83FF83FFu) | 0x74007400u;
    case kFillBf16: return (r & 0x807F807Fu) | 0x4B004B00u;
    case kFillF64: return uvec4(r.x, (r.y & 0x800FFFFFu) | 0x41600000u, r.z,
                                (r.w & 0x800FFFFFu) | 0x41600000u);
    case kFillBool: return r & 0x01010101u;
    default: return r;
  }
}

// What a fill holds at a place: a function of key and place alone, so that a comparison can tell
// which elements still hold it.
uvec4 fill_quad(uint quad, uvec2 key, uint kind, uint contents, float scale, uint limit) {
  if (contents == kZeros) return uvec4(0u);
  const uvec4 plausible = plausible_quad(quad, key, kind, scale, limit);
  if (contents == kPlausible) return plausible;
  const uvec4 r = philox(uvec4(quad, 1u, 0u, 0u), key);
  const uvec4 small = small_quad(r, kind);
  if (contents == kSmall) return small;
  const uvec4 large = large_quad(r, kind);
  const bool wide = kind == kFillI64 || kind == kFillF64;
  uvec4 mixed = uvec4(0u);
  for (uint k = 0u; k < 4u; ++k) {
    switch (r[wide ? k & 2u : k] >> 4 & 3u) {
      case 1u: mixed[k] = small[k]; break;
      case 2u: mixed[k] = plausible[k]; break;
      case 3u: mixed[k] = large[k]; break;
    }
  }
  return mixed;
}
