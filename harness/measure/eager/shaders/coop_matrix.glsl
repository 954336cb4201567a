// Matrices of 16 x 16 elements that the 32 invocations of a subgroup share. The includer names how
// the elements of operands are stored (A: f16 or bf16) and where they lie: staged[], in units of 16
// bytes, to which `at` and `stride` count.
//   MATRIX_A, MATRIX_B, MATRIX_SUM          types: left and right operands, sums in float32
//   LOAD_MATRIX(m, at, stride, by_columns)  an operand, which lies by columns or by rows
//   MULTIPLY_ADD(sum, a, b)                 sum += a b
//   CLEAR_MATRIX(sum), STORE_MATRIX(sum, at, stride)  the latter by rows of float32
//   TIMES(n)                                n
//   subgroup(), lane()                      which subgroup of the workgroup, which invocation of it
//
// glslang 12 knows NV's cooperative matrices alone, which have neither uses nor bfloat16. So the
// types differ by a constant of their own, whose number says what spirv_matrix.h makes of them: 0, 1
// and 2 for uses A, B and accumulator, 8 more where elements are bfloat16.
#if EMULATED
// For tests on devices without such matrices: an operand is where it lies, an invocation has eight
// elements of a sum, every other row of one column, in shared memory. What is written out elsewhere
// are loops here, which nothing unrolls: a software device would take minutes to compile that.
// n: launches have one workgroup along z. Not a constant, so that no compiler unrolls the loops.
#define TIMES(n) ((n) * gl_NumWorkGroups.z)
#undef REPEAT
#undef REPEAT_WITH
#define REPEAT(n, BODY) \
  for (uint repeat_i = 0; repeat_i < TIMES(n); ++repeat_i) { BODY(repeat_i) }
#define REPEAT_WITH(n, BODY, i) \
  for (uint repeat_j = 0; repeat_j < TIMES(n); ++repeat_j) { BODY(i, repeat_j) }

uint subgroup() { return gl_LocalInvocationID.x / 32; }
uint lane() { return gl_LocalInvocationID.x % 32; }

struct Placed {
  uint at, stride;
  bool by_columns;
};
shared float columns[BM * BN];
struct Column {
  uint first;  // of this invocation's elements, THREADS apart
};
uint next_column = 0;
#define MATRIX_A Placed
#define MATRIX_B Placed
#define MATRIX_SUM Column

#define f16_SINGLE single_of_half
#define bf16_SINGLE single_of_brain
float element(Placed m, uint row, uint column) {
  const uint major = m.by_columns ? column : row, minor = m.by_columns ? row : column;
  const uint word = staged[m.at + major * m.stride + minor / 8][minor / 2 % 4];
  return uintBitsToFloat(JOIN(A, _SINGLE)(word >> minor % 2 * 16 & 0xffffu));
}
void multiply_add(Column sum, Placed a, Placed b) {
  for (uint i = 0; i < TIMES(8); ++i) {
    float v = columns[sum.first + i * THREADS];
    for (uint k = 0; k < TIMES(16); ++k) {
      v += element(a, i * 2 + lane() / 16, k) * element(b, k, lane() % 16);
    }
    columns[sum.first + i * THREADS] = v;
  }
}
void clear_sum(out Column sum) {
  sum.first = next_column + gl_LocalInvocationID.x;
  next_column += 8 * THREADS;
  for (uint i = 0; i < TIMES(8); ++i) columns[sum.first + i * THREADS] = 0.0;
}
void store_sum(Column sum, uint at, uint stride) {
  for (uint i = 0; i < TIMES(8); ++i) {
    const uint row = i * 2 + lane() / 16;
    staged[at + row * stride + lane() % 16 / 4][lane() % 4] =
        floatBitsToUint(columns[sum.first + i * THREADS]);
  }
}
#define LOAD_MATRIX(m, at, stride, by_columns) m = Placed(at, stride, by_columns);
#define MULTIPLY_ADD(sum, a, b) multiply_add(sum, a, b);
#define CLEAR_MATRIX(sum) clear_sum(sum);
#define STORE_MATRIX(sum, at, stride) store_sum(sum, at, stride);
#else
#define TIMES(n) n
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require
#pragma use_vulkan_memory_model

uint subgroup() { return gl_SubgroupID; }
uint lane() { return gl_SubgroupInvocationID; }

#define f16_MARK 0
#define bf16_MARK 8
layout(constant_id = 0 + JOIN(A, _MARK)) const int kEdgeA = 16;
layout(constant_id = 1 + JOIN(A, _MARK)) const int kEdgeB = 16;
layout(constant_id = 2) const int kEdgeSum = 16;
#define MATRIX_A fcoopmatNV<16, gl_ScopeSubgroup, kEdgeA, kEdgeA>
#define MATRIX_B fcoopmatNV<16, gl_ScopeSubgroup, kEdgeB, kEdgeB>
#define MATRIX_SUM fcoopmatNV<32, gl_ScopeSubgroup, kEdgeSum, kEdgeSum>
#define LOAD_MATRIX(m, at, stride, by_columns) coopMatLoadNV(m, staged, at, stride, by_columns);
#define MULTIPLY_ADD(sum, a, b) sum = coopMatMulAddNV(a, b, sum);
#define CLEAR_MATRIX(sum) sum = MATRIX_SUM(0.0);
#define STORE_MATRIX(sum, at, stride) coopMatStoreNV(sum, staged, at, stride, false);
#endif
