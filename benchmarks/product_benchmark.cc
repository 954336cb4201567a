// Times the CPU reference's matrix products, float32, all four ways to store the operands.
//
//     product_benchmark [--benchmark_filter=2048x] ...
//
// The number after the name is that of threads; FLOP/s counts 2 m n k. "tile" is one tile of the
// inner loop with its operands in cache: what a core can reach.
#include <benchmark/benchmark.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <random>
#include <string>
#include <vector>

#include "reference/ops/matmul.h"
#include "reference/simd/kernels.h"

namespace {

using kbench::reference::Product;

std::vector<float> random_values(int64_t n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(n);
  for (float& v : values) v = uniform(engine);
  return values;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] =
      benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

void run_tile(benchmark::State& state) {
  constexpr int64_t kDepth = 256;
  const auto& k = kbench::reference::kernels<float>();
  const auto a = random_values(k.tile_rows * kDepth), b = random_values(k.tile_cols * kDepth);
  std::vector<float> c(k.tile_rows * k.tile_cols);
  for (auto _ : state) {
    k.tile(k.tile_rows, k.tile_cols,
           {.depth = kDepth,
            .a = a.data(),
            .a_row = 1,
            .a_col = k.tile_rows,
            .b = b.data(),
            .b_row = k.tile_cols,
            .start = nullptr,
            .start_row = 0,
            .c = c.data(),
            .c_row = k.tile_cols});
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * kDepth * k.tile_rows * k.tile_cols);
}

void run_product(benchmark::State& state, const Product& p, int64_t batch) {
  const auto a = random_values(batch * p.m * p.k), b = random_values(batch * p.k * p.n);
  std::vector<float> c(batch * p.m * p.n);
  std::vector<int64_t> index(batch);
  for (int64_t i = 0; i < batch; ++i) index[i] = i;
  tbb::task_arena arena(static_cast<int>(state.range(0)));
  arena.execute([&] {
    for (auto _ : state) {
      kbench::reference::matmul<float>(p, index, index, a.data(), b.data(), c.data());
      benchmark::ClobberMemory();
    }
  });
  count_flops(state, 2.0 * static_cast<double>(batch * p.m * p.n * p.k));
}

struct Shape {
  int64_t m, n, k, batch = 1;
};

// Large and square, a layer of a perceptron, attention, skinny, deep, thin, tiny.
constexpr Shape kShapes[] = {{2048, 2048, 2048}, {128, 512, 1024}, {256, 256, 64, 64},
                             {10, 4096, 4096},   {1, 4096, 4096},  {256, 1, 131072},
                             {256, 256, 131072}, {4096, 4096, 32}, {29, 37, 53}};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RegisterBenchmark("tile", run_tile);
  for (const Shape& s : kShapes) {
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
