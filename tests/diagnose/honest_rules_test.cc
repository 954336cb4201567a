// Honest variants compute what the task computes.
#include <gmock/gmock.h>

#include "tests/diagnose/rules.h"

namespace kbench {
namespace {

constexpr FindMutants kRules[] = {reorder_sums, other_formulas, add_up_in_one_float};

using Variants = std::map<int, std::vector<std::pair<std::string, Replacement>>>;  // by node

/// Of calls that differ in their shapes alone, those of the first two: networks have dozens.
Variants variants_by_node(const Graph& graph) {
  constexpr int kAlike = 2;
  Variants variants;
  std::map<std::string, int> seen;
  for (int node = 0; node <= last_node(graph); ++node) {
    const OperatorCall& call = graph.nodes()[static_cast<size_t>(node)].call;
    std::string kind = call.op->name;
    for (const auto& [name, value] : call.attributes) kind += ", " + to_string(value);
    if (++seen[kind] > kAlike) continue;
    for (const FindMutants rule : kRules) {
      for (auto& [text, replacement] : found(rule, graph, node)) {
        variants[node].emplace_back(text, std::move(replacement));
      }
    }
  }
  return variants;
}

/// FLOPs. The large networks are made of the operators of the others, and take most of the time.
constexpr double kMuchWork = 2e8;

/// Of every task, in float64: the first variants of all nodes at once, the second ones, and so on;
/// where that is not the task, each alone, for its name.
TEST(HonestVariants, OfEveryTaskOfLittleWorkAreTheTaskInFloat64) {
  size_t count = 0;
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    if (graph->flops() > kMuchWork) continue;
    const Variants variants = variants_by_node(*graph);
    const NamedTensors given = draw_tensors(*graph, task.id, 11);
    const auto run = [&](const std::map<int, Replacement>& replacements) {
      const auto variant = rewrite(*graph, replacements);
      EXPECT_TRUE(replacements.empty() || variant->nodes().size() > graph->nodes().size());
      return run_reference(*variant, given, {.precision = Precision::f64, .threads = 1});
    };
    std::vector<Tensor> truth;
    for (size_t round = 0;; ++round) {
      std::map<int, Replacement> together;
      for (const auto& [node, own] : variants) {
        if (round < own.size()) together.emplace(node, own[round].second);
      }
      if (together.empty()) break;
      count += together.size();
      if (round == 0) truth = run({});
      if (distance(run(together), truth) < 1e-9) continue;
      for (const auto& [node, replacement] : together) {
        EXPECT_LT(distance(run({{node, replacement}}), truth), 1e-9)
            << to_string(task.id) << ", node " << node << ", "
            << graph->nodes()[static_cast<size_t>(node)].call.op->name << ": "
            << variants.at(node)[round].first;
      }
      ADD_FAILURE() << to_string(task.id) << ", variants number " << round << " together";
    }
  }
  RecordProperty("variants", static_cast<int>(count));
  EXPECT_GT(count, 1000u);
}

/// In float32 the orders differ, or they would show nothing.
TEST(HonestVariants, OfOrderDifferInFloat32) {
  for (const TaskId& id : {TaskId{1, 1}, TaskId{1, 47}, TaskId{1, 50}, TaskId{1, 89}}) {
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

/// What a kernel with one accumulator gives, to the bit.
TEST(HonestVariants, InOneFloatAreTheSumOfOneAccumulator) {
  for (const Shape& shape : {Shape{1, 5000}, Shape{3, 5000}, Shape{2, 5000, 3}}) {
    SCOPED_TRACE(to_string(shape));
    SmallGraph g({shape},
                 [](auto x) { return std::vector<Value>{sum(square(x[0]), {.axis = 1})}; });
    const auto variants = found(add_up_in_one_float, g.graph, last_node(g.graph));
    const auto variant = rewrite(
        g.graph, {{last_node(g.graph), variants.at("@ in one float, one element after another")}});
    const Tensor got = run_reference(
        *variant, g.given, {.threads = 1, .summation = ReferenceOptions::Summation::sequential})[0];
    const std::span<const float> x = g.given.at("x0").data<float>();
    const size_t inner = shape.size() > 2 ? 3 : 1;
    ASSERT_EQ(got.elements(), static_cast<int64_t>(x.size() / 5000));
    for (size_t i = 0; i < x.size() / 5000; ++i) {
      float total = 0;
      for (size_t j = 0; j < 5000; ++j) {
        const float v = x[(i / inner * 5000 + j) * inner + i % inner];
        total += v * v;
      }
      EXPECT_EQ(got.data<float>()[i], total) << i;
    }
  }
}

/// A sum of 2^24 squares in one float is off by 3%: no rounding, and nothing to make room for.
TEST(HonestVariants, InOneFloatAreOfNoMoreTermsThanAFloatHolds) {
  const auto texts_of = [](int64_t n) {
    Graph graph;
    graph.output(sum(graph.input("x", {n}), {.axis = 0}));
    std::set<std::string> texts;
    for (const auto& [text, replacement] : found(add_up_in_one_float, graph, 0)) texts.insert(text);
    return texts;
  };
  const std::string one = "@ in one float, one element after another",
                    blocks = "@ in one float, the sums of blocks in any order";
  EXPECT_THAT(texts_of(1000), ::testing::ElementsAre(one));
  EXPECT_THAT(texts_of(393216), ::testing::ElementsAre(one, blocks));
  EXPECT_THAT(texts_of(1 << 24), ::testing::ElementsAre(blocks));
}

TEST(HonestVariants, OfAMaskedSoftmaxHaveNoNan) {
  SmallGraph g({{3, 8}}, [](auto x) { return std::vector<Value>{softmax(x[0], 1)}; });
  for (size_t i = 0; i < 4; ++i) g.at(0, i) = -INFINITY;  // a block of the two altogether
  g.at(0, 13) = -INFINITY;
  EXPECT_LT(distance(g.with(other_formulas, "@ online, in two blocks"), g.truth()), 1e-12);
}

}  // namespace
}  // namespace kbench
