// Level 1: losses.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Rows of predictions that differ in size: over a billion draws that are all alike a mean is the
/// same number every time.
Distribution distinct_rows() { return offset(normal()); }

/// [batch_size, input_shape...]
Value loss_rows(Graph& g, const char* name, Distribution distribution = normal()) {
  Shape shape = g.list("input_shape");
  shape.insert(shape.begin(), g["batch_size"]);
  return g.input(name, shape, distribution);
}

void mse_task(Graph& g) {
  auto predictions = loss_rows(g, "predictions", distinct_rows());
  g.output(mean_all(square(predictions - loss_rows(g, "targets"))));
}

void cross_entropy_task(Graph& g) {
  const int64_t classes = g["num_classes"];
  const Shape& scores = followed_list(g, "input_shape");
  require(scores.size() == 1 && scores[0] >= classes, "input_shape must hold num_classes scores");
  auto predictions = g.input("predictions", {g["batch_size"], scores[0]});
  auto targets = g.input("targets", {g["batch_size"]}, randint(0, classes), DType::i64);
  g.output(cross_entropy(predictions, targets));
}

void smooth_l1_task(Graph& g) {
  auto predictions = loss_rows(g, "predictions", distinct_rows());
  g.output(smooth_l1_loss(predictions, loss_rows(g, "targets")));
}

/// Probabilities that few classes share: the sum is that of a few terms a row.
void kl_div_task(Graph& g) {
  Distribution probabilities = normal(0, 8);
  probabilities.then = Distribution::Then::softmax_last;
  auto predictions = loss_rows(g, "predictions", probabilities);
  g.output(kl_div_batchmean(log(predictions), loss_rows(g, "targets", probabilities)));
}

/// Distances along the last dimension.
void triplet_margin_task(Graph& g) {
  const auto matrix = [&](const char* name) {
    auto x = loss_rows(g, name);
    return x.rank() == 2 ? x : reshape(x, {-1, x.dim(-1)});
  };
  auto anchor = matrix("anchor"), positive = matrix("positive");
  g.output(triplet_margin_loss(anchor, positive, matrix("negative"), 1.0));
}

/// Targets of -1 and 1, one a column.
void hinge_task(Graph& g) {
  Distribution signs = randint(0, 2);
  signs.then = Distribution::Then::plus_minus_one;
  auto predictions = loss_rows(g, "predictions", distinct_rows());
  auto targets = g.input("targets", {g["batch_size"]}, signs);
  g.output(mean_all(clamp_min(-(predictions * targets) + 1, 0)));
}

}  // namespace

Tasks level1_losses() {
  using List = std::vector<int64_t>;
  return {
      {{1, 94},
       "MSELoss",
       "loss",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4096}, List{32768}},
        {"dim", 1}},
       mse_task,
       {1e-5,
        "half of each row stands for the whole to 1e-5; honest float32 is off by 2e-6 at most"}},
      {{1, 95},
       "CrossEntropyLoss",
       "loss",
       {{"batch_size", 24, 4096, 32768},
        {"num_classes", 40, 10, 4096},
        {"input_shape", Follows{"num_classes"}},
        {"dim", 1}},
       cross_entropy_task,
       {1e-5,
        "half of each row stands for the whole to 1e-5; honest float32 is off by 2e-6 at most"}},
      {{1, 96},
       "HuberLoss",
       "loss",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4096}, List{32768}},
        {"dim", 1}},
       smooth_l1_task,
       {1e-5,
        "half of each row stands for the whole to 1e-5; honest float32 is off by 2e-6 at most"}},
      {{1, 98},
       "KLDivLoss",
       "loss",
       {{"batch_size", 24, 128, 16384},
        {"input_shape", List{96}, List{4096}, List{16384}},
        {"dim", 1}},
       kl_div_task},
      {{1, 99},
       "TripletMarginLoss",
       "loss",
       {{"batch_size", 24, 128, 32768},
        {"input_shape", List{96}, List{4096}, List{8192}},
        {"dim", 1}},
       triplet_margin_task,
       {7e-6,
        "honest float32 is off by 5e-07 at most, and what is rounded to fewer bits by 1e-05"}},
      {{1, 100},
       "HingeLoss",
       "loss",
       {{"batch_size", 48, 128, 32768},
        {"input_shape", List{48}, List{1}, List{32768}},
        {"dim", 1}},
       hinge_task,
       {1.3e-5,
        "added up in one float, honest float32 is off by 6.5e-06; the mean of every second element "
        "is, by 1.4e-05"}},
  };
}

}  // namespace kbench::levels
