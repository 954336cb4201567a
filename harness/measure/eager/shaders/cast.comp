// y = x in another element type, four elements at a time. The plan defines FROM_<type> and
// TO_<type>, the types' names as kbench/tensor.h has them, and their sizes, FROM_BYTES and TO_BYTES:
// four elements have as many words.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint quads;  // whole groups of four elements
  uint rest;   // elements after them
  uint groups;
}
p;

// Between the two types an element is a float32's bits, a double or a 64-bit integer.
#if defined(FROM_f32) || defined(FROM_f16) || defined(FROM_bf16)
#define VALUE uint
#define SINGLE
#elif defined(FROM_f64)
#define VALUE double
#else
#define VALUE int64_t
#define INTEGER
#endif

/// From an element's bits, those of 64-bit types in two words.
VALUE value_of(uvec2 bits) {
#if defined(FROM_f32)
  return bits.x;
#elif defined(FROM_f16)
  return single_of_half(bits.x);
#elif defined(FROM_bf16)
  return bits.x << 16;
#elif defined(FROM_f64)
  return packDouble2x32(bits);
#elif defined(FROM_i64)
  return int64_t(uint64_t(bits.x) | uint64_t(bits.y) << 32);
#elif defined(FROM_i32)
  return int64_t(int(bits.x));
#elif defined(FROM_bool)
  return int64_t(bits.x != 0u ? 1 : 0);
#else
  return int64_t(bits.x);
#endif
}

uint single_of(VALUE v) {
#if defined(SINGLE)
  return v;
#else
  return floatBitsToUint(float(v));
#endif
}

bool is_nonzero(VALUE v) {
#if defined(SINGLE)
  return (v & 0x7fffffffu) != 0u;
#elif defined(INTEGER)
  return v != 0l;
#else
  const uvec2 bits = unpackDouble2x32(v);
  return (bits.x | (bits.y & 0x7fffffffu)) != 0u;
#endif
}

/// Of a float towards zero, into the range of the type; of an integer itself, to be cut off.
int64_t integer_of(VALUE v, int64_t least, int64_t most) {
#if defined(INTEGER)
  return v;
#else
#if defined(SINGLE)
  const float x = uintBitsToFloat(v);
  if ((v & 0x7fffffffu) > 0x7f800000u) return 0l;
#else
  const double x = v;
  const uvec2 bits = unpackDouble2x32(v);
  const uint size = bits.y & 0x7fffffffu;
  if (size > 0x7ff00000u || (size == 0x7ff00000u && bits.x != 0u)) return 0l;
#endif
  if (x >= 9223372036854775808.0) return most;
  if (x <= -9223372036854775808.0) return least;
  return clamp(int64_t(x), least, most);
#endif
}

uvec2 bits_of(VALUE v) {
#if defined(TO_f32)
  return uvec2(single_of(v), 0u);
#elif defined(TO_f16)
  return uvec2(half_of_single(single_of(v)), 0u);
#elif defined(TO_bf16)
  return uvec2(brain_of_single(single_of(v)), 0u);
#elif defined(TO_bool)
  return uvec2(is_nonzero(v) ? 1u : 0u, 0u);
#elif defined(TO_f64) && defined(SINGLE)
  return unpackDouble2x32(double(uintBitsToFloat(v)));
#elif defined(TO_f64)
  return unpackDouble2x32(double(v));
#elif defined(TO_i64)
  const uint64_t bits = uint64_t(integer_of(v, -9223372036854775807l - 1l, 9223372036854775807l));
  return uvec2(uint(bits), uint(bits >> 32));
#elif defined(TO_i32)
  return uvec2(uint(integer_of(v, -2147483648l, 2147483647l)), 0u);
#elif defined(TO_u32)
  return uvec2(uint(integer_of(v, 0l, 4294967295l)), 0u);
#else
  return uvec2(uint(integer_of(v, 0l, 255l)) & 0xffu, 0u);
#endif
}

uvec2 element(uint words[FROM_BYTES], uint i) {
#if FROM_BYTES == 8
  return uvec2(words[2 * i], words[2 * i + 1]);
#else
  const uint per_word = 4 / FROM_BYTES;
  const uint word = words[i / per_word] >> i % per_word * (8 * FROM_BYTES);
  return uvec2(word & 0xffffffffu >> (32 - 8 * FROM_BYTES), 0u);
#endif
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first = group * (THREADS * QUADS);
  WordsIn x = WordsIn(p.x + uint64_t(first) * (4ul * FROM_BYTES));
  WordsOut y = WordsOut(p.y + uint64_t(first) * (4ul * TO_BYTES));
  for (uint quad = gl_LocalInvocationID.x; quad < THREADS * QUADS; quad += THREADS) {
    const uint elements = first + quad < p.quads ? 4 : first + quad == p.quads ? p.rest : 0;
    uint from[FROM_BYTES], to[TO_BYTES];
    [[unroll]] for (uint k = 0; k < FROM_BYTES; ++k) {
      from[k] = 4 * k < elements * FROM_BYTES ? x.at[quad * FROM_BYTES + k] : 0u;
    }
    [[unroll]] for (uint k = 0; k < TO_BYTES; ++k) to[k] = 0u;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      const uvec2 bits = bits_of(value_of(element(from, i)));
#if TO_BYTES == 8
      to[2 * i] = bits.x;
      to[2 * i + 1] = bits.y;
#else
      const uint per_word = 4 / TO_BYTES;
      to[i / per_word] |= bits.x << i % per_word * (8 * TO_BYTES);
#endif
    }
#if TO_BYTES == 2
    // What lies behind an odd count of elements stays as it is.
    [[unroll]] for (uint k = 0; k < TO_BYTES; ++k) {
      if (2 * k + 1 < elements) y.at[quad * TO_BYTES + k] = to[k];
    }
    if (elements % 2 == 1) {
      STORE_SHORT(p.y + uint64_t(first + quad) * 8ul, elements - 1, to[elements / 2]);
    }
#else
    // Tensors of bytes end on a word: those after the last element may be written.
    [[unroll]] for (uint k = 0; k < TO_BYTES; ++k) {
      if (4 * k < elements * TO_BYTES) y.at[quad * TO_BYTES + k] = to[k];
    }
#endif
  }
}
