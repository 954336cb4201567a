#include "harness/trial/kernels.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "kbench/error.h"

namespace kbench::trial {
namespace {

constexpr uint32_t kThreads = 256;
constexpr uint64_t kGroupsWanted = 2048;  ///< enough to fill a large GPU
constexpr uint64_t kMaxIterations = 256;  ///< software devices cut long loops short

std::array<uint32_t, 2> halves(uint64_t key) {
  return {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
}

/// The fill kinds of trial_common.glsl.
uint32_t fill_kind(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0;
    case DType::i64:
      return 1;
    case DType::f16:
      return 2;
    case DType::bf16:
      return 3;
    case DType::boolean:
      return 4;
    case DType::f64:
      return 5;
  }
  return 0;
}

bool is_integer(DType dtype) {
  if (dtype != DType::f32 && dtype != DType::i64) {
    throw Error(ErrorCode::kUnsupported, "an output of type " + std::string(name_of(dtype)) +
                                             " cannot be compared on the device");
  }
  return dtype == DType::i64;
}

}  // namespace

WorkSplit split_work(uint64_t words) {
  const uint64_t quads = std::max<uint64_t>((words + 3) / 4, 1);
  const uint64_t threads = kThreads * kGroupsWanted;
  const uint64_t iterations =
      std::clamp<uint64_t>((quads + threads - 1) / threads, 1, kMaxIterations);
  const uint64_t per_group = iterations * kThreads;
  return {static_cast<uint32_t>((quads + per_group - 1) / per_group),
          static_cast<uint32_t>(iterations)};
}

template <class Push>
void Kernels::launch(vulkan::Commands& commands, const char* file, const vulkan::Macros& macros,
                     const Push& push, uint32_t groups) {
  const vulkan::Pipeline& pipeline =
      device_.pipelines().get_embedded({file, macros, static_cast<uint32_t>(sizeof(Push)), 0});
  commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {groups, 1, 1});
}

namespace {
struct FillPush {
  uint64_t base, words;
  std::array<uint32_t, 2> key;
  uint32_t iterations, kind;
  float scale;
  uint32_t limit;
};
}  // namespace

void Kernels::fill(vulkan::Commands& commands, const vulkan::Region& region, const Fill& fill) {
  const uint64_t words = words_of(region);
  const WorkSplit split = split_work(words);
  launch(commands, "trial_fill.comp", {},
         FillPush{region.address(), words, halves(fill.key), split.iterations,
                  fill_kind(fill.dtype), fill.scale, fill.limit},
         split.groups);
}

void Kernels::mask(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key) {
  const uint64_t words = words_of(region);
  const WorkSplit split = split_work(words);
  launch(commands, "trial_fill.comp", {{"XOR", "1"}},
         FillPush{region.address(), words, halves(key), split.iterations, 0, 0, 0}, split.groups);
}

void Kernels::flush(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key) {
  struct Push {
    uint64_t base, words;
    std::array<uint32_t, 2> key;
    uint32_t iterations, unused;
  };
  // A software device takes its time over a kernel; there a plain fill does for most of it.
  constexpr uint64_t kSoftwarePart = 1 << 20;
  vulkan::Region part = region;
  if (device_.snapshot().software() && region.size > kSoftwarePart) {
    part.size = kSoftwarePart;
    commands.fill(*region.buffer, region.offset + part.size, (region.size - part.size) & ~3ull,
                  static_cast<uint32_t>(key));
  }
  const uint64_t words = words_of(part);
  const WorkSplit split = split_work(words);
  const uint32_t shared_quads = std::max(device_.snapshot().max_shared_memory, 4096u) / 16;
  launch(commands, "trial_flush.comp", {{"SHARED_QUADS", std::to_string(shared_quads) + "u"}},
         Push{part.address(), words, halves(key), split.iterations, 0}, split.groups);
}

void Kernels::hash(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key,
                   uint64_t partials) {
  struct Push {
    uint64_t base, words, partials, key;
    uint32_t iterations, unused;
  };
  const uint64_t words = words_of(region);
  const WorkSplit split = split_work(words);
  launch(commands, "trial_hash.comp", {},
         Push{region.address(), words, partials, key, split.iterations, 0}, split.groups);
}

namespace {
struct ZonePush {
  uint64_t table, findings;
  std::array<uint32_t, 2> key;
  uint32_t words, unused;
};
}  // namespace

void Kernels::write_zones(vulkan::Commands& commands, uint64_t table, uint32_t zones,
                          uint32_t zone_bytes, uint64_t key) {
  launch(commands, "trial_guard.comp", {}, ZonePush{table, 0, halves(key), zone_bytes / 4, 0},
         zones);
}

void Kernels::check_zones(vulkan::Commands& commands, uint64_t table, uint32_t zones,
                          uint32_t zone_bytes, uint64_t key, uint64_t findings) {
  launch(commands, "trial_guard.comp", {{"CHECK", "1"}},
         ZonePush{table, findings, halves(key), zone_bytes / 4, 0}, zones);
}

void Kernels::scale(vulkan::Commands& commands, const vulkan::Region& truth, DType dtype,
                    uint64_t partials, uint64_t scale) {
  struct Push {
    uint64_t base, words, partials, scale;
    uint32_t iterations, groups;
  };
  const uint64_t words = words_of(truth);
  const WorkSplit split = split_work(words);
  const Push push{truth.address(), words, partials, scale, split.iterations, split.groups};
  vulkan::Macros macros;
  if (device_.plan().float64) macros.emplace_back("FLOAT64", "1");
  if (is_integer(dtype)) macros.emplace_back("INTEGER", "1");
  launch(commands, "trial_rms.comp", macros, push, split.groups);
  commands.barrier();
  macros.emplace_back("FINAL", "1");
  launch(commands, "trial_rms.comp", macros, push, 1);
}

void Kernels::compare(vulkan::Commands& commands, const vulkan::Region& got,
                      const vulkan::Region& truth, const Fill& fill, const CompareRule& rule,
                      uint64_t scale, uint64_t findings) {
  struct Push {
    uint64_t got, truth, words, scale, findings;
    std::array<uint32_t, 2> key;
    uint32_t iterations, limit;
    float fill_scale, relative, absolute;
    uint32_t unused;
  };
  const uint64_t words = words_of(got);
  const WorkSplit split = split_work(words);
  vulkan::Macros macros;
  if (is_integer(fill.dtype)) macros.emplace_back("INTEGER", "1");
  launch(commands, "trial_compare.comp", macros,
         Push{got.address(), truth.address(), words, scale, findings, halves(fill.key),
              split.iterations, fill.limit, fill.scale, rule.relative, rule.absolute, 0},
         split.groups);
}

}  // namespace kbench::trial
