// Tensors by device address, and which workgroup this is. Every kernel takes 64-bit addresses in
// its push block, so a tensor may be of any size; element offsets within a stretch, tile or block
// are 32-bit, its own offset is 64-bit. An array's index counts as signed, and drivers work out its
// bytes in 32 bits: what may reach 2^32 bytes from the array's start goes through ADVANCE().
//
// How elements lie in memory is a matter of this file alone; in registers they are floats. Elements
// behind the i-th address of the push block, from 0, are stored as STORED_i: f32, f16 or bf16. The
// host defines it where it is not f32; a kernel's own scratch is f32, but for what a convolution packs
// (LaunchOperand::scratch_dtype). A shader names the addresses that may be either
// (#define X STORED_0) and says f32 of the others.
//   LOAD(X, base, i)       element i behind the address `base`; LOAD4: elements 4 i to 4 i + 3,
//                          where `base` is a multiple of four elements' bytes
//   STORE(X, base, i, v)   the nearest stored value to v, ties to even; STORE4 likewise
//   LOAD_BITS, LOAD4_BITS, STORE_BITS, STORE4_BITS  elements as they are, in uints
//   ADVANCE(X, base, n)    the address n elements after `base`
//   BYTES(X)               of an element
//   NAN_BITS(X)            a NaN
// A further type needs these definitions here, and storage.cc to let it pass.
#ifndef TENSOR_GLSL
#define TENSOR_GLSL
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "half.glsl"

#define JOIN_TOKENS(a, b) a##b
#define JOIN(a, b) JOIN_TOKENS(a, b)
#define LOAD(X, base, i) JOIN(X, _LOAD)(base, i)
#define LOAD4(X, base, i) JOIN(X, _LOAD4)(base, i)
#define STORE(X, base, i, v) JOIN(X, _STORE)(base, i, v)
#define STORE4(X, base, i, v) JOIN(X, _STORE4)(base, i, v)
#define LOAD_BITS(X, base, i) JOIN(X, _LOAD_BITS)(base, i)
#define LOAD4_BITS(X, base, i) JOIN(X, _LOAD4_BITS)(base, i)
#define STORE_BITS(X, base, i, v) JOIN(X, _STORE_BITS)(base, i, v)
#define STORE4_BITS(X, base, i, v) JOIN(X, _STORE4_BITS)(base, i, v)
#define BYTES(X) JOIN(X, _BYTES)
#define NAN_BITS(X) JOIN(X, _NAN_BITS)
#define ADVANCE(X, base, elements) ((base) + uint64_t(elements) * uint64_t(BYTES(X)))

#define READS(name, bytes) \
  layout(buffer_reference, std430, buffer_reference_align = bytes) restrict readonly buffer name
#define WRITES(name, bytes) \
  layout(buffer_reference, std430, buffer_reference_align = bytes) restrict writeonly buffer name

// --- f32 -----------------------------------------------------------------------------------------
READS(FloatsIn, 4) { float at[]; };
READS(Vec4sIn, 16) { vec4 at[]; };
READS(WordsIn, 4) { uint at[]; };
READS(Uvec4sIn, 16) { uvec4 at[]; };
WRITES(FloatsOut, 4) { float at[]; };
WRITES(Vec4sOut, 16) { vec4 at[]; };
WRITES(WordsOut, 4) { uint at[]; };
WRITES(Uvec4sOut, 16) { uvec4 at[]; };

#define f32_BYTES 4
#define f32_NAN_BITS 0x7fc00000u
#define f32_LOAD(base, i) FloatsIn(base).at[i]
#define f32_LOAD4(base, i) Vec4sIn(base).at[i]
#define f32_STORE(base, i, v) FloatsOut(base).at[i] = v
#define f32_STORE4(base, i, v) Vec4sOut(base).at[i] = v
#define f32_LOAD_BITS(base, i) WordsIn(base).at[i]
#define f32_LOAD4_BITS(base, i) Uvec4sIn(base).at[i]
#define f32_STORE_BITS(base, i, v) WordsOut(base).at[i] = v
#define f32_STORE4_BITS(base, i, v) Uvec4sOut(base).at[i] = v

// --- 16 bits -------------------------------------------------------------------------------------
READS(ShortsIn, 2) { uint16_t at[]; };
READS(Short4sIn, 8) { u16vec4 at[]; };
WRITES(ShortsOut, 2) { uint16_t at[]; };
WRITES(Short4sOut, 8) { u16vec4 at[]; };

#define LOAD_SHORT(base, i) uint(ShortsIn(base).at[i])
#define LOAD4_SHORTS(base, i) uvec4(Short4sIn(base).at[i])
#define STORE_SHORT(base, i, v) ShortsOut(base).at[i] = uint16_t(v)
#define STORE4_SHORTS(base, i, v) Short4sOut(base).at[i] = u16vec4(v)
/// Eight elements of 16 bits as they are, two a uint, from a multiple of 16 bytes.
#define LOAD8_HALVES(base) Uvec4sIn(base).at[0]
#define STORE8_HALVES(base, v) Uvec4sOut(base).at[0] = v

#define bf16_BYTES 2
#define bf16_NAN_BITS 0x7fc0u
#define bf16_LOAD(base, i) uintBitsToFloat(single_of_brain(LOAD_SHORT(base, i)))
#define bf16_LOAD4(base, i) uintBitsToFloat(single_of_brain(LOAD4_SHORTS(base, i)))
#define bf16_STORE(base, i, v) STORE_SHORT(base, i, brain_of_single(floatBitsToUint(v)))
#define bf16_STORE4(base, i, v) STORE4_SHORTS(base, i, brain_of_single(floatBitsToUint(v)))
#define bf16_LOAD_BITS LOAD_SHORT
#define bf16_LOAD4_BITS LOAD4_SHORTS
#define bf16_STORE_BITS STORE_SHORT
#define bf16_STORE4_BITS STORE4_SHORTS

#define f16_BYTES 2
#define f16_NAN_BITS 0x7e00u
#define f16_LOAD_BITS LOAD_SHORT
#define f16_LOAD4_BITS LOAD4_SHORTS
#define f16_STORE_BITS STORE_SHORT
#define f16_STORE4_BITS STORE4_SHORTS
#if F16_CONVERTS
// The device's own conversions, held to what f16_STORE promises.
#extension GL_EXT_spirv_intrinsics : require
// RoundingModeRTE and DenormPreserve, of 16 bits.
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4467], 4462, 16);
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464], 4459, 16);
READS(HalvesIn, 2) { float16_t at[]; };
READS(Half4sIn, 8) { f16vec4 at[]; };
WRITES(HalvesOut, 2) { float16_t at[]; };
WRITES(Half4sOut, 8) { f16vec4 at[]; };
#define f16_LOAD(base, i) float(HalvesIn(base).at[i])
#define f16_LOAD4(base, i) vec4(Half4sIn(base).at[i])
#define f16_STORE(base, i, v) HalvesOut(base).at[i] = float16_t(v)
#define f16_STORE4(base, i, v) Half4sOut(base).at[i] = f16vec4(v)
#else
#define f16_LOAD(base, i) uintBitsToFloat(single_of_half(LOAD_SHORT(base, i)))
#define f16_LOAD4(base, i) uintBitsToFloat(single_of_half(LOAD4_SHORTS(base, i)))
#define f16_STORE(base, i, v) STORE_SHORT(base, i, half_of_single(floatBitsToUint(v)))
#define f16_STORE4(base, i, v) STORE4_SHORTS(base, i, half_of_single(floatBitsToUint(v)))
#endif

// --- what each address stores --------------------------------------------------------------------
#ifndef STORED_0
#define STORED_0 f32
#endif
#ifndef STORED_1
#define STORED_1 f32
#endif
#ifndef STORED_2
#define STORED_2 f32
#endif
#ifndef STORED_3
#define STORED_3 f32
#endif
#ifndef STORED_4
#define STORED_4 f32
#endif
#ifndef STORED_5
#define STORED_5 f32
#endif
#ifndef STORED_6
#define STORED_6 f32
#endif

/// Workgroups are numbered along x, then y: a count over the limit of x wraps into rows. The last
/// row may run past the count, so a kernel leaves when group_index() reaches it.
uint group_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

uint ceil_div(uint a, uint b) { return (a + b - 1) / b; }

#endif
