// Times the CPU reference's matrix products, float32, all four ways to store the operands.
//
//     product_benchmark [--benchmark_filter=2048x] ...
//
// The number after the name is that of threads; FLOP/s counts 2 m n k. "block" is one
// call of OpenBLAS with its operands in cache: what a core can reach.
#include <benchmark/benchmark.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kbench/graph.h"
#include "reference/blas.h"
#include "reference/call.h"

namespace {

std::vector<float> random_values(int64_t n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(engine);
  return values;
}

kbench::Tensor random_tensor(const kbench::Shape& shape) {
  kbench::Tensor tensor(kbench::DType::f32, shape);
  std::ranges::copy(random_values(tensor.elements()), tensor.data<float>().begin());
  return tensor;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
};

/// OpenBLAS on operands that lie in the cache: what a core can reach.
void run_block(benchmark::State& state) {
  constexpr int64_t kEdge = 256;
  const auto a = random_values(kEdge * kEdge), b = random_values(kEdge * kEdge);
  std::vector<float> c(kEdge * kEdge);
  for (auto _ : state) {
    kbench::reference::gemm<float>(kEdge, kEdge, kEdge, {a.data(), kEdge}, {b.data(), kEdge}, 0,
                                   c.data(), kEdge);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * kEdge * kEdge * kEdge);
}

void run_product(benchmark::State& state, const Product& p, int64_t batch) {
  using kbench::Shape;
  const Shape a = {batch, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k};
  const Shape b = {batch, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n};
  const kbench::OperatorCall call = kbench::make_call(
      kbench::find_operator("matmul"), {{kbench::DType::f32, a}, {kbench::DType::f32, b}},
      {{"transpose_a", int64_t{p.transpose_a}}, {"transpose_b", int64_t{p.transpose_b}}});
  const std::vector<kbench::Tensor> inputs = {random_tensor(a), random_tensor(b)};
  std::vector<kbench::Tensor> outputs = {kbench::Tensor(call.outputs[0])};
  tbb::task_arena arena(static_cast<int>(state.range(0)));
  arena.execute([&] {
    for (auto _ : state) {
      kbench::reference::find_implementation("matmul").run(call, inputs, outputs);
      benchmark::ClobberMemory();
    }
  });
  count_flops(state, 2.0 * static_cast<double>(batch * p.m * p.n * p.k));
}

struct Sizes {
  int64_t m, n, k, batch = 1;
};

// Large and square, a layer of a perceptron, attention, skinny, deep, thin, tiny.
constexpr Sizes kSizes[] = {{2048, 2048, 2048}, {128, 512, 1024}, {256, 256, 64, 64},
                            {10, 4096, 4096},   {1, 4096, 4096},  {256, 1, 131072},
                            {256, 256, 131072}, {4096, 4096, 32}, {29, 37, 53}};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RegisterBenchmark("block", run_block);
  for (const Sizes& s : kSizes) {
    for (int flags = 0; flags < 4; ++flags) {
      const Product p = {s.m, s.n, s.k, (flags & 1) != 0, (flags & 2) != 0};
      std::string name = std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                         std::to_string(s.k) + "/" + (p.transpose_a ? "t" : "n") +
                         (p.transpose_b ? "t" : "n");
      if (s.batch > 1) name = std::to_string(s.batch) + "x" + name;
      auto* registered = benchmark::RegisterBenchmark(
          name.c_str(), [p, s](benchmark::State& state) { run_product(state, p, s.batch); });
      registered->UseRealTime()->Unit(benchmark::kMicrosecond)->Arg(1);
      if (tbb::info::default_concurrency() > 1) registered->Arg(tbb::info::default_concurrency());
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
