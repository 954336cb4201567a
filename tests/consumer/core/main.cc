// A task's graph, its reference, a candidate as data, and a score, without a device in sight.
#include <kbench/candidate.h>
#include <kbench/candidate_source.h>
#include <kbench/extract.h>
#include <kbench/feedback.h>
#include <kbench/graph.h>
#include <kbench/random.h>
#include <kbench/reference.h>
#include <kbench/score.h>
#include <kbench/task.h>
#include <kbench/version.h>

#include <iostream>
#include <vector>

int main() {
  const kbench::Task& linear = kbench::find_task(kbench::parse_task_id("2/76"));
  const auto graph = kbench::build_graph(linear, kbench::Preset::smoke);
  const auto given = kbench::draw_tensors(*graph, linear.id, 7);
  const auto outputs = kbench::run_reference(*graph, given);  // OpenBLAS, Eigen, TBB
  for (float y : outputs.at(0).data<float>()) {
    if (!(y >= 0)) return 1;
  }
  const std::string yaml = kbench::eager_candidate_yaml(linear, *graph);  // yaml-cpp, muParser
  if (kbench::candidate_from_files("c.yaml", {{"c.yaml", yaml}}).hash.size() != 64) return 1;
  kbench::Answer answer;  // md4c
  answer.text = "```yaml\n" + yaml + "```\n";
  answer.finish = "stop";
  if (kbench::extract(answer, linear.id).outcome != kbench::Outcome::candidate) return 1;

  kbench::Result result;
  result.task = linear.id;
  result.verdict = kbench::Verdict::passed;
  result.samples = 12;
  result.speedup = {1.1, 1.2, 1.3};
  result.candidate_ms = 1;
  result.baseline_ms = 1.2;
  if (kbench::to_json(kbench::result_from_json(kbench::to_json(result))) !=
      kbench::to_json(result)) {
    return 1;
  }
  const std::vector<kbench::Result> results = {result};
  if (kbench::fast_p(results, 1.0, 1).at_low != 1) return 1;
  if (kbench::feedback(result, nullptr, {}).text.empty()) return 1;
  std::cout << kbench::version() << ": " << graph->flops() << " operations\n";
}
