// Mutants of graphs: that they fit, differ, and are what they say.
#include "kbench/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kbench/error.h"
#include "kbench/listing.h"
#include "kbench/ops.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench {
namespace {

std::unique_ptr<Graph> graph_of(TaskId id) { return build_graph(find_task(id), Preset::smoke); }

const Mutation& named(const std::vector<Mutation>& all, const std::string& description) {
  for (const Mutation& each : all) {
    if (each.description == description) return each;
  }
  std::string known;
  for (const Mutation& each : all) known += each.description + "\n";
  throw std::runtime_error("no mutant '" + description + "' among\n" + known);
}

std::vector<Tensor> run(const Graph& graph, const NamedTensors& given) {
  return run_reference(graph, given, {.precision = Precision::f64});
}

TEST(Rewriting, ACopyIsTheSameGraph) {
  for (const TaskId& id : {TaskId{1, 33}, TaskId{2, 76}, TaskId{3, 4}, TaskId{3, 36}}) {
    const auto graph = graph_of(id);
    const auto copy = rewrite(*graph, {});
    EXPECT_EQ(folded_listing(find_task(id), *copy), folded_listing(find_task(id), *graph));
    EXPECT_EQ(copy->variables_read(), graph->variables_read());
    const NamedTensors given = draw_tensors(*graph, id, 7);
    const auto a = run(*graph, given), b = run(*copy, given);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      for (int64_t e = 0; e < a[i].elements(); ++e) ASSERT_EQ(a[i].at(e), b[i].at(e));
    }
  }
}

TEST(Rewriting, OtherTypesAreRefused) {
  const auto graph = graph_of({1, 19});
  const Replacement wrong = [](const Rewriting& rewriting, int) -> std::vector<Value> {
    return {sum(rewriting.value(0), {.axis = 0})};
  };
  EXPECT_THROW(rewrite(*graph, {{0, wrong}}), Error);
}

/// Of every task: that each mutant can be built, and that there is one at all.
TEST(Mutants, FitEveryTask) {
  std::set<std::string> rules;
  size_t count = 0;
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    // Networks have hundreds: some of each will do.
    const std::vector<Mutation> all = mutations(*graph);
    EXPECT_FALSE(all.empty()) << to_string(task.id);
    const size_t step = std::max<size_t>(1, all.size() / 20);
    for (size_t i = 0; i < all.size(); i += step) {
      const auto mutant = mutate(*graph, all[i]);
      EXPECT_EQ(mutant->outputs().size(), graph->outputs().size());
      EXPECT_EQ(all[i].description.find('@'), std::string::npos) << all[i].description;
    }
    for (const Mutation& each : all) rules.insert(each.rule);
    count += all.size();
  }
  RecordProperty("mutants", static_cast<int>(count));
  EXPECT_THAT(rules, ::testing::IsSupersetOf({"left_out", "parameter", "operand", "layout",
                                              "other_operator", "other_form", "attribute", "order",
                                              "range", "shift", "constant"}));
}

TEST(Mutants, LeaveOutWhatTheySay) {
  const auto graph = graph_of({2, 76});
  const NamedTensors given = draw_tensors(*graph, {2, 76}, 3);
  const auto mutant = mutate(*graph, named(mutations(*graph), "without relu"));
  const Tensor truth = run(*graph, given)[0], got = run(*mutant, given)[0];
  bool negative = false;
  for (int64_t i = 0; i < got.elements(); ++i) {
    EXPECT_EQ(std::max(got.at(i), 0.0), truth.at(i));
    negative |= got.at(i) < 0;
  }
  EXPECT_TRUE(negative);
}

TEST(Mutants, HaveTheUnbiasedVariance) {
  const auto graph = graph_of({1, 33});
  const NamedTensors given = draw_tensors(*graph, {1, 33}, 3);
  const auto mutant =
      mutate(*graph,
             named(mutations(*graph), "batch_norm with the unbiased variance (over n - 1, not n)"));
  const Tensor truth = run(*graph, given)[0], got = run(*mutant, given)[0];
  const Tensor &x = given.at("x"), &w = given.at("bn.weight"), &b = given.at("bn.bias");
  const Shape& shape = x.shape();
  const int64_t plane = shape[2] * shape[3], n = shape[0] * plane;
  for (int64_t c = 0; c < shape[1]; ++c) {
    double mean = 0, squares = 0;
    const auto each = [&](auto use) {
      for (int64_t s = 0; s < shape[0]; ++s) {
        for (int64_t i = 0; i < plane; ++i) use((s * shape[1] + c) * plane + i);
      }
    };
    each([&](int64_t i) { mean += x.at(i) / static_cast<double>(n); });
    each([&](int64_t i) { squares += (x.at(i) - mean) * (x.at(i) - mean); });
    each([&](int64_t i) {
      const double unbiased = squares / static_cast<double>(n - 1);
      EXPECT_NEAR(got.at(i), (x.at(i) - mean) / std::sqrt(unbiased + 1e-5) * w.at(c) + b.at(c),
                  1e-9);
    });
  }
  EXPECT_NE(got.at(0), truth.at(0));
}

TEST(Mutants, OfSeveralCallsAreAlsoMadeTogether) {
  const auto graph = graph_of({3, 1});  // an MLP of several linear layers with ReLU between
  const std::vector<Mutation> all = mutations(*graph);
  size_t together = 0, alone = 0;
  for (const Mutation& each : all) {
    if (each.rule != "left_out" || each.description.find("relu") == std::string::npos) continue;
    (each.replacements.size() > 1 ? together : alone) += 1;
  }
  EXPECT_EQ(together, 1u);
  EXPECT_GE(alone, 2u);
}

TEST(Mutants, ReadAWeightAsItsTranspose) {
  const auto graph = graph_of({2, 76});
  const NamedTensors given = draw_tensors(*graph, {2, 76}, 3);
  const auto mutant =
      mutate(*graph, named(mutations(*graph), "linear with the weight read as its transpose"));
  const Tensor got = run(*mutant, given)[0];
  const Tensor &x = given.at("x"), &w = given.at("gemm.weight"), &bias = given.at("bias");
  const int64_t k = x.shape()[1], n = w.shape()[0];
  for (int64_t i = 0; i < got.elements(); ++i) {
    double sum = bias.at(i % n);
    for (int64_t j = 0; j < k; ++j) sum += x.at(i / n * k + j) * w.at(j * n + i % n);
    EXPECT_NEAR(got.at(i), std::max(sum, 0.0), 1e-9);
  }
}

}  // namespace
}  // namespace kbench
