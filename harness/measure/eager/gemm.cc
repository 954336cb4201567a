#include "harness/measure/eager/gemm.h"

#include <algorithm>

#include "kbench/error.h"

namespace kbench::eager {
namespace {

// Measured on an H200, as are the constants below: efficiency on large products, `alone` where each
// processor had one workgroup.
constexpr GemmTile kTiles[] = {
    {128, 128, 8, 8, 16, 1.0, 1.6}, {128, 64, 8, 8, 8, 0.95, 1.3},  {64, 128, 8, 8, 8, 0.95, 1.3},
    {32, 128, 16, 4, 8, 0.75, 1.3}, {64, 64, 16, 4, 4, 0.75, 1.05}, {32, 32, 16, 4, 4, 0.62, 2.0},
};

// On matrix units, measured likewise (benchmarks/eager_benchmark). All have one side: the less
// shared memory a workgroup takes the more of them a processor has at once, which gains more than
// staging beside the products.
constexpr GemmTile kMatrixTiles[] = {
    {128, 256, 32, 64, 64, 1.0, 1.3, true, 1},  {256, 128, 32, 64, 64, 0.92, 1.3, true, 1},
    {128, 128, 64, 64, 32, 0.87, 1.5, true, 1}, {128, 128, 32, 64, 64, 0.86, 1.4, true, 1},
    {128, 64, 32, 64, 32, 0.69, 1.5, true, 1},  {64, 128, 32, 32, 64, 0.7, 1.5, true, 1},
    {64, 64, 32, 32, 32, 0.6, 2.0, true, 1},    {32, 128, 32, 32, 32, 0.47, 2.0, true, 1},
    {32, 32, 32, 16, 16, 0.2, 3.0, true, 1},
};
constexpr int64_t kMatrixEdge = 16;

// The device the model stands for, in floating-point operations and bytes a second.
constexpr int64_t kProcessors = 132;
constexpr double kArithmetic = 45e12 / kProcessors;  // of one processor
constexpr double kMatrixArithmetic = 310e12 / kProcessors;
constexpr double kCopy = 3e12;
constexpr double kLaunch = 4e-6;
constexpr int64_t kMostSplits = 256;

/// Seconds by the model.
double estimate(const GemmTile& tile, int64_t m, int64_t n, int64_t k, int64_t batches,
                int64_t splits) {
  const int64_t groups = ceil_div(m, tile.m) * ceil_div(n, tile.n) * batches * splits;
  const double depth = static_cast<double>(ceil_div(ceil_div(k, splits), tile.depth) * tile.depth);
  const double arithmetic = tile.matrices ? kMatrixArithmetic : kArithmetic;
  const double one =
      2.0 * static_cast<double>(tile.m * tile.n) * depth / (arithmetic * tile.efficiency);
  // Processors take groups as they come; the busiest sets the time.
  const double rounds = std::max(tile.alone, static_cast<double>(ceil_div(groups, kProcessors)));
  double seconds = kLaunch + rounds * one;
  if (splits > 1) {
    const auto elements = static_cast<double>(m * n * batches);
    seconds += kLaunch + 4.0 * elements * static_cast<double>(2 * splits + 1) / kCopy;
  }
  return seconds;
}

bool allowed(const GemmTile& tile, const DeviceTraits& traits) {
  return tile.shared_bytes() <= traits.max_shared_memory &&
         tile.threads() <= traits.max_invocations;
}

int64_t batches_of(const GemmProblem& problem) {
  int64_t batches = 1;
  for (const Dimension& dim : problem.batch) batches *= dim.extent;
  return batches;
}

}  // namespace

int64_t GemmTile::shared_bytes() const {
  if (!matrices) return 2 * depth * (m + n + 8) * 4;
  // Rows of 16-bit elements along the depth or across it, and 16 rows of float32 sums a subgroup,
  // each row with 16 bytes more.
  const auto slice = [this](int64_t wide) {
    return std::max(wide * (2 * depth + 16), depth * (2 * wide + 16));
  };
  const int64_t sums = threads() / 32 * kMatrixEdge * (4 * part_n + 16);
  return std::max(sides * (slice(m) + slice(n)), sums);
}

bool on_matrices(DType stored, const DeviceTraits& traits) {
  return (stored == DType::f16 && traits.float16_matrices) ||
         (stored == DType::bf16 && traits.bfloat16_matrices);
}

std::span<const GemmTile> tiles(bool matrices) {
  if (matrices) return kMatrixTiles;
  return kTiles;
}

TileChoice with_splits(const GemmTile& tile, int64_t k, int64_t splits) {
  const int64_t split_k = ceil_div(ceil_div(k, splits), tile.depth) * tile.depth;
  return {tile, ceil_div(k, split_k), split_k, 0};
}

double streaming_seconds(int64_t bytes, int64_t launches) {
  return static_cast<double>(launches) * kLaunch + static_cast<double>(bytes) / kCopy;
}

TileChoice choose_tile(int64_t m, int64_t n, int64_t k, int64_t batches, DType stored,
                       bool may_split, const DeviceTraits& traits) {
  const std::span<const GemmTile> candidates = tiles(on_matrices(stored, traits));
  TileChoice best = with_splits(candidates.back(), k, 1);
  double least = -1;
  for (const GemmTile& tile : candidates) {
    // A software device runs sizes for which compiling a large tile costs more than it saves.
    if (!allowed(tile, traits) || (traits.software && tile.m != candidates.back().m)) continue;
    for (int64_t splits = 1;
         splits <= (may_split ? kMostSplits : 1) && (splits == 1 || k / splits >= 256);
         splits *= 2) {
      const double seconds = estimate(tile, m, n, k, batches, splits);
      if (least >= 0 && seconds >= least) continue;
      least = seconds;
      best = with_splits(tile, k, splits);
      best.seconds = seconds;
    }
  }
  return best;
}

void add_tile_macros(Launch& launch, const GemmTile& tile, const DeviceTraits& traits) {
  const int64_t threads = tile.threads(), piece = piece_elements(tile);
  const auto add = [&launch](const char* name, int64_t value) {
    launch.macros.emplace_back(name, std::to_string(value));
  };
  add("MATRICES", tile.matrices);
  add("BM", tile.m);
  add("BN", tile.n);
  add("BK", tile.depth);
  add("THREADS", threads);
  add("PIECES_A", tile.m * tile.depth / piece / threads);
  add("PIECES_B", tile.n * tile.depth / piece / threads);
  if (tile.matrices) {
    add("SIDES", tile.sides);
    add("SUBGROUP_M", tile.part_m);
    add("SUBGROUP_N", tile.part_n);
    add("FRAGMENTS_M", tile.part_m / kMatrixEdge);
    add("FRAGMENTS_N", tile.part_n / kMatrixEdge);
    add("ROUND", tile.part_n / 8);  // quads of 16 rows, for each of 32 invocations
    add("TM", tile.part_m / kMatrixEdge * (tile.part_n / 8));
    add("QUADS_N", 1);
    launch.subgroup_size = 32;
  } else {
    add("TM", tile.part_m);
    add("TN", tile.part_n);
    add("QUADS_M", tile.part_m / 4);
    add("QUADS_N", tile.part_n / 4);
    launch.macros.emplace_back("UNROLL_DEPTH", traits.software ? "[[dont_unroll]]" : "[[unroll]]");
  }
}

int64_t piece_elements(const GemmTile& tile) { return tile.matrices ? kHalvesAPiece : 4; }

Launch merge_launch(const Merge& merge, const DeviceTraits& traits) {
  const int64_t width = merge.n % 4 == 0 ? 4 : 1;
  const int64_t groups = ceil_div(merge.elements / width, kThreads);
  std::vector<LaunchOperand> addresses = {merge.parts, merge.c};
  if (merge.bias) addresses.push_back(*merge.bias);
  Launch launch = make_launch("gemm_merge.comp",
                              {{"THREADS", kThreads},
                               {"WIDTH", width},
                               {"BIAS", merge.bias.has_value()},
                               {"CHANNELS", merge.channels}},
                              addresses, groups, traits);
  launch.add(merge.elements / width).add(merge.n).add(merge.splits).add(groups);
  return launch;
}

CallPlan plan_gemm(const GemmProblem& problem, const DeviceTraits& traits) {
  return plan_gemm(problem,
                   choose_tile(problem.m, problem.n, problem.k, batches_of(problem), problem.stored,
                               true, traits),
                   traits);
}

CallPlan plan_gemm(const GemmProblem& problem, const TileChoice& choice,
                   const DeviceTraits& traits) {
  const int64_t m = problem.m, n = problem.n, k = problem.k;
  const int64_t batches = batches_of(problem);
  const GemmTile& tile = choice.tile;
  const int64_t dims = batches > 1 ? static_cast<int64_t>(problem.batch.size()) : 0;
  if (dims > 4) {
    throw Error(ErrorCode::kUnsupported,
                "the eager matrix product takes at most 4 leading dimensions that repeat an "
                "operand in turn, got " +
                    std::to_string(dims));
  }
  const bool split = choice.splits > 1;
  const int64_t tiles_m = ceil_div(m, tile.m), tiles_n = ceil_div(n, tile.n);
  const int64_t groups = tiles_m * tiles_n * choice.splits * batches;
  const bool edges = m % tile.m != 0 || n % tile.n != 0 || k % choice.split_k != 0;
  const bool bias = problem.bias.has_value() && !split;
  const int64_t piece = piece_elements(tile);

  std::vector<LaunchOperand> addresses = {problem.a, problem.b, split ? scratch(0) : problem.c};
  if (bias) addresses.push_back(*problem.bias);
  Launch launch = make_launch("gemm.comp",
                              {{"A_ALONG_M", problem.a_along_m},
                               {"B_ALONG_N", problem.b_along_n},
                               {"A_ALIGNED", (problem.a_along_m ? m : k) % piece == 0},
                               {"B_ALIGNED", (problem.b_along_n ? n : k) % piece == 0},
                               {"C_QUADS", n % 4 == 0},
                               {"EDGES", edges},
                               {"BIAS", bias},
                               {"BATCH", dims}},
                              addresses, groups, traits);
  add_tile_macros(launch, tile, traits);
  launch.add(m).add(n).add(k).add(tiles_m).add(tiles_n);
  launch.add(choice.splits).add(choice.split_k).add(groups);
  for (int64_t d = 0; d < dims; ++d) launch.add(problem.batch[d].extent);
  for (int64_t d = 0; d < dims; ++d) launch.add(problem.batch[d].a * m * k);
  for (int64_t d = 0; d < dims; ++d) launch.add(problem.batch[d].b * k * n);
  if (!split) return {{launch}, {}};
  const int64_t elements = batches * m * n;
  const Merge merge{scratch(0), problem.c, problem.bias, elements, choice.splits, n, 0};
  return {{launch, merge_launch(merge, traits)}, {choice.splits * elements * 4}};
}

}  // namespace kbench::eager
