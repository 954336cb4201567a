#include "harness/measure/judge/values.h"

#include <cstring>
#include <string>
#include <vector>

#include "harness/measure/judge/inspect.h"
namespace kbench::judge {
namespace {

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
