// Memory by address: tensors of 4 GiB and more cannot be bound as storage buffers. Reading and
// writing go through types of their own, since what is read-only and restrict may be cached and
// moved across stores by the driver.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer In {
  float value;
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer In4 {
  vec4 value;
};
layout(buffer_reference, std430, buffer_reference_align = 4) restrict writeonly buffer Out {
  float value;
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict writeonly buffer Out4 {
  vec4 value;
};
#define LOAD(base, index) In((base) + 4ul * uint64_t(index)).value
#define LOAD4(base, index) In4((base) + 16ul * uint64_t(index)).value
#define STORE(base, index, v) Out((base) + 4ul * uint64_t(index)).value = (v)
#define STORE4(base, index, v) Out4((base) + 16ul * uint64_t(index)).value = (v)

// Elements 4 i .. 4 i + 3 of a row of `length` floats, `fill` beyond its end. Given a constant
// length, the choice is made by the compiler: rows of a multiple of four floats all start on a
// 16-byte boundary and are moved as vec4.
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
