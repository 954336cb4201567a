// Memory by address: tensors of 4 GiB and more cannot be bound as storage buffers. Reading and
// writing go through types of their own, since what is read-only and restrict may be cached and
// moved across stores by the driver. In memory floats are of the task's type, KB_REAL; in registers
// they are of 32 bits.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require

#if KB_DTYPE_F32
#define BYTES 4  // of an element
#define BYTES4 16
#else
#define BYTES 2
#define BYTES4 8
#endif
layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict readonly buffer In {
  KB_REAL value;
};
layout(buffer_reference, std430, buffer_reference_align = BYTES4) restrict readonly buffer In4 {
  KB_REAL4 value;
};
layout(buffer_reference, std430, buffer_reference_align = BYTES) restrict writeonly buffer Out {
  KB_REAL value;
};
layout(buffer_reference, std430, buffer_reference_align = BYTES4) restrict writeonly buffer Out4 {
  KB_REAL4 value;
};
// The address of an element.
#define AT(base, index) ((base) + uint64_t(index) * BYTES)
#define LOAD(base, index) KB_TO_FLOAT(In(AT(base, index)).value)
#define LOAD4(base, index) KB_TO_FLOAT4(In4((base) + uint64_t(index) * BYTES4).value)
#define STORE(base, index, v) Out(AT(base, index)).value = KB_FROM_FLOAT(v)
#define STORE4(base, index, v) Out4((base) + uint64_t(index) * BYTES4).value = KB_FROM_FLOAT4(v)

// Elements 4 i .. 4 i + 3 of a row of `length` elements, `fill` beyond its end. Given a constant
// length, the choice is made by the compiler: rows of a multiple of four elements all start where
// a vector of four may, and are moved as such.
vec4 load_piece(uint64_t row, uint i, uint length, float fill) {
  if (length % 4 == 0) return LOAD4(row, i);
  vec4 v = vec4(fill);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (4 * i + j < length) v[j] = LOAD(row, 4 * i + j);
  }
  return v;
}
void store_piece(uint64_t row, uint i, uint length, vec4 v) {
  if (length % 4 == 0) {
    STORE4(row, i, v);
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (4 * i + j < length) STORE(row, 4 * i + j, v[j]);
  }
}
