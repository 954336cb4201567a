// Matrix products.
#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/planning.h"
#include "harness/measure/eager/row_reduction.h"

namespace kbench::eager {
namespace {

/// a's rows with one vector: read once, without a tile that would be mostly empty.
CallPlan row_dots(const GemmProblem& problem, const DeviceTraits& traits) {
  const int64_t rows = problem.m, n = problem.k, width = n % 4 == 0 ? 4 : 1;
  const Split split = split_row(n, rows);
  int64_t lanes = 8;
  while (lanes < kThreads && lanes * width * 4 < split.length) lanes *= lanes < 128 ? 4 : 2;
  const int64_t groups = ceil_div(rows, kThreads / lanes) * split.count;
  Launch launch =
      make_launch("row_dot.comp", {{"THREADS", kThreads}, {"LANES", lanes}, {"WIDTH", width}},
                  {problem.a, problem.b, split.count > 1 ? scratch(0) : problem.c}, groups, traits);
  launch.add(rows).add(n).add(split.count).add(split.length).add(groups);
  CallPlan plan{{launch}, {}};
  if (split.count > 1) {
    plan.scratch_bytes.push_back(rows * split.count * 4);
    append_row_reduction(plan, {}, rows, split.count, scratch(0), problem.c, traits);
  }
  return plan;
}

CallPlan matmul(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  const Shape& c = call.outputs[0].shape;
  GemmProblem problem;
  problem.a_along_m = call.attributes.flag("transpose_a");
  problem.b_along_n = !call.attributes.flag("transpose_b");
  problem.m = c[c.size() - 2];
  problem.n = c[c.size() - 1];
  problem.k = a[a.size() - (problem.a_along_m ? 2 : 1)];
  problem.batch = merge_dims(Shape(c.begin(), c.end() - 2), Shape(a.begin(), a.end() - 2),
                             Shape(b.begin(), b.end() - 2));
  if (problem.batch.size() == 1 && problem.batch[0].b == 0 && !problem.a_along_m) {
    // One b for all: the leading dimensions are more rows of a.
    problem.m *= problem.batch[0].extent;
    problem.batch = {{1, 0, 0}};
  }
  problem.stored = call.inputs[0].dtype;
  problem.a = input(0);
  problem.b = input(1);
  problem.c = output(0);
  const bool batched = problem.batch.size() > 1 || problem.batch[0].extent != 1;
  if (problem.n == 1 && !batched && !problem.a_along_m) return row_dots(problem, traits);
  return plan_gemm(problem, traits);
}

CallPlan linear(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& weight = call.inputs[1].shape;
  GemmProblem problem;
  problem.n = weight[0];
  problem.k = weight[1];
  problem.m = call.inputs[0].elements() / problem.k;
  problem.b_along_n = false;
  problem.stored = call.inputs[0].dtype;
  problem.a = input(0);
  problem.b = input(1);
  if (call.inputs.size() > 2) problem.bias = input(2);
  problem.c = output(0);
  return plan_gemm(problem, traits);
}

}  // namespace

const std::vector<EagerKernel>& matmul_kernels() {
  static const std::vector<EagerKernel> kernels = {{"matmul", matmul}, {"linear", linear}};
  return kernels;
}

}  // namespace kbench::eager
