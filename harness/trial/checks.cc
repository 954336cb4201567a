#include "harness/trial/checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "kbench/error.h"

namespace kbench::trial {
namespace {

constexpr uint64_t kSectionAlignment = 256;
constexpr uint64_t kRmsPartialBytes = 16;

/// Hands out sections of a buffer not yet made.
class Layout {
 public:
  uint64_t add(uint64_t bytes) {
    const uint64_t offset = size_;
    size_ += (bytes + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
    return offset;
  }
  uint64_t size() const { return std::max(size_, kSectionAlignment); }

 private:
  uint64_t size_ = 0;
};

template <class T>
std::span<const T> section(const vulkan::Buffer& host, uint64_t offset, size_t count) {
  return {reinterpret_cast<const T*>(host.mapped() + offset), count};
}

/// Integers repeat by chance: so many of a result's elements equal their fill though written.
double coincidences(const Fill& fill, int64_t elements) {
  if (fill.dtype != DType::i64) return 0;
  const double expected = static_cast<double>(elements) / fill.limit;
  return expected + 4 * std::sqrt(expected) + 1;
}

}  // namespace

Checks::Checks(vulkan::Device& device, Kernels& kernels, const TrialMemory& memory,
               const Graph& graph, std::vector<Watched> watched, const CheckRule& rule,
               SecretStream& secret)
    : device_(device),
      kernels_(kernels),
      graph_(graph),
      rule_(rule),
      guarded_(memory.guarded()),
      truth_(memory.outputs()),
      zone_key_(secret.next()),
      hash_key_(secret.next()) {
  Layout report, work;
  report.add(guarded_.size() * 2 * sizeof(ZoneFinding));
  for (Watched& each : watched) {
    Slot slot;
    slot.groups = split_work(words_of(each.region)).groups;
    slot.before = report.add(slot.groups * sizeof(uint64_t));
    slot.after = report.add(slot.groups * sizeof(uint64_t));
    slot.watched = std::move(each);
    slots_.push_back(std::move(slot));
  }
  for (size_t i = 0; i < memory.outputs(); ++i) {
    OutputSlot slot;
    slot.shape = graph.values()[static_cast<size_t>(graph.outputs()[i])].type.shape;
    slot.split = split_work(words_of(memory.output(i, 0).tensor()));
    slot.scale = report.add(sizeof(ScaleFinding));
    slot.findings = report.add(slot.split.groups * sizeof(CompareFinding));
    slot.partials = work.add(slot.split.groups * kRmsPartialBytes);
    outputs_.push_back(std::move(slot));
  }
  report_bytes_ = report.size();
  report_ = device.allocate(report_bytes_);
  work_ = device.allocate(work.size());
  host_ = device.allocate_host(report_bytes_);

  std::vector<uint64_t> addresses;
  for (const GuardedBuffer* buffer : guarded_) {
    for (const uint64_t address : buffer->zones()) addresses.push_back(address);
  }
  zones_ = device.allocate(addresses.size() * sizeof(uint64_t));
  device.upload(zones_, 0, std::as_bytes(std::span(addresses)));
}

void Checks::record_redzones(vulkan::Commands& commands) {
  kernels_.write_zones(commands, zones_.address(), static_cast<uint32_t>(2 * guarded_.size()),
                       kRedzoneBytes, zone_key_);
}

void Checks::record_before(vulkan::Commands& commands, bool inputs_only) {
  for (const Slot& slot : slots_) {
    if (inputs_only && !slot.watched.every_sample) continue;
    kernels_.hash(commands, slot.watched.region, hash_key_, report_.address() + slot.before);
  }
}

void Checks::record_after(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs) {
  kernels_.check_zones(commands, zones_.address(), static_cast<uint32_t>(2 * guarded_.size()),
                       kRedzoneBytes, zone_key_, report_.address());
  for (const Slot& slot : slots_) {
    kernels_.hash(commands, slot.watched.region, hash_key_, report_.address() + slot.after);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSlot& slot = outputs_[i];
    kernels_.scale(commands, outputs[i].truth, outputs[i].fill.dtype,
                   work_.address() + slot.partials, report_.address() + slot.scale);
  }
  commands.barrier();
  const bool fixed = rule_.rule == ToleranceRule::kernelbench;
  const CompareRule rule{static_cast<float>(rule_.relative),
                         fixed ? static_cast<float>(rule_.relative) : -1.0f};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSlot& slot = outputs_[i];
    kernels_.compare(commands, outputs[i].got, outputs[i].truth, outputs[i].fill, rule,
                     report_.address() + slot.scale, report_.address() + slot.findings);
  }
  commands.barrier();
  commands.copy(report_, 0, host_, 0, report_bytes_);
}

std::optional<Refusal> Checks::verdict(const std::vector<OutputCheck>& outputs, bool inputs_only) {
  // What is left of a broken run means little: the cause comes before its effects.
  if (auto refusal = check_redzones()) return refusal;
  if (auto refusal = check_watched(inputs_only)) return refusal;
  max_error_ = 0;
  std::optional<Refusal> first;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto refusal = check_output(i, outputs[i]);
    if (refusal && !first) first = std::move(refusal);
  }
  return first;
}

uint64_t Checks::sum_at(uint64_t offset, uint32_t groups) const {
  uint64_t sum = 0;
  for (const uint64_t partial : section<uint64_t>(host_, offset, groups)) sum += partial;
  return sum;
}

std::optional<Refusal> Checks::check_redzones() const {
  const auto findings = section<ZoneFinding>(host_, 0, 2 * guarded_.size());
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].changed == 0) continue;
    const bool after = i % 2 != 0;
    const uint64_t distance =
        after ? uint64_t{findings[i].first} * 4 : kRedzoneBytes - uint64_t{findings[i].first} * 4;
    return Refusal{Verdict::out_of_bounds,
                   "wrote " + std::to_string(findings[i].changed) + " words outside " +
                       guarded_[i / 2]->name() + ", the first " + std::to_string(distance) +
                       (after ? " bytes past its end" : " bytes before its start")};
  }
  return std::nullopt;
}

std::optional<Refusal> Checks::check_watched(bool inputs_only) {
  std::optional<Refusal> first;
  for (Slot& slot : slots_) {
    if (!inputs_only || slot.watched.every_sample) {
      slot.expected = sum_at(slot.before, slot.groups);
    }
    if (sum_at(slot.after, slot.groups) != slot.expected && !first) {
      first = Refusal{Verdict::input_modified,
                      slot.watched.name + " was written to; a candidate may only read it"};
    }
  }
  return first;
}

std::optional<Refusal> Checks::check_output(size_t i, const OutputCheck& output) {
  const Comparison found = comparison_of(i, output);
  if (std::isfinite(found.max_error)) max_error_ = std::max(max_error_, found.max_error);
  if (found.truth_nan > 0) {
    return Refusal{Verdict::harness_error, "the baseline's own " + graph_.output_name(i) +
                                               " holds " + std::to_string(found.truth_nan) +
                                               " NaN"};
  }
  const Verdict verdict = classify(found, rule_.relative);
  if (verdict == Verdict::passed) return std::nullopt;
  const std::string name = outputs_.size() > 1 ? graph_.output_name(i) + ": " : "";
  return Refusal{verdict, name + describe(found, outputs_[i].shape, rule_.relative)};
}

Comparison Checks::comparison_of(size_t i, const OutputCheck& output) {
  const OutputSlot& slot = outputs_[i];
  truth_[i] = section<ScaleFinding>(host_, slot.scale, 1)[0];
  Comparison found;
  found.elements = element_count(slot.shape);
  found.truth_rms = truth_[i].rms;
  found.truth_nan = truth_[i].nans;
  const DType dtype = output.fill.dtype;
  const int64_t per_quad = 16 / static_cast<int64_t>(size_of(dtype));
  const int64_t per_group = int64_t{slot.split.iterations} * 256 * per_quad;
  const auto findings = section<CompareFinding>(host_, slot.findings, slot.split.groups);
  for (size_t group = 0; group < findings.size(); ++group) {
    const CompareFinding& part = findings[group];
    found.wrong += part.wrong;
    found.not_finite += part.not_finite;
    found.zero += part.zero;
    found.untouched += part.untouched;
    found.max_error = std::max(found.max_error, static_cast<double>(part.max_error));
    if (part.wrong > 0 && found.first_wrong < 0) {
      found.first_wrong = static_cast<int64_t>(group) * per_group + part.first;
    }
  }
  if (dtype == DType::i64 && found.wrong > 0) found.max_error = INFINITY;
  if (static_cast<double>(found.untouched) <= coincidences(output.fill, found.elements) &&
      found.untouched < found.elements) {
    found.untouched = 0;
  }
  if (found.first_wrong >= 0) {
    found.first_got = element(output.got, dtype, found.first_wrong);
    found.first_expected = element(output.truth, dtype, found.first_wrong);
  }
  return found;
}

double Checks::element(const vulkan::Region& region, DType dtype, int64_t index) {
  std::array<std::byte, 8> bytes{};
  const size_t size = size_of(dtype);
  device_.download(*region.buffer, region.offset + static_cast<uint64_t>(index) * size,
                   std::span(bytes).first(size));
  if (dtype == DType::i64) {
    int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<double>(value);
  }
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace kbench::trial
