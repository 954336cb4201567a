#include "harness/measure/trial/device_draw.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "harness/measure/trial/kernels.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

using Kind = Distribution::Kind;
using Then = Distribution::Then;

/// The bits of the two parameters of a distribution, for the shader.
struct Bounds {
  uint64_t a = 0, b = 0;
};
Bounds bounds_of(const Distribution& distribution) {
  switch (distribution.kind) {
    case Kind::uniform: {
      const float lo = static_cast<float>(distribution.lo);
      const float range = static_cast<float>(distribution.hi) - lo;
      return {std::bit_cast<uint32_t>(lo), std::bit_cast<uint32_t>(range)};
    }
    case Kind::normal:
      return {std::bit_cast<uint64_t>(distribution.lo), std::bit_cast<uint64_t>(distribution.hi)};
    case Kind::randint:
      return {static_cast<uint64_t>(static_cast<int64_t>(distribution.lo)),
              static_cast<uint64_t>(distribution.hi - distribution.lo)};
  }
  return {};
}

vulkan::Macros macros_of(const Distribution& distribution, DType dtype) {
  vulkan::Macros macros;
  if (size_of(dtype) == 1) macros.emplace_back("BYTES", "1");
  if (distribution.kind == Kind::normal) macros.emplace_back("NORMAL", "1");
  if (distribution.kind == Kind::randint) macros.emplace_back("RANDINT", "1");
  if (dtype == DType::i64) macros.emplace_back("INTEGER", "1");
  constexpr std::pair<Then, const char*> kSteps[] = {{Then::symmetrize, "SYMMETRIZE"},
                                                     {Then::triu, "TRIU"},
                                                     {Then::tril, "TRIL"},
                                                     {Then::plus_minus_one, "PLUS_MINUS_ONE"},
                                                     {Then::offset, "OFFSET"}};
  for (const auto& [then, macro] : kSteps) {
    if (distribution.then == then) macros.emplace_back(macro, "1");
  }
  return macros;
}

/// Limits of draw_softmax.comp, whose workgroups loop over rows and invocations over columns:
/// software devices may stop loops of more than 1024 turns.
constexpr int64_t kMostGroups = 65535, kMostTurns = 1024;
constexpr int64_t kMostColumns = kMostTurns * kGroupThreads, kMostRows = kMostGroups * kMostTurns;

int64_t rows_of(const Shape& shape) {
  return shape.back() > 0 ? element_count(shape) / shape.back() : 0;
}

/// As kbench::draw() takes them.
bool draws_bytes(const Distribution& distribution, DType dtype) {
  if (dtype == DType::boolean) return distribution == randint(0, 2);
  return dtype == DType::u8 && distribution.kind == Kind::randint &&
         distribution.then == Then::nothing && distribution.lo >= 0 && distribution.hi <= 256;
}

}  // namespace

bool draws_on_device(const vulkan::DevicePlan& plan, const Distribution& distribution,
                     const TensorType& type) {
  if (distribution.then == Then::softmax_last) {
    return plan.float64 && type.dtype == DType::f32 && !type.shape.empty() &&
           type.shape.back() <= kMostColumns && rows_of(type.shape) <= kMostRows;
  }
  if (distribution.kind == Kind::normal && !plan.float64) return false;
  if (type.dtype == DType::i64) {
    return distribution.kind == Kind::randint && distribution.then == Then::nothing;
  }
  if (size_of(type.dtype) == 1) return draws_bytes(distribution, type.dtype);
  if (type.dtype != DType::f32) return false;
  const bool matrix = distribution.then == Then::triu || distribution.then == Then::tril ||
                      distribution.then == Then::symmetrize;
  return !(matrix || distribution.then == Then::offset) || type.shape.size() >= 2;
}

namespace {
struct DrawPush {
  uint64_t base, words, a, b;
  uint32_t seed[2];
  uint32_t name, task, iterations, rows, columns, offsets;
};
}  // namespace

vulkan::EmbeddedKey draw_key(const Distribution& distribution, DType dtype) {
  const char* shader = distribution.then == Then::softmax_last ? "draw_softmax.comp" : "draw.comp";
  return {shader, macros_of(distribution, dtype), static_cast<uint32_t>(sizeof(DrawPush)), 0};
}

void record_draw(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to) {
  const Bounds bounds = bounds_of(distribution);
  WorkSplit split = split_work(words_of(to));
  DrawPush push{
      to.address(), words_of(to), bounds.a, bounds.b, {}, 0, 0, split.iterations, 1, 1, 0};
  push.seed[0] = static_cast<uint32_t>(key.seed);
  push.seed[1] = static_cast<uint32_t>(key.seed >> 32);
  push.name = fnv1a32(key.name);
  push.task = key.task;
  if (type.shape.size() >= 2) {
    push.rows = static_cast<uint32_t>(type.shape[type.shape.size() - 2]);
    push.columns = static_cast<uint32_t>(type.shape.back());
  }
  if (distribution.then == Then::offset) {
    push.columns = static_cast<uint32_t>(offset_run(type.shape));
    push.offsets = fnv1a32(offsets_name(key.name));
  }
  if (distribution.then == Then::softmax_last) {
    const int64_t rows = rows_of(type.shape);
    const int64_t groups = std::clamp(rows, int64_t{1}, kMostGroups);
    split = {static_cast<uint32_t>(groups), static_cast<uint32_t>((rows + groups - 1) / groups)};
    push.rows = static_cast<uint32_t>(rows);
    push.columns = static_cast<uint32_t>(type.shape.back());
    push.iterations = split.iterations;
  }
  const vulkan::Pipeline& pipeline =
      device.pipelines().get_embedded(draw_key(distribution, type.dtype));
  commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {split.groups, 1, 1});
}

void upload(vulkan::Device& device, const Tensor& tensor, const vulkan::Region& to) {
  device.upload(*to.buffer, to.offset, {tensor.raw(), static_cast<size_t>(tensor.bytes())});
}

void draw_tensor(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to) {
  if (draws_on_device(device.plan(), distribution, type)) {
    record_draw(device, commands, distribution, key, type, to);
  } else {
    upload(device, draw(distribution, key, type), to);
  }
}

void draw_halves(vulkan::Device& device, vulkan::Commands& commands, Kernels& kernels,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const HalvesAt& to) {
  if (!draws_on_device(device.plan(), distribution, type)) {  // Uploads are done at once.
    const Tensor halves = draw(distribution, key, type).converted(to.half);
    upload(device, halves, to.narrow);
    upload(device, halves.converted(type.dtype), to.wide);
    return;
  }
  record_draw(device, commands, distribution, key, type, to.wide);
  commands.barrier();
  kernels.narrow(commands, to.wide, to.narrow, to.half);
  commands.barrier();
}

}  // namespace kbench::trial
