// Every variable of every task set to odd values, and to values that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "kbench/error.h"
#include "kbench/reference.h"
#include "kbench/task.h"
#include "tests/core/task_parameters.h"
#include "tests/levels/differences.h"

namespace kbench {
namespace {

using List = std::vector<int64_t>;

std::vector<int64_t> odd_integers(const std::string& name, int64_t value) {
  if (name == "batch_size" || name == "b") return {1, 3, 5};
  return value < 8 ? List{1, 2, 3, 5} : List{29, 37, 53};
}

/// As in refusals.py, which asks the original modules for the same values.
std::vector<VariableValue> odd_values(const std::string& name, const VariableValue& value) {
  if (std::holds_alternative<double>(value)) return {0.75, -1.5};
  std::vector<VariableValue> values;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    for (const int64_t odd : odd_integers(name, *integer)) values.emplace_back(odd);
    return values;
  }
  for (size_t i = 0; i < 3; ++i) {
    List list;
    for (const int64_t item : std::get<List>(value)) {
      const List odd = odd_integers("", item);
      list.push_back(odd[i % odd.size()]);
    }
    values.emplace_back(list);
  }
  return values;
}

/// Values of every type that no task can do anything with, or hardly any.
std::vector<VariableValue> senseless_values(const VariableValue& value) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<VariableValue> values = {0.5, -kInfinity, std::nan(""), 1e308, 5e-324, List{}};
  const size_t size = std::holds_alternative<List>(value) ? std::get<List>(value).size() : 2;
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{-7}, int64_t{1} << 15,
                               int64_t{1} << 31, -(int64_t{1} << 31), kMost, -kMost - 1}) {
    values.emplace_back(number);
    values.emplace_back(List(size, number));
    values.emplace_back(List(size + 1, number));
  }
  return values;
}

std::string line_of(const Task& task, const std::string& name, const VariableValue& value) {
  std::string text = to_string(value);
  std::erase(text, ' ');
  return std::to_string(task.id.level) + "/" + std::to_string(task.id.number) + " " + name + "=" +
         text;
}

/// The lines of refused.txt, with their reasons.
const std::map<std::string, std::string>& refused_by_the_original() {
  static const auto refused = [] {
    std::map<std::string, std::string> lines;
    std::ifstream file(KBENCH_LEVELS_TEST_DIR "/refused.txt");
    for (std::string line; std::getline(file, line);) {
      const size_t reason = line.find(" # ");
      if (reason != std::string::npos) lines[line.substr(0, reason)] = line.substr(reason + 3);
    }
    return lines;
  }();
  return refused;
}

/// Whether a size is to be refused, and why.
std::pair<bool, std::string> expectation(const std::string& line) {
  for (const Difference& difference : kDifferences) {
    const std::string_view of = difference.size;
    if (line == of || (line.starts_with(of) && line[of.size()] == '=')) {
      return {true, difference.reason};
    }
  }
  const auto found = refused_by_the_original().find(line);
  if (found == refused_by_the_original().end()) return {false, "the original runs"};
  return {true, found->second};
}

/// One line that says of which task it speaks and is for people to read.
void expect_readable(const Task& task, const Error& error) {
  const std::string message = error.message();
  EXPECT_THAT(message, ::testing::HasSubstr(to_string(task.id)));
  EXPECT_GT(message.size(), to_string(task.id).size() + 10);
  EXPECT_LT(message.size(), 700u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(error.code(), ErrorCode::kInternal) << message;
}

void expect_consistent(const Graph& graph) {
  EXPECT_FALSE(graph.outputs().empty());
  EXPECT_TRUE(std::isfinite(graph.flops()));
  EXPECT_GT(graph.flops(), 0);
  EXPECT_GT(graph.least_bytes(), 0);
  for (const auto& value : graph.values()) EXPECT_GT(value.type.bytes(), 0) << value.name;
}

/// Runs the reference where that takes no more than a few milliseconds.
void run_if_cheap(const Task& task, const Graph& graph) {
  if (graph.flops() > 2e7 || graph.least_bytes() > 4e6 || graph.nodes().size() > 200) return;
  NamedTensors tensors;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) {
      const auto& info = graph.values()[static_cast<size_t>(id)];
      tensors[info.name] = draw(info.distribution, {7, task.id.draw_word(), info.name}, info.type);
    }
  }
  const auto outputs = run_reference(graph, std::move(tensors), {.precision = Precision::f32});
  ASSERT_EQ(outputs.size(), graph.outputs().size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& type = graph.values()[static_cast<size_t>(graph.outputs()[i])].type;
    ASSERT_EQ(outputs[i].type(), type);
    for (int64_t at = 0; at < outputs[i].elements(); ++at) {
      ASSERT_TRUE(std::isfinite(outputs[i].at(at))) << "element " << at;
    }
  }
}

class OverridesTest : public ::testing::TestWithParam<Task> {};

TEST_P(OverridesTest, OddSizesRunWhereTheOriginalRuns) {
  const Task& task = GetParam();
  for (const auto& [name, value] : variables_of(task, Preset::smoke)) {
    for (const VariableValue& odd : odd_values(name, value)) {
      if (odd == value) continue;
      const std::string line = line_of(task, name, odd);
      SCOPED_TRACE(line);
      const auto [refused, reason] = expectation(line);
      try {
        const auto graph = build_graph(task, Preset::smoke, {{name, odd}});
        EXPECT_FALSE(refused) << "accepted; expected a refusal: " << reason;
        expect_consistent(*graph);
        run_if_cheap(task, *graph);
      } catch (const Error& error) {
        EXPECT_TRUE(refused) << error.what();
        expect_readable(task, error);
      }
    }
  }
}

TEST_P(OverridesTest, SenselessSizesAreRefusedInWords) {
  const Task& task = GetParam();
  for (const auto& [name, value] : variables_of(task, Preset::smoke)) {
    for (const VariableValue& senseless : senseless_values(value)) {
      SCOPED_TRACE(line_of(task, name, senseless));
      try {
        const auto graph = build_graph(task, Preset::smoke, {{name, senseless}});
        expect_consistent(*graph);
      } catch (const Error& error) {
        expect_readable(task, error);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OverridesTest, ::testing::ValuesIn(tasks()), test_name);

/// A list of refusals that no test looks at would prove nothing.
TEST(OverridesTable, HoldsOnlyValuesThatAreTried) {
  std::set<std::string> tried;
  for (const Task& task : tasks()) {
    for (const auto& [name, value] : variables_of(task, Preset::smoke)) {
      for (const VariableValue& odd : odd_values(name, value)) {
        tried.insert(line_of(task, name, odd));
      }
    }
  }
  EXPECT_GT(refused_by_the_original().size(), 100u);
  for (const auto& [line, reason] : refused_by_the_original()) {
    EXPECT_TRUE(tried.contains(line)) << line;
  }
  for (const Difference& difference : kDifferences) {
    EXPECT_TRUE(std::ranges::any_of(tried, [&](const std::string& line) {
      return line.starts_with(difference.size);
    })) << difference.size;
  }
}

}  // namespace
}  // namespace kbench
