#include "harness/measure/judge/checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "harness/measure/runner/write_fault.h"

namespace kbench::judge {
namespace {

using trial::CompareSummary;
using trial::HashFinding;
using trial::ScaleFinding;
using trial::Zone;
using trial::ZoneFinding;

/// Hands out sections of a buffer not yet made.
class Sections {
 public:
  uint64_t add(uint64_t bytes) {
    constexpr uint64_t kAlignment = 256;
    const uint64_t offset = size_;
    size_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  uint64_t size() const { return std::max<uint64_t>(size_, 256); }

 private:
  uint64_t size_ = 0;
};

template <class T>
const T& at(const vulkan::Buffer& host, uint64_t offset) {
  return *reinterpret_cast<const T*>(host.mapped() + offset);
}

/// Bits of the type in the lowest place.
double value_of(DType dtype, uint64_t bits) {
  if (is_half(dtype)) return from_half(static_cast<uint16_t>(bits), dtype);
  if (dtype == DType::i64) return static_cast<double>(static_cast<int64_t>(bits));
  if (dtype == DType::boolean) return static_cast<double>(bits & 0xff);
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

/// How many elements of a right result equal the value that they were filled with by chance. Not
/// negligible for a large result, even of float32, whose fills have 2^24 values. The fill is secret
/// and drawn anew for every element: an element of a result, of any value, equals it with a chance
/// of at most one in the number of values that a fill may have.
double coincidences(const trial::Fill& fill, int64_t elements) {
  constexpr double kFloats = 1 << 24;
  if (is_half(fill.dtype)) {
    // More than this in one trial of 10^9 at most: Bernstein's bound of a binomial sum.
    const double expected =
        static_cast<double>(elements) / (fill.dtype == DType::f16 ? 1 << 11 : 1 << 8);
    return expected + 6.5 * std::sqrt(expected) + 14;
  }
  const bool integers = fill.dtype == DType::i64;
  const double expected = static_cast<double>(elements) / (integers ? fill.limit : kFloats);
  return expected + 4 * std::sqrt(expected) + (integers ? 1 : 0);
}

}  // namespace

Checks::Checks(Workspace& workspace, trial::Kernels& kernels, const Redzones& redzones,
               const Graph& graph, std::vector<Watched> watched, const CheckRule& rule,
               trial::SecretStream& secret)
    : space_(workspace),
      kernels_(kernels),
      redzones_(redzones),
      graph_(graph),
      rule_(rule),
      secret_(secret),
      truth_(graph.outputs().size()),
      pieces_(static_cast<uint32_t>(redzones.pieces().size())) {
  const std::vector<uint64_t> keys = trial::draw_hash_keys(secret);
  upload(space_.hash_table, std::as_bytes(std::span(keys)));
  upload(space_.zones, std::as_bytes(std::span(redzones.pieces())));
  for (Watched& each : watched) {
    watched_.push_back({std::move(each), hash_bytes_});
    hash_bytes_ += trial::hash_bytes(watched_.back().watched.region);
  }
  Sections report, work;
  zone_summary_ = report.add(sizeof(ZoneFinding));
  hash_finding_ = report.add(sizeof(HashFinding));
  zone_findings_ = work.add(redzones.pieces().size() * sizeof(ZoneFinding));
  before_ = work.add(hash_bytes_);
  after_ = work.add(hash_bytes_);
  for (const int id : graph.outputs()) {
    const TensorType& type = graph.value(id).type;
    const vulkan::Region region{nullptr, 0,
                                std::max<uint64_t>(static_cast<uint64_t>(type.bytes()), 4)};
    Output output;
    output.shape = type.shape;
    output.truth_type = type.dtype;
    output.scale = report.add(sizeof(ScaleFinding));
    output.summary = report.add(sizeof(CompareSummary));
    output.scale_work = work.add(trial::reduction_bytes(region));
    output.compare_work = work.add(trial::reduction_bytes(region));
    outputs_.push_back(std::move(output));
  }
  report_bytes_ = report.size();
  space_.reserve(space_.report, report_bytes_);
  space_.reserve(space_.work, work.size());
  space_.reserve_host(space_.host, report_bytes_);
}

void Checks::upload(vulkan::Buffer& buffer, std::span<const std::byte> bytes) {
  space_.reserve(buffer, bytes.size());
  space_.device.upload(buffer, 0, bytes);
}

void Checks::record_redzones(vulkan::Commands& commands) {
  zone_key_ = secret_.next();
  kernels_.write_zones(commands, space_.zones.address(), pieces_, zone_key_);
}

void Checks::record_hashes(vulkan::Commands& commands, bool inputs_only) {
  for (const WatchedHashes& each : watched_) {
    if (inputs_only && !each.watched.every_sample) continue;
    kernels_.hash(commands, each.watched.region, space_.hash_table.address(),
                  space_.work.address() + before_ + each.hashes);
  }
}

void Checks::record_guards(vulkan::Commands& commands) {
  const uint64_t report = space_.report.address(), work = space_.work.address();
  for (const WatchedHashes& each : watched_) {
    kernels_.hash(commands, each.watched.region, space_.hash_table.address(),
                  work + after_ + each.hashes);
  }
  kernels_.check_zones(commands, space_.zones.address(), pieces_, zone_key_, work + zone_findings_,
                       report + zone_summary_);
  commands.barrier();
  if (hash_bytes_ > 0) {
    kernels_.compare_hashes(commands, work + before_, work + after_, hash_bytes_ / sizeof(uint64_t),
                            report + hash_finding_);
    commands.barrier();
  }
  commands.copy(space_.report, 0, space_.host, 0, report_bytes_);
}

std::optional<Finding> Checks::guards() {
  // In the order of cause and effect: what comes later may follow from what comes first.
  if (auto finding = check_redzones()) return finding;
  return check_watched();
}

void Checks::record_truth(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    kernels_.scale(commands, outputs[i].truth, outputs_[i].truth_type,
                   space_.work.address() + outputs_[i].scale_work,
                   space_.report.address() + outputs_[i].scale);
  }
}

void Checks::record_outputs(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs) {
  record_comparison(commands, outputs, false);
}

void Checks::record_comparison(vulkan::Commands& commands, const std::vector<OutputCheck>& outputs,
                               bool count_untouched) {
  commands.barrier();
  const bool fixed = rule_.rule == ToleranceRule::kernelbench;
  const auto relative = static_cast<float>(rule_.bounds.relative);
  const trial::CompareRule rule{relative, fixed ? relative : -1.0f};
  const uint64_t report = space_.report.address();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = outputs_[i];
    kernels_.compare(commands, outputs[i].got, outputs[i].truth, outputs[i].fill, rule,
                     report + output.scale, space_.work.address() + output.compare_work,
                     report + output.summary,
                     count_untouched && outputs[i].fill.contents == trial::Contents::plausible);
  }
  commands.barrier();
  commands.copy(space_.report, 0, space_.host, 0, report_bytes_);
}

std::optional<Finding> Checks::outputs(vulkan::Commands& commands,
                                       const std::vector<OutputCheck>& outputs) {
  const bool wrong = std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
    return at<CompareSummary>(space_.host, output.summary).wrong > 0;
  });
  if (wrong) {
    commands.begin();
    record_comparison(commands, outputs, true);
    constexpr double kSeconds = 300;
    commands.submit_and_wait(kSeconds);
  }
  max_error_ = 0;
  std::optional<Finding> first;
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto finding = check_output(i, outputs[i]);
    if (finding && !first) first = std::move(finding);
  }
  return first;
}

std::optional<Finding> Checks::check_redzones() {
  const ZoneFinding all = at<ZoneFinding>(space_.host, zone_summary_);
  if (all.changed == 0) return std::nullopt;
  ZoneFinding piece{};
  space_.device.download(space_.work, zone_findings_ + all.first * sizeof piece,
                         std::as_writable_bytes(std::span(&piece, 1)));
  return Finding{Verdict::out_of_bounds, redzones_.describe(all.first, piece)};
}

std::optional<Finding> Checks::check_watched() const {
  const HashFinding found = at<HashFinding>(space_.host, hash_finding_);
  if (hash_bytes_ == 0 || found.changed == 0) return std::nullopt;
  const WatchedHashes* changed = nullptr;
  for (const WatchedHashes& each : watched_) {
    if (each.hashes <= uint64_t{found.first} * sizeof(uint64_t)) changed = &each;
  }
  return Finding{Verdict::input_modified, changed->watched.name + runner::kWrittenTo};
}

std::optional<Finding> Checks::check_output(size_t i, const OutputCheck& output) {
  if (output.filled && at<CompareSummary>(space_.host, outputs_[i].summary).behind != 0) {
    return Finding{Verdict::out_of_bounds,
                   "wrote to the two bytes behind " + graph_.output_name(i)};
  }
  const Comparison found = comparison_of(i, output);
  if (std::isfinite(found.max_error)) max_error_ = std::max(max_error_, found.max_error);
  if (found.truth_nan > 0) {
    return Finding{Verdict::harness_error,
                   "the task's right values are no numbers: " + graph_.output_name(i) + " holds " +
                       std::to_string(found.truth_nan) +
                       " NaN; kbench task check FILE says which operator makes them, if they come "
                       "at preset smoke"};
  }
  const Verdict verdict = classify(found, rule_.bounds);
  if (verdict == Verdict::passed) return std::nullopt;
  const std::string name = outputs_.size() > 1 ? graph_.output_name(i) + ": " : "";
  return Finding{verdict, name + describe(found, outputs_[i].shape, rule_.bounds)};
}

Comparison Checks::comparison_of(size_t i, const OutputCheck& output) {
  truth_[i] = at<ScaleFinding>(space_.host, outputs_[i].scale);
  const auto& summary = at<CompareSummary>(space_.host, outputs_[i].summary);
  const DType dtype = output.fill.dtype;
  Comparison found;
  found.elements = element_count(outputs_[i].shape);
  found.truth_rms = truth_[i].rms;
  found.truth_nan = truth_[i].nans;
  found.wrong = static_cast<int64_t>(summary.wrong);
  found.not_finite = static_cast<int64_t>(summary.not_finite);
  found.zero = static_cast<int64_t>(summary.zero);
  found.untouched = static_cast<int64_t>(summary.untouched);
  found.max_error = summary.max_error;
  if (dtype == DType::i64 && found.wrong > 0) found.max_error = INFINITY;
  found.set_rms(summary.squares, rule_.bounds, rule_.rule);
  if (static_cast<double>(found.untouched) <= coincidences(output.fill, found.elements) &&
      found.untouched < found.elements) {
    found.untouched = 0;
  }
  if (found.wrong > 0) {
    found.first_wrong = static_cast<int64_t>(summary.first);
    found.first_got = value_of(dtype, summary.got);
    found.first_expected = value_of(outputs_[i].truth_type, summary.expected);
  }
  return found;
}

bool is_of_values(const Finding& finding) {
  return finding.verdict != Verdict::out_of_bounds && finding.verdict != Verdict::input_modified &&
         finding.verdict != Verdict::harness_error;
}

void tell_contents(trial::Contents contents, Finding& finding) {
  if (!is_of_values(finding)) return;
  if (contents == trial::Contents::zeros) {
    finding.message += "; what it had not written held zeros";
  } else if (contents == trial::Contents::small) {
    finding.message += "; what it had not written held small integers, mostly 1";
  }
}

}  // namespace kbench::judge
