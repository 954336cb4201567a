#include "harness/trial/checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "kbench/error.h"

namespace kbench::trial {
namespace {

constexpr uint64_t kSectionAlignment = 256;

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

double value_of(DType dtype, uint64_t bits) {
  if (dtype == DType::i64) return static_cast<double>(static_cast<int64_t>(bits));
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
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
      hash_table_(make_hash_table(device, secret)) {
  static_assert(kRedzoneBytes / sizeof(uint32_t) <= kZoneWords);
  std::vector<Zone> zones;
  for (const GuardedBuffer* buffer : guarded_) {
    for (const uint64_t address : buffer->zones()) {
      append_zone(zones, address, kRedzoneBytes / sizeof(uint32_t));
    }
  }
  pieces_ = static_cast<uint32_t>(zones.size());
  zones_ = device.allocate(zones.size() * sizeof(Zone));
  device.upload(zones_, 0, std::as_bytes(std::span(zones)));

  for (Watched& each : watched) {
    slots_.push_back({std::move(each), hash_bytes_});
    hash_bytes_ += hash_bytes(slots_.back().watched.region);
  }
  Layout report, work;
  zone_summary_ = report.add(sizeof(ZoneFinding));
  hash_finding_ = report.add(sizeof(HashFinding));
  zone_findings_ = work.add(zones.size() * sizeof(ZoneFinding));
  before_ = work.add(hash_bytes_);
  after_ = work.add(hash_bytes_);
  for (size_t i = 0; i < memory.outputs(); ++i) {
    const vulkan::Region region = memory.output(i, 0).tensor();
    OutputSlot slot;
    slot.shape = graph.values()[static_cast<size_t>(graph.outputs()[i])].type.shape;
    slot.scale = report.add(sizeof(ScaleFinding));
    slot.summary = report.add(sizeof(CompareSummary));
    slot.scale_work = work.add(reduction_bytes(region));
    slot.compare_work = work.add(reduction_bytes(region));
    outputs_.push_back(std::move(slot));
  }
  report_bytes_ = report.size();
  report_ = device.allocate(report_bytes_);
  work_ = device.allocate(work.size());
  host_ = device.allocate_host(report_bytes_);
}

void Checks::record_redzones(vulkan::Commands& commands) {
  kernels_.write_zones(commands, zones_.address(), pieces_, zone_key_);
}

void Checks::record_before(vulkan::Commands& commands, bool inputs_only) {
  for (const Slot& slot : slots_) {
    if (inputs_only && !slot.watched.every_sample) continue;
    kernels_.hash(commands, slot.watched.region, hash_table_.address(),
                  work_.address() + before_ + slot.hashes);
  }
}

void Checks::record_after(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs) {
  const uint64_t report = report_.address(), work = work_.address();
  for (const Slot& slot : slots_) {
    kernels_.hash(commands, slot.watched.region, hash_table_.address(),
                  work + after_ + slot.hashes);
  }
  kernels_.check_zones(commands, zones_.address(), pieces_, zone_key_, work + zone_findings_,
                       report + zone_summary_);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSlot& slot = outputs_[i];
    kernels_.scale(commands, outputs[i].truth, outputs[i].fill.dtype, work + slot.scale_work,
                   report + slot.scale);
  }
  commands.barrier();
  kernels_.compare_hashes(commands, work + before_, work + after_, hash_bytes_ / sizeof(uint64_t),
                          report + hash_finding_);
  const bool fixed = rule_.rule == ToleranceRule::kernelbench;
  const CompareRule rule{static_cast<float>(rule_.relative),
                         fixed ? static_cast<float>(rule_.relative) : -1.0f};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSlot& slot = outputs_[i];
    kernels_.compare(commands, outputs[i].got, outputs[i].truth, outputs[i].fill, rule,
                     report + slot.scale, work + slot.compare_work, report + slot.summary);
  }
  commands.barrier();
  commands.copy(report_, 0, host_, 0, report_bytes_);
}

std::optional<Refusal> Checks::verdict(const std::vector<OutputCheck>& outputs) {
  // What is left of a broken run means little: the cause comes before its effects.
  if (auto refusal = check_redzones()) return refusal;
  if (auto refusal = check_watched()) return refusal;
  max_error_ = 0;
  std::optional<Refusal> first;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto refusal = check_output(i, outputs[i]);
    if (refusal && !first) first = std::move(refusal);
  }
  return first;
}

std::optional<Refusal> Checks::check_redzones() const {
  const ZoneFinding all = section<ZoneFinding>(host_, zone_summary_, 1)[0];
  if (all.changed == 0) return std::nullopt;
  ZoneFinding piece{};
  device_.download(work_, zone_findings_ + all.first * sizeof piece,
                   std::as_writable_bytes(std::span(&piece, 1)));
  const bool after = all.first % 2 != 0;
  const uint64_t place = uint64_t{piece.first} * sizeof(uint32_t);
  return Refusal{Verdict::out_of_bounds,
                 "wrote " + std::to_string(piece.changed) + " words outside " +
                     guarded_[all.first / 2]->name() + ", the first " +
                     std::to_string(after ? place : kRedzoneBytes - place) +
                     (after ? " bytes past its end" : " bytes before its start")};
}

std::optional<Refusal> Checks::check_watched() const {
  const HashFinding found = section<HashFinding>(host_, hash_finding_, 1)[0];
  if (found.changed == 0) return std::nullopt;
  const Slot* changed = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.hashes <= found.first * sizeof(uint64_t)) changed = &slot;
  }
  return Refusal{Verdict::input_modified,
                 changed->watched.name + " was written to; a candidate may only read it"};
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
  const CompareSummary summary = section<CompareSummary>(host_, slot.summary, 1)[0];
  found.wrong = static_cast<int64_t>(summary.wrong);
  found.not_finite = static_cast<int64_t>(summary.not_finite);
  found.zero = static_cast<int64_t>(summary.zero);
  found.untouched = static_cast<int64_t>(summary.untouched);
  found.max_error = summary.max_error;
  if (dtype == DType::i64 && found.wrong > 0) found.max_error = INFINITY;
  if (static_cast<double>(found.untouched) <= coincidences(output.fill, found.elements) &&
      found.untouched < found.elements) {
    found.untouched = 0;
  }
  if (found.wrong > 0) {
    found.first_wrong = static_cast<int64_t>(summary.first);
    found.first_got = value_of(dtype, summary.got);
    found.first_expected = value_of(dtype, summary.expected);
  }
  return found;
}

}  // namespace kbench::trial
