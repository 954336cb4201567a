// Level 1: attention.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void scaled_dot_product_attention_task(Graph& g) {
  const Shape shape = {g["batch_size"], g["num_heads"], g["sequence_length"],
                       g["embedding_dimension"]};
  auto q = g.input("Q", shape), k = g.input("K", shape), v = g.input("V", shape);
  g.output(scaled_dot_product_attention(q, k, v));
}

}  // namespace

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
