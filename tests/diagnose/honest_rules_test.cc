// Honest variants compute what the task computes.
#include <gmock/gmock.h>

#include "tests/diagnose/rules.h"

namespace kbench {
namespace {

constexpr Rule kRules[] = {reorder_sums, other_formulas};

/// Every variant of every node of every task, those of one text and task together: in float64 the
/// same results, in another number of nodes or with others.
TEST(HonestVariants, OfEveryTaskAreTheTaskInFloat64) {
  size_t variants = 0;
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    std::map<std::string, std::map<int, Replacement>> by_text;
    for (const Rule rule : kRules) {
      for (int node = 0; node <= last_node(*graph); ++node) {
        for (auto& [text, replacement] : found(rule, *graph, node)) {
          by_text[graph->nodes()[static_cast<size_t>(node)].call.op->name + ": " + text].emplace(
              node, std::move(replacement));
        }
      }
    }
    if (by_text.empty()) continue;
    const NamedTensors given = draw_tensors(*graph, task.id, 11);
    const auto run = [&](const Graph& which) {
      return run_reference(which, given, {.precision = Precision::f64, .threads = 1});
    };
    const std::vector<Tensor> truth = run(*graph);
    for (const auto& [text, replacements] : by_text) {
      ++variants;
      SCOPED_TRACE(to_string(task.id) + ", " + text);
      const std::vector<Tensor> got = run(*rewrite(*graph, replacements));
      EXPECT_LT(distance(got, truth), 1e-9);
    }
  }
  RecordProperty("variants", static_cast<int>(variants));
  EXPECT_GT(variants, 1000u);
}

/// In float32 the orders differ, or they would show nothing.
TEST(HonestVariants, OfOrderDifferInFloat32) {
  for (const TaskId id : {TaskId{1, 1}, TaskId{1, 47}, TaskId{1, 50}, TaskId{1, 89}}) {
    const auto graph = build_graph(find_task(id), Preset::smoke);
    const NamedTensors given = draw_tensors(*graph, id, 3);
    const auto run = [&](const Graph& which) {
      return run_reference(which, given, {.threads = 1});
    };
    const std::vector<Tensor> truth = run(*graph);
    bool differs = false;
    const auto all = found(reorder_sums, *graph, 0);
    EXPECT_GE(all.size(), 1u) << to_string(id);
    for (const auto& [text, replacement] : all) {
      differs |= distance(run(*rewrite(*graph, {{0, replacement}})), truth) > 0;
    }
    EXPECT_TRUE(differs) << to_string(id);
  }
}

TEST(HonestVariants, OfAMaskedSoftmaxHaveNoNan) {
  SmallGraph g({{3, 8}}, [](auto x) { return std::vector<Value>{softmax(x[0], 1)}; });
  for (size_t i = 0; i < 4; ++i) g.at(0, i) = -INFINITY;  // a block of the two altogether
  g.at(0, 13) = -INFINITY;
  EXPECT_LT(distance(g.with(other_formulas, "@ online, in two blocks"), g.truth()), 1e-12);
}

}  // namespace
}  // namespace kbench
