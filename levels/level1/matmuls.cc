// Level 1: matrix products, and attention.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Inputs A and B of these shapes.
Value product(Graph& g, Shape a, Shape b, Matmul options = {}) {
  auto left = g.input("A", std::move(a));
  return matmul(left, g.input("B", std::move(b)), options);
}

Distribution normal_then(Distribution::Then then) {
  Distribution distribution = normal();
  distribution.then = then;
  return distribution;
}

/// Two square matrices of one kind.
Value structured_product(Graph& g, int64_t n, Distribution::Then then) {
  auto a = g.input("A", {n, n}, normal_then(then));
  return matmul(a, g.input("B", {n, n}, normal_then(then)));
}

void square_matmul(Graph& g) { g.output(product(g, {g["N"], g["N"]}, {g["N"], g["N"]})); }
void standard_matmul(Graph& g) { g.output(product(g, {g["M"], g["K"]}, {g["K"], g["N"]})); }
void matrix_vector(Graph& g) { g.output(product(g, {g["M"], g["K"]}, {g["K"], 1})); }
void matrix_scalar(Graph& g) { g.output(g.input("A", {g["M"], g["N"]}) * 3.14); }
void tall_skinny_matmul(Graph& g) { g.output(product(g, {g["M"], g["N"]}, {g["N"], g["M"]})); }

void batched_matmul(Graph& g) {
  g.output(product(g, {g["batch_size"], g["m"], g["k"]}, {g["batch_size"], g["k"], g["n"]}));
}

void tensor3d_matmul(Graph& g) { g.output(product(g, {g["N"], g["M"], g["K"]}, {g["K"], g["L"]})); }

void tensor4d_matmul(Graph& g) {
  g.output(product(g, {g["b"], g["i"], g["j"], g["l"]}, {g["l"], g["k"]}));
}

/// diag(A) B without the diagonal matrix: every row of B is scaled.
void diagonal_matmul(Graph& g) {
  auto a = g.input("A", {g["N"]});
  g.output(unsqueeze(a, 1) * g.input("B", {g["N"], g["M"]}));
}

void symmetric_matmul(Graph& g) {
  g.output(structured_product(g, g["N"], Distribution::Then::symmetrize));
}
void upper_triangular_matmul(Graph& g) {
  g.output(triu(structured_product(g, g["N"], Distribution::Then::triu)));
}
void lower_triangular_matmul(Graph& g) {
  g.output(tril(structured_product(g, g["M"], Distribution::Then::tril)));
}

void transposed_a_matmul(Graph& g) {
  g.output(product(g, {g["K"], g["M"]}, {g["K"], g["N"]}, {.transpose_a = true}));
}
void transposed_b_matmul(Graph& g) {
  g.output(product(g, {g["M"], g["K"]}, {g["N"], g["K"]}, {.transpose_b = true}));
}
void transposed_both_matmul(Graph& g) {
  g.output(product(g, {g["K"], g["M"]}, {g["N"], g["K"]}, {true, true}));
}

void scaled_dot_product_attention_task(Graph& g) {
  const Shape shape = {g["batch_size"], g["num_heads"], g["sequence_length"],
                       g["embedding_dimension"]};
  auto q = g.input("Q", shape), k = g.input("K", shape), v = g.input("V", shape);
  g.output(scaled_dot_product_attention(q, k, v));
}

}  // namespace

Tasks level1_matmuls() {
  return {
      {{1, 1}, "Square_matrix_multiplication", "matmul", {{"N", 48, 2048, 4096}}, square_matmul},
      {{1, 2},
       "Standard_matrix_multiplication",
       "matmul",
       {{"M", 40, 1024, 2048}, {"K", 72, 4096, 8192}, {"N", 56, 2048, 4096}},
       standard_matmul},
      {{1, 3},
       "Batched_matrix_multiplication",
       "matmul",
       {{"batch_size", 3, 128, 128},
        {"m", 24, 128, 512},
        {"k", 40, 256, 1024},
        {"n", 32, 512, 2048}},
       batched_matmul},
      {{1, 4},
       "Matrix_vector_multiplication",
       "matmul",
       {{"M", 40, 256, 2048}, {"K", 600, 131072, 1048576}},
       matrix_vector},
      {{1, 5},
       "Matrix_scalar_multiplication",
       "matmul",
       {{"M", 48, 16384, 65536}, {"N", 80, 4096, 16384}},
       matrix_scalar},
      {{1, 6},
       "Matmul_with_large_K_dimension",
       "matmul",
       {{"M", 24, 256, 256}, {"N", 32, 256, 256}, {"K", 2048, 131072, 524288}},
       standard_matmul},
      {{1, 7},
       "Matmul_with_small_K_dimension",
       "matmul",
       {{"M", 72, 16384, 32768}, {"N", 80, 16384, 32768}, {"K", 16, 32, 64}},
       standard_matmul},
      {{1, 8},
       "Matmul_with_irregular_shapes",
       "matmul",
       {{"M", 82, 8205, 8205}, {"K", 29, 2949, 2949}, {"N", 59, 5921, 5921}},
       standard_matmul},
      {{1, 9},
       "Tall_skinny_matrix_multiplication",
       "matmul",
       {{"M", 96, 16384, 32768}, {"N", 8, 16, 32}},
       tall_skinny_matmul},
      {{1, 10},
       "3D_tensor_matrix_multiplication",
       "matmul",
       {{"N", 3, 16, 16}, {"M", 24, 1024, 1024}, {"K", 40, 2048, 2048}, {"L", 32, 768, 768}},
       tensor3d_matmul},
      {{1, 11},
       "4D_tensor_matrix_multiplication",
       "matmul",
       {{"b", 2, 16, 8},
        {"i", 6, 256, 256},
        {"j", 8, 512, 512},
        {"l", 24, 256, 256},
        {"k", 40, 768, 768}},
       tensor4d_matmul},
      {{1, 12},
       "Matmul_with_diagonal_matrices",
       "matmul",
       {{"M", 48, 4096, 4096}, {"N", 40, 4096, 4096}},
       diagonal_matmul},
      {{1, 13},
       "Matmul_for_symmetric_matrices",
       "matmul",
       {{"N", 48, 4096, 4096}},
       symmetric_matmul},
      {{1, 14},
       "Matmul_for_upper_triangular_matrices",
       "matmul",
       {{"N", 48, 4096, 4096}},
       upper_triangular_matmul,
       {},
       {identity("triu", "the product of upper triangular matrices is upper triangular")}},
      {{1, 15},
       "Matmul_for_lower_triangular_matrices",
       "matmul",
       {{"M", 48, 4096, 4096}},
       lower_triangular_matmul,
       {},
       {identity("tril", "the product of lower triangular matrices is lower triangular")}},
      {{1, 16},
       "Matmul_with_transposed_A",
       "matmul",
       {{"M", 40, 1024, 2048}, {"K", 72, 4096, 8192}, {"N", 56, 2048, 4096}},
       transposed_a_matmul},
      {{1, 17},
       "Matmul_with_transposed_B",
       "matmul",
       {{"M", 40, 1024, 2048}, {"K", 72, 4096, 8192}, {"N", 56, 2048, 4096}},
       transposed_b_matmul},
      {{1, 18},
       "Matmul_with_transposed_both",
       "matmul",
       {{"M", 40, 1024, 2048}, {"K", 72, 4096, 8192}, {"N", 56, 2048, 4096}},
       transposed_both_matmul},
  };
}

// Level 1: attention.

Tasks level1_attention() {
  return {
      {{1, 97},
       "ScaledDotProductAttention",
       "attention",
       {{"batch_size", 2, 8, 32},
        {"num_heads", 3, 8, 32},
        {"sequence_length", 24, 256, 512},
        {"embedding_dimension", 32, 64, 1024}},
       scaled_dot_product_attention_task},
  };
}

}  // namespace kbench::levels
