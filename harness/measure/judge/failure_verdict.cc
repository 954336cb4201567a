#include "harness/measure/judge/failure_verdict.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::judge {

namespace {

Verdict verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTimeout:
      return Verdict::timeout;
    case ErrorCode::kDeviceLost:
      return Verdict::device_lost;
    case ErrorCode::kOutOfMemory:
      return Verdict::out_of_memory;
    case ErrorCode::kCompile:
      return Verdict::compile_error;
    case ErrorCode::kUnsupported:
      return Verdict::unsupported;
    default:
      return Verdict::harness_error;
  }
}

/// Names the limit that was set; the judge waits longer, for the answer to arrive.
std::string over_limit(const RunnerState& state, const std::string& otherwise) {
  if (state.stage == "load") return otherwise;
  return "took longer than " + number_text(state.limit.seconds) + " s";
}

/// Names the kernels that timed out, and the program's flag that sets the limit.
std::string of_limit(const RunnerState& state) {
  if (state.stage == "load") return "";
  const std::string limit = "; " + state.limit.set_by + " sets the limit";
  if (state.stage == "compile") return limit;
  constexpr size_t kNamed = 4;
  if (state.kernels.empty()) return limit;
  const auto name = [](const std::string& kernel) { return shown(kernel, 60); };
  return (state.kernels.size() == 1 ? ", kernel " : ", one of its kernels ") +
         listed(state.kernels, name, kNamed) + limit;
}

/// A write to read-only memory that the runner of a software device reports of itself.
Finding written_to(const RunnerFailure& failure, const Graph* graph) {
  using Place = runner::WriteFault::Place;
  const auto index = static_cast<size_t>(failure.given);
  const bool known = graph != nullptr && failure.given >= 0 && index < graph->values().size();
  const std::string name = known ? name_of_given(graph->values()[index]) : "an input";
  if (failure.place == Place::inside) return {Verdict::input_modified, name + runner::kWrittenTo};
  return {Verdict::out_of_bounds,
          "wrote outside " + name + ", the first " + std::to_string(failure.bytes) +
              (failure.place == Place::behind ? " bytes past its end" : " bytes before its start")};
}

/// Of operators that many know by an approximation: what the task takes for them. Empty where it
/// has none.
std::string formulas_of(const Graph& graph) {
  constexpr std::string_view kApproximated[] = {"gelu"};
  std::string text;
  for (const Graph::Node& node : graph.nodes()) {
    const Operator& op = *node.call.op;
    if (std::ranges::find(kApproximated, op.name) == std::end(kApproximated)) continue;
    const std::string one = "; the task's " + op.name + " is " + op.formula;
    if (text.find(one) == std::string::npos) text += one;
  }
  return text;
}

}  // namespace

TimeLimit compile_limit(const Limits& limits, runner::RunnerKind kind) {
  const bool module = kind == runner::RunnerKind::torch;
  const double seconds = module ? limits.extension_seconds() : limits.compile_seconds;
  if (limits.total_seconds < seconds) return {limits.total_seconds, "--total-seconds"};
  return {seconds, module ? "six times --compile-seconds" : "--compile-seconds"};
}

TimeLimit run_limit(const Limits& limits, bool compiles) {
  if (compiles && limits.compile_seconds > limits.device_seconds) {
    return {limits.compile_seconds,
            "as the first runs of a module may compile kernels, --compile-seconds"};
  }
  return {limits.device_seconds, "--device-seconds"};
}

bool on_device(const std::string& stage) {
  return stage != "load" && stage != "compile" && stage != kQueueStage;
}

std::string while_in(const std::string& stage) {
  if (stage == "load") return "while its file was read";
  if (stage == "compile") return "while compiling";
  return "while running on the device (" + stage + ")";
}

std::string name_of_given(const Graph::ValueInfo& value) {
  return std::string(name_of(value.kind)) + " " + value.name;
}

Finding failure_verdict(const RunnerFailure& failure, const RunnerState& state,
                        const Limits& limits) {
  const std::string where = " " + while_in(state.stage);
  switch (failure.kind) {
    case RunnerFailure::Kind::timeout:
      return {Verdict::timeout, over_limit(state, failure.message) + where + of_limit(state)};
    case RunnerFailure::Kind::late:
      return {Verdict::timeout, "took longer than " + number_text(limits.total_seconds) +
                                    " s in all," + where + "; --total-seconds sets the limit"};
    case RunnerFailure::Kind::memory:
      return {Verdict::out_of_memory, failure.message + where};
    case RunnerFailure::Kind::wrote:
      if (state.ran) return written_to(failure, state.graph);
      break;  // Nothing can have been written yet.
    case RunnerFailure::Kind::ended:
    case RunnerFailure::Kind::malformed:
      break;
    case RunnerFailure::Kind::killed:
      return {Verdict::harness_error, failure.message + where + ", not by kbench"};
    case RunnerFailure::Kind::starved:
      // A process that has run the candidate may claim this falsely.
      if (state.ran) break;
      return {Verdict::harness_error, failure.message + where};
    case RunnerFailure::Kind::cancelled:
      return {Verdict::harness_error, failure.message + where};
    case RunnerFailure::Kind::device: {
      if (failure.code == ErrorCode::kTimeout && state.stage != "load") {
        return {Verdict::timeout, over_limit(state, "") + where + of_limit(state)};
      }
      const Verdict verdict = verdict_of(failure.code);
      // The candidate may have caused any fault in a process that has run it.
      if (verdict == Verdict::harness_error && state.ran) break;
      return {verdict, failure.message + where};
    }
  }
  return {Verdict::crashed, failure.message + where};
}

Finding with_causes(Finding finding, const runner::Built& built, const Graph& graph,
                    std::string_view certificate) {
  const bool slightly = finding.verdict == Verdict::low_precision;
  if (slightly) finding.message += formulas_of(graph);
  // In a task of halves a kernel may declare float16 only to read and write its tensors.
  const bool computes_in_less = !built.float16_kernel.empty() && !is_half(graph.dtype());
  if (computes_in_less) {
    finding.message += "; kernel " + built.float16_kernel + " computes in float16";
  }
  if (!built.approximations.empty()) {
    finding.message += "; " + built.approximations +
                       ", approximate functions as --use_fast_math and intrinsics make them";
  }
  const bool by_value = certificate == kUntried || certificate == kCertifiedPrecision;
  if (slightly && !by_value && !computes_in_less) {
    finding.verdict = Verdict::wrong_values;
  }
  return finding;
}

}  // namespace kbench::judge
