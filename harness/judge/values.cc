#include "harness/judge/values.h"

#include <cstring>
#include <string>
#include <vector>

#include "kbench/reference.h"

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

std::vector<Tensor> download_all(const SampleParts& parts) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < parts.bench.graph().outputs().size(); ++i) {
    outputs.push_back(download(parts, i));
  }
  return outputs;
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

void fill(const SampleParts& parts, Sampler& sampler, Checks& checks, vulkan::Commands& commands) {
  const Graph& graph = parts.bench.graph();
  commands.begin();
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    trial::Fill values;
    values.dtype = graph.values()[static_cast<size_t>(graph.outputs()[i])].type.dtype;
    values.limit = kFillLimit;
    values.key = parts.secret.next();
    parts.kernels.fill(commands, parts.bench.outputs().tensor(i), values);
  }
  sampler.fill_temporaries(commands, false, 1);
  commands.barrier();
  checks.record_hashes(commands, false);
  commands.submit_and_wait(kHarnessSeconds);
}

}  // namespace

std::optional<Finding> check_values(const SampleParts& parts, Sampler& sampler, Checks& checks,
                                    const CheckRule& rule, uint64_t seed, double seconds) {
  const Graph& graph = parts.bench.graph();
  vulkan::Commands& commands = sampler.commands();
  fill(parts, sampler, checks, commands);
  const std::vector<Tensor> before = download_all(parts);
  sampler.run_candidate({}, seconds);
  commands.begin();
  checks.record_guards(commands);
  commands.submit_and_wait(kHarnessSeconds);
  if (auto found = checks.guards()) return found;
  const std::vector<Tensor> got = download_all(parts);
  const std::vector<Tensor> right = run_reference(
      graph, draw_tensors(graph, parts.bench.task().id, seed), {.precision = Precision::f64});
  for (size_t i = 0; i < right.size(); ++i) {
    Comparison found = compare(got[i], right[i], rule.relative, rule.rule);
    found.untouched = untouched(before[i], got[i]);
    const Verdict verdict = classify(found, rule.relative);
    if (verdict == Verdict::passed) continue;
    const std::string name = right.size() > 1 ? graph.output_name(i) + ": " : "";
    return Finding{verdict, name + describe(found, right[i].shape(), rule.relative)};
  }
  return std::nullopt;
}

}  // namespace kbench::judge
