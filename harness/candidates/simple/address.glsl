// Memory by address. Tensors of 4 GiB and more cannot be bound as storage buffers, so kernels that
// meet them are handed addresses in their push constants and index with 64 bits.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Float {
  float value;
};
#define AT(base, index) Float((base) + 4ul * uint64_t(index)).value
