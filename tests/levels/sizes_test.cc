// The sizes beside a preset's at which candidates are tried, and those of preset train.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kbench/error.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench {
namespace {

int64_t integer(const VariableValue& value) { return std::get<int64_t>(value); }

/// Whether these are graphs of the same operators.
bool same_operators(const Graph& a, const Graph& b) {
  return std::ranges::equal(a.nodes(), b.nodes(), [](const auto& one, const auto& other) {
    return one.call.op == other.call.op && one.inputs == other.inputs;
  });
}

/// A right candidate would fail where the truth is NaN.
void expect_finite_truth(const Graph& graph, const TaskId& task) {
  const auto outputs = run_reference(graph, draw_tensors(graph, task, 5),
                                     {.precision = Precision::f64, .threads = 2});
  for (const Tensor& output : outputs) {
    if (output.type().dtype != DType::f64) continue;
    EXPECT_TRUE(std::ranges::all_of(output.data<double>(), [](double x) {
      return std::isfinite(x);
    })) << to_string(task);
  }
}

TEST(FurtherSizes, OfEveryTaskAreCheapAndOfTheSameComputation) {
  const std::set<std::string> options = {"kernel_size", "kernel_size_w", "padding",   "stride",
                                         "groups",      "dilation",      "num_layers"};
  size_t with_two = 0, with_six = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const TaskAt at = task_at(task.id, Preset::smoke);
    const auto own = build_graph(task, Preset::smoke);
    const std::vector<Variables> fixed = other_sizes(at),
                                 drawn = drawn_sizes(at, 7, 6, DrawnWork::little);
    with_two += fixed.size() == 2 ? 1 : 0;
    with_six += drawn.size() == 6 ? 1 : 0;
    EXPECT_LE(fixed.size(), 2u);
    for (const auto* sets : {&fixed, &drawn}) {
      for (const Variables& set : *sets) {
        EXPECT_EQ(std::ranges::count(*sets, set), 1);
        const auto graph = build_graph(task, Preset::smoke, set);  // throws where it is senseless
        EXPECT_LE(graph->flops(), std::max(2e7, 1.6 * own->flops()));
        EXPECT_TRUE(same_operators(*graph, *own));
        for (const auto& [name, value] : set) EXPECT_FALSE(options.contains(name)) << name;
        // Larger ones take minutes.
        if (sets == &drawn && own->flops() <= 1e7) expect_finite_truth(*graph, task.id);
      }
    }
    for (const Variables& set : fixed) {
      EXPECT_TRUE(
          std::ranges::any_of(set, [](const auto& each) { return integer(each.second) % 8 != 0; }));
      for (const auto& [name, value] : set) {
        EXPECT_GT(integer(value), integer(own->variables().at(name)));
      }
    }
  }
  EXPECT_GT(with_two, tasks().size() * 9 / 10);
  EXPECT_GT(with_six, tasks().size() * 8 / 10);
}

TEST(FurtherSizes, OfPresetTrainAreOfTheSameComputationInLessMemory) {
  double sum = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const auto train = build_graph(task, Preset::train), large = build_graph(task, Preset::v0_1);
    EXPECT_TRUE(same_operators(*large, *train));
    EXPECT_LE(train->flops(), large->flops());
    EXPECT_LE(train->least_bytes(), 1.2e9);
    sum += train->flops() / large->flops();
  }
  EXPECT_LT(sum / static_cast<double>(tasks().size()), 0.25);
}

/// Of volumes there is room for little: every size a little larger, or one of them by half.
TEST(OtherSizes, OfAVolumeAreTwoThoughThereIsRoomForLittle) {
  const std::vector<Variables> sets = other_sizes({{2, 89}, "smoke", {}});
  EXPECT_EQ(sets, other_sizes({{2, 89}, "smoke", {}}));
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].size(), 3u);
  EXPECT_GT(integer(sets[1].at("depth")), integer(sets[0].at("depth")));
}

TEST(OtherSizes, OfAMatrixProductAreNoMultiplesOfATile) {
  const std::vector<Variables> sets = other_sizes({{1, 1}, "smoke", {}});
  ASSERT_EQ(sets.size(), 2u);
  for (const Variables& set : sets) {
    EXPECT_GT(integer(set.at("N")), 64);
    EXPECT_NE(integer(set.at("N")) % 8, 0);
  }
}

TEST(OtherSizes, OfAReductionReachBeyondASubgroup) {
  bool beyond = false;
  for (const Variables& set : other_sizes({{1, 47}, "smoke", {}})) {
    beyond = beyond || (set.contains("dim1") && integer(set.at("dim1")) > 64);
  }
  EXPECT_TRUE(beyond);
}

/// llvmpipe ends the loops of an invocation after 65,535 rounds; a plain kernel has three loops.
TEST(OtherSizes, OfANormAreLoopsThatOneInvocationMayRun) {
  for (const Variables& set : other_sizes({{1, 40}, "smoke", {}})) {
    const auto extent = [&](const char* name) { return integer(set.at(name)); };
    EXPECT_LT(3 * extent("features") * extent("dim1") * extent("dim2"), 65535);
  }
}

TEST(DrawnSizes, AreOthersForEachSeedAndTheSameForOne) {
  const TaskAt at = task_at({1, 1}, Preset::smoke);
  EXPECT_EQ(drawn_sizes(at, 1, 6, DrawnWork::little), drawn_sizes(at, 1, 6, DrawnWork::little));
  std::set<std::vector<Variables>> drawn;
  for (uint64_t seed = 0; seed < 20; ++seed)
    drawn.insert(drawn_sizes(at, seed, 6, DrawnWork::little));
  EXPECT_GT(drawn.size(), 18u);
}

/// What a kernel may have overlooked: over some draws each kind of number comes.
TEST(DrawnSizes, AreOddAndEvenSmallAndBeyondATile) {
  bool odd = false, even = false, quad = false, one = false, beyond = false, smaller = false;
  const auto own = build_graph(find_task({1, 23}), Preset::smoke);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const Variables& set :
         drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6, DrawnWork::little)) {
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
    const auto fours =
        drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6, DrawnWork::little, in_fours);
    EXPECT_GE(fours.size(), 4u);
    for (const Variables& set : fours) {
      EXPECT_TRUE(!set.contains("dim") || integer(set.at("dim")) % 4 == 0);
    }
    const auto large =
        drawn_sizes(task_at({1, 23}, Preset::smoke), seed, 6, DrawnWork::little, beyond);
    EXPECT_GE(large.size(), 1u);
    for (const Variables& set : large) EXPECT_EQ(integer(set.at("dim")) % 32, 0);
  }
  const auto never = [](const Variables&) { return 1; };
  EXPECT_TRUE(drawn_sizes(task_at({1, 23}, Preset::smoke), 1, 6, DrawnWork::little, never).empty());
}

/// Of all that the operators read and write.
double bytes_of(const Graph& graph) {
  double bytes = 0;
  for (const auto& value : graph.values()) bytes += static_cast<double>(value.type.bytes());
  return bytes;
}

TEST(SizesOfAShare, AreBetweenAQuarterAndTheWholeOfTheWorkAndTheSameComputation) {
  size_t with_eight = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const TaskAt at = task_at(task.id, Preset::v0_1);
    const auto own = build_graph(task, Preset::v0_1);
    const std::vector<Variables> sets = drawn_sizes(at, 11, 8, DrawnWork::a_share);
    with_eight += sets.size() == 8 ? 1 : 0;
    for (const Variables& set : sets) {
      EXPECT_EQ(std::ranges::count(sets, set), 1);
      const auto graph = build_graph(task, Preset::v0_1, set);
      EXPECT_LE(graph->flops(), own->flops());
      EXPECT_LE(bytes_of(*graph), bytes_of(*own));
      EXPECT_TRUE(graph->flops() >= own->flops() / 4 || bytes_of(*graph) >= bytes_of(*own) / 4);
      EXPECT_TRUE(same_operators(*graph, *own));
    }
  }
  EXPECT_GT(with_eight, tasks().size() * 8 / 10);
}

TEST(SizesOfAShare, AreOddAndAlignedAndKeepToWhatACandidateRequires) {
  const TaskAt at = task_at({1, 1}, Preset::v0_1);
  bool odd = false, aligned = false;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<Variables> sets = drawn_sizes(at, seed, 8, DrawnWork::a_share);
    EXPECT_EQ(sets, drawn_sizes(at, seed, 8, DrawnWork::a_share));
    for (const Variables& set : sets) {
      for (const auto& [name, value] : set) {
        odd = odd || integer(value) % 2 == 1;
        aligned = aligned || integer(value) % 64 == 0;
      }
    }
    const auto in_eights = [](const Variables& all) {
      return integer(all.at("N")) % 8 == 0 ? 0 : 1;
    };
    const auto eights = drawn_sizes(at, seed, 8, DrawnWork::a_share, in_eights);
    EXPECT_GE(eights.size(), 4u);
    for (const Variables& set : eights) EXPECT_EQ(integer(set.at("N")) % 8, 0);
  }
  EXPECT_TRUE(odd && aligned);
}

}  // namespace
}  // namespace kbench
