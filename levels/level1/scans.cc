// Level 1: scans along one dimension.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// [batch_size, input_shape...]
Shape scan_shape(const Graph& g) {
  Shape shape = g.list("input_shape");
  shape.insert(shape.begin(), g["batch_size"]);
  return shape;
}

int axis(const Graph& g) { return static_cast<int>(g["dim"]); }

void cumsum_task(Graph& g) { g.output(cumsum(g.input("x", scan_shape(g)), axis(g))); }
/// So near one that products over 32768 factors neither vanish nor overflow: all of a row counts.
void cumprod_task(Graph& g) {
  g.output(cumprod(g.input("x", scan_shape(g), uniform(0.99, 1.01)), axis(g)));
}

void cumsum_reverse_task(Graph& g) {
  g.output(flip(cumsum(flip(g.input("x", scan_shape(g)), axis(g)), axis(g)), axis(g)));
}

/// Every element but the last summed, after a zero. A single element leaves the zero alone.
void cumsum_exclusive_task(Graph& g) {
  auto x = g.input("x", scan_shape(g));
  if (x.dim(axis(g)) == 1) return g.output(x * 0);
  x = slice(x, {.axis = axis(g), .stop = -1});
  g.output(pad(cumsum(x, axis(g)), axis(g), 1, 0));
}

void masked_cumsum_task(Graph& g) {
  auto x = g.input("x", scan_shape(g));
  auto mask = g.input("mask", scan_shape(g), randint(0, 2), DType::boolean);
  g.output(cumsum(mul_mask(x, mask), axis(g)));
}

}  // namespace

Tasks level1_scans() {
  using List = std::vector<int64_t>;
  return {
      {{1, 89},
       "cumsum",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       cumsum_task},
      {{1, 90},
       "cumprod",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       cumprod_task},
      {{1, 91},
       "cumsum_reverse",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       cumsum_reverse_task},
      {{1, 92},
       "cumsum_exclusive",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       cumsum_exclusive_task},
      {{1, 93},
       "masked_cumsum",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       masked_cumsum_task},
  };
}

}  // namespace kbench::levels
