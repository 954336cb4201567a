// Level 1: losses.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

void cross_entropy_task(Graph& g) {
  const int64_t rows = g["batch_size"], classes = g["num_classes"];
  auto predictions = g.input("predictions", {rows, classes});
  auto targets = g.input("targets", {rows}, randint(0, classes), DType::i64);
  g.output(cross_entropy(predictions, targets));
}

}  // namespace

Tasks level1_losses() {
  return {
      {{1, 95},
       "CrossEntropyLoss",
       "loss",
       {{"batch_size", 24, 4096, 32768},
        {"num_classes", 40, 10, 4096},
        {"input_shape", std::vector<int64_t>{40}, std::vector<int64_t>{10},
         std::vector<int64_t>{4096}},
        {"dim", 1}},
       cross_entropy_task},
  };
}

}  // namespace kbench::levels
