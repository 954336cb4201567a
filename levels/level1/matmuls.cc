// Level 1: matrix products.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void square_matmul(Graph& g) {
  const Shape shape = {g["N"], g["N"]};
  auto a = g.input("A", shape);
  g.output(matmul(a, g.input("B", shape)));
}

void batched_matmul(Graph& g) {
  auto a = g.input("A", {g["batch_size"], g["m"], g["k"]});
  g.output(matmul(a, g.input("B", {g["batch_size"], g["k"], g["n"]})));
}

/// diag(A) B without the diagonal matrix: every row of B is scaled.
void diagonal_matmul(Graph& g) {
  auto a = g.input("A", {g["N"]});
  g.output(unsqueeze(a, 1) * g.input("B", {g["N"], g["M"]}));
}

}  // namespace

Tasks level1_matmuls() {
  return {
      {{1, 1}, "Square_matrix_multiplication", "matmul", {{"N", 48, 2048, 4096}}, square_matmul},
      {{1, 3},
       "Batched_matrix_multiplication",
       "matmul",
       {{"batch_size", 3, 128, 128},
        {"m", 24, 128, 512},
        {"k", 40, 256, 1024},
        {"n", 32, 512, 2048}},
       batched_matmul},
      {{1, 12},
       "Matmul_with_diagonal_matrices",
       "matmul",
       {{"M", 48, 4096, 4096}, {"N", 40, 4096, 4096}},
       diagonal_matmul},
  };
}

}  // namespace kbench::levels
