#include "harness/judge/inspect.h"

#include <span>
#include <string>

#include "harness/trial/device_draw.h"
#include "kbench/error.h"

namespace kbench::judge {
namespace {

constexpr uint32_t kFillLimit = 1 << 30;  ///< integers that a result hits by chance only

Tensor download(const SampleParts& parts, size_t output) {
  const Graph& graph = parts.bench.graph();
  Tensor tensor(graph.values()[static_cast<size_t>(graph.outputs()[output])].type);
  const vulkan::Region from = parts.bench.outputs().tensor(output);
  parts.device.download(*from.buffer, from.offset,
                        {tensor.raw(), static_cast<size_t>(tensor.bytes())});
  return tensor;
}

void require_few_elements(const Graph& graph) {
  int64_t elements = 0;
  for (const int id : graph.outputs()) {
    elements += graph.values()[static_cast<size_t>(id)].type.elements();
  }
  if (elements > client::kMostInspected) {
    throw Error(ErrorCode::kInvalidArgument, "outputs of " + std::to_string(elements) +
                                                 " elements are not handed back; at most " +
                                                 std::to_string(client::kMostInspected) + " are");
  }
}

}  // namespace

void draw_known(const SampleParts& parts, vulkan::Commands& commands, uint64_t seed) {
  const Graph& graph = parts.bench.graph();
  commands.begin();
  for (const auto kind : {Graph::Kind::parameter, Graph::Kind::input}) {
    for (const int id : graph.values_of(kind)) {
      const Graph::ValueInfo& info = graph.values()[static_cast<size_t>(id)];
      const DrawKey key{seed, parts.bench.task().id.draw_word(), info.name};
      trial::draw_tensor(parts.device, commands, info.distribution, key, info.type,
                         parts.bench.given(id));
    }
  }
  commands.submit_and_wait(kHarnessSeconds);
}

std::optional<Finding> inspect(const SampleParts& parts, Sampler& sampler, Checks& checks,
                               double seconds, client::Inspection& inspection) {
  const Graph& graph = parts.bench.graph();
  require_few_elements(graph);
  vulkan::Commands& commands = sampler.commands();
  const size_t outputs = graph.outputs().size();
  inspection.outputs.resize(outputs);
  std::optional<Finding> finding;
  constexpr int kRuns = 3;
  trial::SecretStream fills = parts.secret;
  for (int run = 0; run < kRuns; ++run) {
    if (run == 1) fills = parts.secret;
    if (run == 2) parts.secret = fills;  // The values of the run before.
    commands.begin();
    for (size_t i = 0; i < outputs; ++i) {
      trial::Fill fill;
      fill.dtype = graph.values()[static_cast<size_t>(graph.outputs()[i])].type.dtype;
      fill.limit = kFillLimit;
      fill.key = parts.secret.next();
      parts.kernels.fill(commands, parts.bench.outputs().tensor(i), fill);
    }
    sampler.fill_temporaries(commands, false, 1);
    commands.barrier();
    if (run == 0) checks.record_hashes(commands, false);
    commands.submit_and_wait(kHarnessSeconds);
    for (size_t i = 0; i < outputs && run == 0; ++i) {
      inspection.outputs[i].before = download(parts, i);
    }
    sampler.run_candidate({}, seconds);
    commands.begin();
    checks.record_guards(commands);
    commands.submit_and_wait(kHarnessSeconds);
    if (auto found = checks.guards(); found && !finding) finding = std::move(found);
    for (size_t i = 0; i < outputs; ++i) {
      client::Inspection::Output& output = inspection.outputs[i];
      (run == 0 ? output.got : run == 1 ? output.again : output.repeated) = download(parts, i);
    }
  }
  return finding;
}

}  // namespace kbench::judge
