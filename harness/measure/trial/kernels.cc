#include "harness/measure/trial/kernels.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "harness/measure/trial/device_draw.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

constexpr uint64_t kGroupsWanted = 2048;  ///< enough to fill a large GPU
constexpr uint64_t kMaxIterations = 256;  ///< software devices cut long loops short
constexpr uint64_t kMaxWords = uint64_t{1} << 34;
constexpr uint64_t kReductionBytes = 48;  ///< of a workgroup, as in the shaders

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
    case DType::i32:
    case DType::u32:
    case DType::u8:
      return 6;
  }
  return 0;
}

bool is_integer(DType dtype) {
  if (dtype != DType::f32 && dtype != DType::i64 && !is_half(dtype)) {
    throw Error(ErrorCode::kUnsupported, "an output of type " + std::string(name_of(dtype)) +
                                             " cannot be compared on the device");
  }
  return dtype == DType::i64;
}

/// HALF of trial_half.glsl; nothing for other types.
void add_half(vulkan::Macros& macros, DType dtype) {
  if (is_half(dtype)) macros.emplace_back("HALF", dtype == DType::f16 ? "1" : "2");
}

uint64_t blocks_of(uint64_t words) { return (words + kHashBlockWords - 1) / kHashBlockWords; }

}  // namespace

WorkSplit split_work(uint64_t words) {
  if (words > kMaxWords) {
    throw Error(ErrorCode::kUnsupported, "a tensor of more than 64 GiB");
  }
  const uint64_t quads = std::max<uint64_t>((words + 3) / 4, 1);
  const uint64_t threads = kGroupThreads * kGroupsWanted;
  const uint64_t iterations =
      std::clamp<uint64_t>((quads + threads - 1) / threads, 1, kMaxIterations);
  const uint64_t per_group = iterations * kGroupThreads;
  return {static_cast<uint32_t>((quads + per_group - 1) / per_group),
          static_cast<uint32_t>(iterations)};
}

uint64_t reduction_bytes(const vulkan::Region& region) {
  return split_work(words_of(region)).groups * kReductionBytes;
}

template <class Push>
void Kernels::launch(vulkan::Commands& commands, const char* file, const vulkan::Macros& macros,
                     const Push& push, uint32_t groups) {
  const vulkan::EmbeddedKey key{file, macros, static_cast<uint32_t>(sizeof(Push)), 0};
  if (collected_) {
    collected_->push_back(key);
    return;
  }
  const vulkan::Pipeline& pipeline = device_.pipelines().get_embedded(key);
  commands.dispatch(pipeline, {}, std::as_bytes(std::span(&push, 1)), {groups, 1, 1});
}

namespace {
struct FillPush {
  uint64_t base, words;
  std::array<uint32_t, 2> key;
  uint32_t iterations, kind;
  float scale;
  uint32_t limit, contents, unused;
};
}  // namespace

Contents outputs_contents(int sample) {
  const Contents contents = temporaries_contents(sample);
  return contents == Contents::mixed ? Contents::plausible : contents;
}

Contents temporaries_contents(int sample) {
  constexpr int kLast = std::size(kAllContents) - 1;
  return kAllContents[std::clamp(sample, 0, kLast)];
}

void Kernels::fill(vulkan::Commands& commands, const vulkan::Region& region, const Fill& fill) {
  const uint64_t words = words_of(region);
  const WorkSplit split = split_work(words);
  launch(
      commands, "trial_fill.comp", {},
      FillPush{region.address(), words, halves(fill.key), split.iterations, fill_kind(fill.dtype),
               fill.scale, fill.limit, static_cast<uint32_t>(fill.contents), 0},
      split.groups);
}

void Kernels::overwrite_stacks(vulkan::Commands& commands, const vulkan::Region& scratch,
                               uint64_t key) {
  struct Push {
    uint64_t base;
    std::array<uint32_t, 2> key;
  };
  // Some times as many as can run at once on the largest GPU: each place gets one.
  constexpr uint32_t kGroups = 4096;
  launch(commands, "trial_stacks.comp",
         {{"STACK_WORDS", std::to_string(kStackBytes / sizeof(uint32_t)) + "u"}},
         Push{scratch.address(), halves(key)}, device_.snapshot().software() ? 1 : kGroups);
}

void Kernels::flush(vulkan::Commands& commands, const vulkan::Region& region, uint64_t key) {
  struct Push {
    uint64_t base, words;
    std::array<uint32_t, 2> key;
    uint32_t iterations, unused;
  };
  // On a software device a fill is much faster than a kernel and takes over most of the region.
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

uint64_t hash_bytes(const vulkan::Region& region) {
  return blocks_of(words_of(region)) * sizeof(uint64_t);
}

std::vector<uint64_t> draw_hash_keys(SecretStream& secret) {
  std::vector<uint64_t> keys(kHashBlockWords);
  for (uint64_t& key : keys) {
    do {
      key = secret.next() & kHashPrime;  // 61 bits; the largest value is out of range
    } while (key == kHashPrime);
  }
  return keys;
}

void Kernels::hash(vulkan::Commands& commands, const vulkan::Region& region, uint64_t table,
                   uint64_t hashes) {
  struct Push {
    uint64_t base, words, table, hashes;
  };
  constexpr uint64_t kBlocksAtOnce = 4;  // as in the shader
  constexpr uint64_t kGroupWords = kBlocksAtOnce * kHashBlockWords;
  const uint64_t most = device_.snapshot().max_group_count[0];
  uint64_t words = words_of(region);
  uint64_t base = region.address();
  while (words > 0) {
    const uint64_t groups = std::min((words + kGroupWords - 1) / kGroupWords, most);
    const uint64_t part = std::min(words, groups * kGroupWords);
    launch(commands, "trial_hash.comp", {}, Push{base, part, table, hashes},
           static_cast<uint32_t>(groups));
    words -= part;
    base += part * sizeof(uint32_t);
    hashes += groups * kBlocksAtOnce * sizeof(uint64_t);
  }
}

void Kernels::compare_hashes(vulkan::Commands& commands, uint64_t before, uint64_t after,
                             uint64_t count, uint64_t finding) {
  struct Push {
    uint64_t before, after, count, finding;
  };
  const Push push{before, after, count, finding};
  launch(commands, "trial_hash_compare.comp", {{"START", "1"}}, push, 1);
  commands.barrier();
  const uint64_t groups = std::max<uint64_t>((count + kGroupThreads - 1) / kGroupThreads, 1);
  launch(commands, "trial_hash_compare.comp", {}, push, static_cast<uint32_t>(groups));
}

void append_zone(std::vector<Zone>& zones, uint64_t address, uint64_t words) {
  while (words > 0) {
    const uint64_t part = std::min<uint64_t>(words, kZoneWords);
    zones.push_back({address, static_cast<uint32_t>(part), 0});
    address += part * sizeof(uint32_t);
    words -= part;
  }
}

namespace {
struct ZonePush {
  uint64_t table, findings, summary;
  std::array<uint32_t, 2> key;
  uint32_t first, count;
};

void hold_to_limit(uint32_t zones) {
  if (zones > kMaxZones) {
    throw Error(ErrorCode::kUnsupported, "redzones in " + std::to_string(zones) + " pieces");
  }
}
}  // namespace

void Kernels::write_zones(vulkan::Commands& commands, uint64_t table, uint32_t count,
                          uint64_t key) {
  hold_to_limit(count);
  const uint32_t most = device_.snapshot().max_group_count[0];
  for (uint32_t first = 0; first < count; first += std::min(count - first, most)) {
    launch(commands, "trial_guard.comp", {}, ZonePush{table, 0, 0, halves(key), first, count},
           std::min(count - first, most));
  }
}

void Kernels::check_zones(vulkan::Commands& commands, uint64_t table, uint32_t count, uint64_t key,
                          uint64_t findings, uint64_t summary) {
  hold_to_limit(count);
  const uint32_t most = device_.snapshot().max_group_count[0];
  ZonePush push{table, findings, summary, halves(key), 0, count};
  for (; push.first < count; push.first += std::min(count - push.first, most)) {
    launch(commands, "trial_guard.comp", {{"CHECK", "1"}}, push,
           std::min(count - push.first, most));
  }
  commands.barrier();
  launch(commands, "trial_guard.comp", {{"FINAL", "1"}}, push, 1);
}

void Kernels::scale(vulkan::Commands& commands, const vulkan::Region& truth, DType dtype,
                    uint64_t work, uint64_t scale) {
  struct Push {
    uint64_t base, words, work, scale;
    uint32_t iterations, groups;
  };
  const uint64_t words = words_of(truth);
  const WorkSplit split = split_work(words);
  const Push push{truth.address(), words, work, scale, split.iterations, split.groups};
  vulkan::Macros macros;
  if (device_.plan().float64) macros.emplace_back("FLOAT64", "1");
  if (is_integer(dtype)) macros.emplace_back("INTEGER", "1");
  launch(commands, "trial_rms.comp", macros, push, split.groups);
  commands.barrier();
  macros.emplace_back("FINAL", "1");
  launch(commands, "trial_rms.comp", macros, push, 1);
}

void Kernels::narrow(vulkan::Commands& commands, const vulkan::Region& wide,
                     const vulkan::Region& narrow, DType dtype) {
  struct Push {
    uint64_t wide, narrow, elements;
    uint32_t iterations, unused;
  };
  const WorkSplit split = split_work(words_of(narrow));
  vulkan::Macros macros;
  add_half(macros, dtype);
  launch(commands, "trial_narrow.comp", macros,
         Push{wide.address(), narrow.address(), wide.size / sizeof(float), split.iterations, 0},
         split.groups);
}

void Kernels::compare(vulkan::Commands& commands, const vulkan::Region& got,
                      const vulkan::Region& truth, const Fill& fill, const CompareRule& rule,
                      uint64_t scale, uint64_t work, uint64_t summary, bool count_untouched) {
  struct Push {
    uint64_t got, truth, words, scale, work;
    std::array<uint32_t, 2> key;
    uint32_t iterations, limit;
    float fill_scale, relative, absolute;
    uint32_t odd, contents, unused;
  };
  const uint64_t words = words_of(got);
  const WorkSplit split = split_work(words);
  vulkan::Macros macros;
  const DType dtype = fill.dtype;
  if (is_integer(dtype)) macros.emplace_back("INTEGER", "1");
  add_half(macros, dtype);
  const uint32_t odd = is_half(dtype) ? truth.size / sizeof(float) % 2 : 0;
  if (count_untouched) macros.emplace_back("UNTOUCHED", "1");
  launch(commands, "trial_compare.comp", macros,
         Push{got.address(), truth.address(), words, scale, work, halves(fill.key),
              split.iterations, fill.limit, fill.scale, rule.relative, rule.absolute, odd,
              static_cast<uint32_t>(fill.contents), 0},
         split.groups);
  commands.barrier();
  const uint32_t per_quad = 16 / static_cast<uint32_t>(size_of(dtype));
  sum_findings(commands, work, split.groups, split.iterations * kGroupThreads * per_quad, summary);
}

void Kernels::sum_findings(vulkan::Commands& commands, uint64_t findings, uint32_t groups,
                           uint32_t elements, uint64_t summary) {
  static_assert(sizeof(CompareFinding) == kReductionBytes);
  struct Push {
    uint64_t findings, summary;
    uint32_t groups, elements;
  };
  launch(commands, "trial_compare_sum.comp", {}, Push{findings, summary, groups, elements}, 1);
}

void Kernels::prepare() {
  std::vector<vulkan::EmbeddedKey> keys;
  collected_ = &keys;
  vulkan::Buffer buffer = device_.allocate(kGroupThreads);
  const vulkan::Region region{&buffer, 0, buffer.size()};
  vulkan::Commands commands(device_);
  commands.begin();
  fill(commands, region, {});
  hash(commands, region, buffer.address(), buffer.address());
  compare_hashes(commands, buffer.address(), buffer.address(), 1, buffer.address());
  write_zones(commands, buffer.address(), 1, 0);
  check_zones(commands, buffer.address(), 1, 0, buffer.address(), buffer.address());
  scale(commands, region, DType::f32, buffer.address(), buffer.address());
  compare(commands, region, region, {}, {}, buffer.address(), buffer.address(), buffer.address(),
          false);
  collected_ = nullptr;
  for (const auto kind : {Distribution::Kind::uniform, Distribution::Kind::normal}) {
    Distribution distribution;
    distribution.kind = kind;
    const TensorType type{DType::f32, {1}};
    if (draws_on_device(device_.plan(), distribution, type)) {
      keys.push_back(draw_key(distribution, type.dtype));
    }
  }
  device_.pipelines().prepare({}, keys);
}

}  // namespace kbench::trial
