// Matrix products.
#include "harness/eager/gemm.h"
#include "harness/eager/planning.h"
#include "harness/eager/registry.h"

namespace kbench::eager {
namespace {

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
  problem.batch = merge_dims(Shape(c.begin(), c.end() - 2),
                             {Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)});
  if (problem.batch.extent.size() == 1 && problem.batch.stride[1][0] == 0 && !problem.a_along_m) {
    // One b for all: the leading dimensions are more rows of a.
    problem.m *= problem.batch.extent[0];
    problem.batch = merge_dims({}, {{}, {}});
  }
  problem.a = input(0);
  problem.b = input(1);
  problem.c = output(0);
  return plan_gemm(problem, traits);
}

CallPlan linear(const OperatorCall& call, const DeviceTraits& traits) {
  const Shape& weight = call.inputs[1].shape;
  GemmProblem problem;
  problem.n = weight[0];
  problem.k = weight[1];
  problem.m = call.inputs[0].elements() / problem.k;
  problem.b_along_n = false;
  problem.batch = merge_dims({}, {{}, {}});
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
