// Scores a small result set with the installed library, and asks it about a task.
#include <kbench/kbench.h>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  std::vector<kbench::Result> results;
  for (int number : {1, 19, 23}) {
    kbench::Result result;
    result.set = "mine";
    result.task = {1, number};
    result.verdict = number == 23 ? kbench::Verdict::wrong_values : kbench::Verdict::passed;
    result.speedup = {0.9 * number, 1.0 * number, 1.1 * number};
    results.push_back(result);
  }
  const kbench::FastP fast = kbench::fast_p(results, 1.0, 4);
  if (fast.at_point != 1 || fast.at_low != 1 || std::abs(fast.point() - 0.25) > 1e-12) return 1;

  const kbench::Task& relu = kbench::find_task(kbench::parse_task_id("1/19"));
  const auto graph = kbench::build_graph(relu, kbench::Preset::smoke);
  const auto given = kbench::draw_tensors(*graph, relu.id, 7);
  const auto outputs = kbench::run_reference(*graph, given);
  for (float y : outputs.at(0).data<float>()) {
    if (!(y >= 0)) return 1;
  }
  kbench::Answer answer;
  answer.text = "```yaml\nkbench: 1\ntask: level1/19\n```\n";
  answer.finish = "stop";
  if (kbench::extract(answer, {1, 19}).outcome != kbench::Outcome::candidate) return 1;
  const kbench::OpenAiModel model({.name = "m", .url = "http://127.0.0.1:1/v1", .model = "m"});
  if (model.name() != "m") return 1;

  std::cout << kbench::version() << ": fast_1 = " << fast.point() << "\n";
  return 0;
}
