#include "harness/measure/judge/inspect.h"

#include <cstring>
#include <string>
#include <vector>

#include "harness/measure/trial/device_draw.h"
#include "kbench/error.h"

namespace kbench::judge {

namespace {

constexpr uint32_t kFillLimit = 1 << 30;  ///< of integers

std::vector<Tensor> download(const SampleParts& parts) {
  const Graph& graph = parts.task_memory.graph();
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Tensor tensor(graph.stored_type(graph.outputs()[i]));
    const vulkan::Region from = parts.task_memory.outputs().tensor(i);
    parts.device.download(*from.buffer, from.offset,
                          {tensor.raw(), static_cast<size_t>(tensor.bytes())});
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

void fill(const SampleParts& parts, Sampler& sampler, trial::Contents contents,
          vulkan::Commands& commands) {
  const Graph& graph = parts.task_memory.graph();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    trial::Fill values;
    values.dtype = graph.stored_type(graph.outputs()[i]).dtype;
    values.limit = kFillLimit;
    values.key = parts.secret.next();
    values.contents = contents;
    parts.kernels.fill(commands, parts.task_memory.outputs().tensor(i), values);
  }
  sampler.fill_temporaries(commands, false, contents);
}

void require_few_elements(const Graph& graph) {
  int64_t elements = 0;
  for (const int id : graph.outputs()) {
    elements += graph.value(id).type.elements();
  }
  if (elements > kMostInspected) {
    throw Error(ErrorCode::kInvalidArgument, "outputs of " + std::to_string(elements) +
                                                 " elements are not handed back; at most " +
                                                 std::to_string(kMostInspected) + " are");
  }
}

void draw_kind(const SampleParts& parts, Sampler& sampler, uint64_t seed, Graph::Kind kind) {
  vulkan::Commands& commands = sampler.commands();
  commands.begin();
  for (const int id : parts.task_memory.graph().values_of(kind)) {
    sampler.draw(id, seed, parts.task_memory.given(id));
  }
  commands.submit_and_wait(kHarnessSeconds);
}

/// Elements that still hold what stood there before; bools do by chance.
int64_t untouched(const Tensor& before, const Tensor& got) {
  if (got.dtype() == DType::boolean) return 0;
  const size_t size = size_of(got.dtype());
  int64_t count = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    count += std::memcmp(before.raw() + at, got.raw() + at, size) == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

void draw_known(const SampleParts& parts, Sampler& sampler, const InspectedDraws& draws) {
  draw_kind(parts, sampler, draws.parameters, Graph::Kind::parameter);
  draw_kind(parts, sampler, draws.inputs, Graph::Kind::input);
}

ReceivedRun run_and_receive(const SampleParts& parts, Sampler& sampler, Checks& checks,
                            trial::Contents contents, bool first, double seconds) {
  vulkan::Commands& commands = sampler.commands();
  ReceivedRun run;
  commands.begin();
  fill(parts, sampler, contents, commands);
  commands.barrier();
  if (first) checks.record_hashes(commands, false);
  commands.submit_and_wait(kHarnessSeconds);
  if (first) run.before = download(parts);
  sampler.run_candidate({}, seconds);
  run.finding = sampler.guards(checks);
  run.after = download(parts);
  return run;
}

std::optional<Finding> inspect(const SampleParts& parts, Sampler& sampler, Checks& checks,
                               uint64_t other_inputs, double seconds, Inspection& inspection) {
  const Graph& graph = parts.task_memory.graph();
  require_few_elements(graph);
  inspection.outputs.resize(graph.outputs().size());
  std::optional<Finding> finding;
  constexpr int kRuns = 4, kOther = 3;
  trial::SecretStream fills = parts.secret;
  for (int run = 0; run < kRuns; ++run) {
    if (run == 1) fills = parts.secret;
    if (run == 2) parts.secret = fills;  // The values of the run before.
    if (run == kOther) {
      draw_kind(parts, sampler, other_inputs, Graph::Kind::input);
    }
    const bool new_inputs = run == 0 || run == kOther;
    const trial::Contents contents =
        new_inputs ? trial::Contents::plausible : trial::Contents::zeros;
    ReceivedRun received = run_and_receive(parts, sampler, checks, contents, new_inputs, seconds);
    if (!finding) finding = std::move(received.finding);
    for (size_t i = 0; i < inspection.outputs.size(); ++i) {
      Inspection::Output& output = inspection.outputs[i];
      if (run == 0) output.before = std::move(received.before[i]);
      Tensor* const by_run[kRuns] = {&output.got, &output.again, &output.repeated, &output.other};
      *by_run[run] = std::move(received.after[i]);
    }
  }
  return finding;
}

std::optional<Finding> check_values(const SampleParts& parts, Sampler& sampler, Checks& checks,
                                    const CheckRule& rule, const std::vector<Tensor>& right,
                                    trial::Contents contents, double seconds) {
  const Graph& graph = parts.task_memory.graph();
  const ReceivedRun run =
      run_and_receive(parts, sampler, checks, contents, /*first=*/true, seconds);
  if (run.finding) return run.finding;
  for (size_t i = 0; i < right.size(); ++i) {
    Comparison found = compare(run.after[i], right[i], rule.bounds, rule.rule);
    if (contents == trial::Contents::plausible) {
      found.untouched = untouched(run.before[i], run.after[i]);
    }
    const Verdict verdict = classify(found, rule.bounds);
    if (verdict == Verdict::passed) continue;
    const std::string name = right.size() > 1 ? graph.output_name(i) + ": " : "";
    return Finding{verdict, name + describe(found, right[i].shape(), rule.bounds)};
  }
  return std::nullopt;
}

}  // namespace kbench::judge
