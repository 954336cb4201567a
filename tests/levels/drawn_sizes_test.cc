// The sizes drawn in secret at which candidates that pass are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kbench/error.h"
#include "kbench/other_sizes.h"
#include "kbench/reference.h"

namespace kbench {
namespace {

int64_t integer(const VariableValue& value) { return std::get<int64_t>(value); }

TEST(DrawnSizes, AreCheapDifferentAndOfTheSameComputation) {
  size_t with_six = 0;
  for (const Task& task : tasks()) {
    const auto own = build_graph(task, Preset::smoke);
    const std::vector<Variables> sets = drawn_sizes(task_at(task.id, Preset::smoke), 7, 6);
    with_six += sets.size() == 6 ? 1 : 0;
    for (size_t i = 0; i < sets.size(); ++i) {
      EXPECT_EQ(std::ranges::count(sets, sets[i]), 1) << to_string(task.id);
      const auto graph = build_graph(task, Preset::smoke, sets[i]);
      EXPECT_LE(graph->flops(), std::max(2e7, 1.6 * own->flops())) << to_string(task.id);
      ASSERT_EQ(graph->nodes().size(), own->nodes().size()) << to_string(task.id);
      for (size_t node = 0; node < graph->nodes().size(); ++node) {
        EXPECT_EQ(graph->nodes()[node].call.op, own->nodes()[node].call.op);
      }
    }
  }
  EXPECT_GT(with_six, tasks().size() * 8 / 10);
}

TEST(DrawnSizes, AreOthersForEachSeedAndTheSameForOne) {
  const TaskAt at = task_at({1, 1}, Preset::smoke);
  EXPECT_EQ(drawn_sizes(at, 1, 6), drawn_sizes(at, 1, 6));
  std::set<std::vector<Variables>> drawn;
  for (uint64_t seed = 0; seed < 20; ++seed) drawn.insert(drawn_sizes(at, seed, 6));
  EXPECT_GT(drawn.size(), 18u);
}

/// What a kernel may have overlooked: over some draws each kind of number comes.
TEST(DrawnSizes, AreOddAndEvenSmallAndBeyondATile) {
  bool odd = false, even = false, quad = false, one = false, beyond = false, smaller = false;
  const auto own = build_graph(find_task({1, 23}), Preset::smoke);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const Variables& set : drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6)) {
      for (const auto& [name, value] : set) {
        const int64_t size = integer(value);
        EXPECT_GT(size, 0);
        odd |= size % 2 == 1;
        even |= size % 4 == 2;
        quad |= size % 8 == 4;
        one |= size == 1;
        beyond |= size > 64;
        smaller |= size < integer(own->variables().at(name));
      }
    }
  }
  EXPECT_TRUE(odd && even && quad && one && beyond && smaller);
}

TEST(DrawnSizes, KeepToWhatACandidateRequires) {
  const auto in_fours = [](const Variables& all) {
    return integer(all.at("dim")) % 4 == 0 ? 0 : 1;
  };
  const auto beyond = [](const Variables& all) {  // what smoke's own sizes do not fulfil
    return (integer(all.at("dim")) % 32 == 0 ? 0 : 1) + (integer(all.at("dim")) > 31 ? 0 : 1);
  };
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const auto fours = drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6, in_fours);
    EXPECT_GE(fours.size(), 4u);
    for (const Variables& set : fours) {
      EXPECT_TRUE(!set.contains("dim") || integer(set.at("dim")) % 4 == 0);
    }
    const auto large = drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6, beyond);
    EXPECT_GE(large.size(), 1u);
    for (const Variables& set : large) EXPECT_EQ(integer(set.at("dim")) % 32, 0);
  }
  const auto never = [](const Variables&) { return 1; };
  EXPECT_TRUE(drawn_sizes(task_at({1, 23}, Preset::smoke), 1, 6, never).empty());
}

TEST(DrawnSizes, LeaveOptionsAlone) {
  const std::set<std::string> options = {"kernel_size", "kernel_size_w", "padding",   "stride",
                                         "groups",      "dilation",      "num_layers"};
  for (const Task& task : tasks()) {
    for (const Variables& set : drawn_sizes(task_at(task.id, Preset::smoke), 3, 6)) {
      for (const auto& [name, value] : set) {
        EXPECT_FALSE(options.contains(name)) << to_string(task.id) << " " << name;
      }
    }
  }
}

/// A right candidate would fail where the truth is NaN.
TEST(DrawnSizes, HaveAFiniteTruth) {
  for (const Task& task : tasks()) {
    const auto own = build_graph(task, Preset::smoke);
    if (own->flops() > 1e7) continue;  // The others take minutes.
    for (const Variables& set : drawn_sizes(task_at(task.id, Preset::smoke), 11, 6)) {
      const auto graph = build_graph(task, Preset::smoke, set);
      const auto outputs = run_reference(*graph, draw_tensors(*graph, task.id, 5),
                                         {.precision = Precision::f64, .threads = 2});
      for (const Tensor& output : outputs) {
        if (output.type().dtype != DType::f64) continue;
        EXPECT_TRUE(std::ranges::all_of(output.data<double>(), [](double x) {
          return std::isfinite(x);
        })) << to_string(task.id);
      }
    }
  }
}

}  // namespace
}  // namespace kbench
