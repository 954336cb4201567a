// Times the eager baseline's kernels on a device: products and convolutions tile by tile, which the
// cost model's constants (gemm.cc) are taken from, and operators that memory bounds.
//
//     eager_benchmark [--device=auto] [--benchmark_filter=product/4096/f16] ...
//
// A name is product/N, convolution/... or memory/..., the type in which operands lie, and the tile
// (of a workgroup, of a subgroup or invocation; "_1": one side) or what the model chooses; "x2"
// behind it: the depth split in two. Times are the device's own, of several runs in a row, operands
// random and as warm in its caches as they stay. FLOP/s counts multiplications and additions of the
// definition, B/s inputs and outputs once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/eager/convolution.h"
#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/planning.h"
#include "harness/measure/vulkan/buffer.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"
#include "kbench/graph.h"
#include "libkbench/base/half.h"

namespace {

using namespace kbench;

/// 2^20 values of [-1, 1).
const std::vector<float>& drawn() {
  static const std::vector<float> floats = [] {
    std::mt19937 engine(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(1 << 20);
    for (float& value : values) value = uniform(engine);
    return values;
  }();
  return floats;
}

std::vector<uint16_t> rounded(uint16_t (*to_half)(float)) {
  std::vector<uint16_t> halves;
  for (const float value : drawn()) halves.push_back(to_half(value));
  return halves;
}

/// Those values as f32, f16 or bf16; rounded once a type.
std::span<const std::byte> block_of(DType dtype) {
  if (dtype == DType::f16) {
    static const std::vector<uint16_t> halves = rounded(to_f16);
    return std::as_bytes(std::span(halves));
  }
  if (dtype == DType::bf16) {
    static const std::vector<uint16_t> halves = rounded(to_bf16);
    return std::as_bytes(std::span(halves));
  }
  return std::as_bytes(std::span(drawn()));
}

/// Random operands of a call, and its output.
class Operands {
 public:
  Operands(vulkan::Device& device, const OperatorCall& stored) {
    for (const TensorType& type : stored.inputs) {
      buffers_.push_back(device.allocate(bytes_of(type)));
      fill(device, buffers_.back(), type.dtype);
    }
    for (const TensorType& type : stored.outputs) {
      buffers_.push_back(device.allocate(bytes_of(type)));
    }
    for (size_t i = 0; i < buffers_.size(); ++i) {
      (i < stored.inputs.size() ? inputs : outputs)
          .push_back({&buffers_[i], 0, buffers_[i].size()});
    }
  }

  std::vector<vulkan::Region> inputs, outputs;

 private:
  static uint64_t bytes_of(const TensorType& type) {
    return static_cast<uint64_t>(type.bytes() + 15) / 16 * 16;
  }

  /// The same block again and again.
  static void fill(vulkan::Device& device, const vulkan::Buffer& to, DType dtype) {
    const std::span<const std::byte> block = block_of(dtype);
    for (uint64_t at = 0; at < to.size(); at += block.size()) {
      device.upload(to, at, block.first(std::min<uint64_t>(block.size(), to.size() - at)));
    }
  }

  std::vector<vulkan::Buffer> buffers_;
};

/// A call as stored, its operations, and the plan to run.
struct Work {
  OperatorCall stored;
  double flops;
  eager::CallPlan plan;
};

double flops_of(const OperatorCall& call) { return call.op->flops ? call.op->flops(call) : 0; }

void time(benchmark::State& state, vulkan::Device& device, const Work& work) {
  constexpr int kRuns = 10;
  try {
    const double bytes = least_bytes(work.stored);
    const eager::PreparedCall prepared(device, work.plan);
    const Operands operands(device, work.stored);
    const vulkan::Buffer scratch =
        device.allocate(std::max<uint64_t>(256, static_cast<uint64_t>(prepared.scratch_bytes())));
    vulkan::Commands commands(device, 2);
    for (auto _ : state) {
      commands.begin();
      commands.timestamp(0);
      for (int run = 0; run < kRuns; ++run) {
        prepared.record(commands, operands.inputs, operands.outputs, {&scratch, 0, scratch.size()});
        commands.barrier();
      }
      commands.timestamp(1);
      commands.submit_and_wait(60);
      state.SetIterationTime(commands.elapsed_ns(0, 1) * 1e-9 / kRuns);
    }
    constexpr auto kEachRun = benchmark::Counter::kIsIterationInvariantRate;
    state.counters["FLOP/s"] = benchmark::Counter(work.flops, kEachRun);
    state.counters["B/s"] = benchmark::Counter(bytes, kEachRun);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}

void add(const std::string& name, vulkan::Device& device, const Work& work) {
  benchmark::RegisterBenchmark(
      name.c_str(), [&device, work](benchmark::State& state) { time(state, device, work); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->MinTime(0.05);
}

OperatorCall call_of(const char* op, const std::vector<Shape>& shapes,
                     const Attributes& attributes) {
  std::vector<TensorType> types;
  for (const Shape& shape : shapes) types.push_back({DType::f32, shape});
  return make_call(find_operator(op), types, attributes);
}

/// Tiles that matrix units may do better with than with those in use.
constexpr eager::GemmTile kTried[] = {
    {128, 128, 32, 64, 64, 1, 1, true, 1}, {128, 128, 32, 64, 32, 1, 1, true, 1},
    {128, 64, 32, 64, 32, 1, 1, true, 1},  {64, 128, 32, 32, 64, 1, 1, true, 1},
    {64, 256, 32, 32, 64, 1, 1, true, 1},  {64, 64, 32, 32, 32, 1, 1, true, 1},
    {32, 128, 32, 32, 32, 1, 1, true, 1},  {32, 256, 32, 32, 64, 1, 1, true, 1},
    {64, 64, 64, 32, 32, 1, 1, true, 1},   {32, 32, 32, 16, 16, 1, 1, true, 1},
};

/// As the call is planned, and by plan(stored call, tile, splits) for every tile that the device
/// takes.
template <class Plan>
void add_tiles(const std::string& name, vulkan::Device& device, const OperatorCall& call,
               DType real, bool may_split, const Plan& plan) {
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  const bool matrices = eager::on_matrices(real, traits);
  const OperatorCall stored = eager::stored_call(call, real);
  add(name + "/chosen", device, {stored, flops_of(call), eager::plan_call(call, traits, real)});
  std::vector<eager::GemmTile> tiles(eager::tiles(matrices).begin(), eager::tiles(matrices).end());
  if (matrices) tiles.insert(tiles.end(), std::begin(kTried), std::end(kTried));
  for (const eager::GemmTile& tile : tiles) {
    if (tile.shared_bytes() > traits.max_shared_memory) continue;
    for (const int64_t splits : {1, 2, 4, 8}) {
      if (splits > 1 && !may_split) break;
      char text[64];
      std::snprintf(text, sizeof text, "/%dx%dx%d_%dx%d%s%s", static_cast<int>(tile.m),
                    static_cast<int>(tile.n), static_cast<int>(tile.depth),
                    static_cast<int>(tile.part_m), static_cast<int>(tile.part_n),
                    tile.sides == 1 ? "_1" : "",
                    splits > 1 ? ("x" + std::to_string(splits)).c_str() : "");
      add(name + text, device,
          {stored, flops_of(call),
           eager::with_storage(plan(stored, tile, splits), stored, traits)});
    }
  }
}

struct Sizes {
  int64_t m, n, k;
};
// Square ones; a layer of a perceptron; few rows; deep; thin; rows that start anywhere.
constexpr Sizes kSizes[] = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
                            {8192, 8192, 8192}, {128, 8192, 8192},  {16, 4096, 4096},
                            {256, 256, 131072}, {32768, 32768, 64}, {8205, 2949, 5921}};

void add_products(vulkan::Device& device, DType real) {
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  for (const Sizes& s : kSizes) {
    for (const bool transposed : {false, true}) {
      eager::GemmProblem problem;
      problem.m = s.m;
      problem.n = s.n;
      problem.k = s.k;
      problem.b_along_n = !transposed;
      problem.stored = real;
      problem.a = eager::input(0);
      problem.b = eager::input(1);
      problem.c = eager::output(0);
      const OperatorCall call =
          call_of("matmul", {{s.m, s.k}, transposed ? Shape{s.n, s.k} : Shape{s.k, s.n}},
                  {{"transpose_b", int64_t{transposed}}});
      const bool square = s.m == s.n && s.n == s.k;
      const std::string sizes =
          square ? std::to_string(s.m)
                 : std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
      // The depth is split where the result alone has too few tiles to fill a device.
      add_tiles("product/" + sizes + (transposed ? "t" : "") + "/" + std::string(name_of(real)),
                device, call, real, s.m * s.n < 1024 * 2048,
                [&](const OperatorCall&, const eager::GemmTile& tile, int64_t splits) {
                  return eager::plan_gemm(problem, eager::with_splits(tile, s.k, splits), traits);
                });
    }
  }
}

struct Convolution {
  const char* op;
  Shape x, weight;
  int64_t stride, padding;
};
const Convolution kConvolutions[] = {
    {"conv2d", {64, 64, 56, 56}, {64, 64, 3, 3}, 1, 1},
    {"conv2d", {64, 256, 28, 28}, {256, 256, 3, 3}, 1, 1},
    {"conv2d", {64, 256, 56, 56}, {64, 256, 1, 1}, 1, 0},
    {"conv2d", {16, 64, 512, 512}, {128, 64, 3, 3}, 1, 1},
    {"conv2d", {256, 3, 224, 224}, {96, 3, 11, 11}, 4, 2},
    {"conv3d", {16, 32, 32, 32, 32}, {64, 32, 3, 3, 3}, 1, 1},
    {"conv_transpose2d", {16, 64, 128, 128}, {64, 64, 4, 4}, 2, 1},
};

void add_convolutions(vulkan::Device& device, DType real) {
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  for (const Convolution& c : kConvolutions) {
    const size_t dims = c.x.size() - 2;
    Attributes attributes = {{"stride", std::vector<int64_t>(dims, c.stride)},
                             {"padding", std::vector<int64_t>(dims, c.padding)},
                             {"dilation", std::vector<int64_t>(dims, 1)},
                             {"groups", int64_t{1}}};
    if (std::string_view(c.op).starts_with("conv_transpose")) {
      attributes.set("output_padding", std::vector<int64_t>(dims, 0));
    }
    const OperatorCall call = call_of(c.op, {c.x, c.weight}, attributes);
    std::string name = std::string("convolution/") + c.op;
    for (const int64_t extent : c.x) name += "x" + std::to_string(extent);
    name += "k" + std::to_string(c.weight.back()) + "s" + std::to_string(c.stride);
    name += "/" + std::string(name_of(real));
    for (const bool last : {false, true}) {
      if (last && !eager::on_matrices(real, traits)) continue;
      add_tiles(name + (last ? "/channels_last" : ""), device, call, real, false,
                [&](const OperatorCall& stored, const eager::GemmTile& tile, int64_t splits) {
                  return eager::plan_product(stored, tile, splits, traits, last);
                });
    }
  }
}

/// Of tensors that no cache holds: 2^28 elements.
void add_memory_bound(vulkan::Device& device, DType real) {
  const Shape rows = {65536, 4096}, planes = {64, 64, 256, 256};
  const Attributes last = {{"axis", int64_t{1}}};
  const OperatorCall calls[] = {
      call_of("relu", {rows}, {}),
      call_of("gelu", {rows}, {}),
      call_of("add", {rows, rows}, {}),
      call_of("mul", {rows, {4096}}, {}),
      call_of("softmax", {rows}, last),
      call_of("sum", {rows}, last),
      call_of("cumsum", {rows}, last),
      call_of("sum", {rows}, {{"axis", int64_t{0}}}),
      call_of("batch_norm", {planes, {64}, {64}}, {}),
      call_of("layer_norm", {rows, {4096}, {4096}}, {{"dims", int64_t{1}}}),
  };
  for (const OperatorCall& call : calls) {
    std::string name = "memory/" + call.op->name;
    if (call.attributes.find("axis")) name += std::to_string(call.attributes.integer("axis"));
    add(name + "/" + std::string(name_of(real)), device,
        {eager::stored_call(call, real), flops_of(call),
         eager::plan_call(call, eager::traits_of(device.snapshot()), real)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::string selector = "auto";
  constexpr std::string_view kDevice = "--device=";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(kDevice)) {
      selector = argv[i] + kDevice.size();
    } else {
      std::fprintf(stderr, "eager_benchmark: unknown argument %s\n", argv[i]);
      return 2;
    }
  }
  try {
    const auto device = vulkan::Device::open({.selector = selector});
    std::printf("%s, driver %s\n", device->snapshot().name.c_str(),
                device->snapshot().driver.c_str());
    const eager::DeviceTraits traits = eager::traits_of(device->snapshot());
    for (const DType real : {DType::f32, DType::f16, DType::bf16}) {
      std::printf("%s: %s\n", name_of(real).data(), eager::arithmetic_text(real, traits).c_str());
      add_products(*device, real);
      add_convolutions(*device, real);
      add_memory_bound(*device, real);
    }
    benchmark::RunSpecifiedBenchmarks();
  } catch (const Error& error) {
    std::fprintf(stderr, "eager_benchmark: %s\n", error.what());
    return 1;
  }
  return 0;
}
