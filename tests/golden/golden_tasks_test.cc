// Every task of the suite declares exactly what its golden records hold.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/task_parameters.h"
#include "tests/golden/golden_data.h"

namespace kbench {
namespace {

class GoldenTask : public ::testing::TestWithParam<Task> {};

/// The record's value as a variable of the task would hold it: a flag is an integer there.
void expect_same_variables(const Variables& mine, const Variables& golden) {
  EXPECT_EQ(mine.size(), golden.size());
  for (const auto& [name, value] : golden) {
    const auto found = mine.find(name);
    ASSERT_NE(found, mine.end()) << "the task lacks variable " << name;
    EXPECT_EQ(found->second, value)
        << name << ": " << to_string(found->second) << " against " << to_string(value);
  }
}

void expect_same_draws(const Graph::ValueInfo& mine, const Distribution& golden) {
  const Distribution& drawn = mine.distribution;
  const bool same = drawn.kind == golden.kind && drawn.then == golden.then &&
                    std::abs(drawn.lo - golden.lo) < 1e-9 && std::abs(drawn.hi - golden.hi) < 1e-9;
  EXPECT_TRUE(same) << mine.name << ": " << to_string(drawn) << " against " << to_string(golden);
}

TEST_P(GoldenTask, HasTheRecordsVariablesAndTensors) {
  const Task& task = GetParam();
  for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
    SCOPED_TRACE(std::string(name_of(preset)));
    const GoldenRecord& record = golden_record(preset, task.id);
    EXPECT_EQ(task.name, record.name);
    expect_same_variables(variables_of(task, preset), record.variables);

    const auto graph = build_graph(task, preset);
    std::vector<const GoldenTensor*> expected;
    for (const GoldenTensor& tensor : record.tensors) {
      if (tensor.kind != "scalar") expected.push_back(&tensor);
    }
    std::vector<int> ids = graph->values_of(Graph::Kind::input);
    const std::vector<int> parameters = graph->values_of(Graph::Kind::parameter);
    const size_t inputs = ids.size();
    ids.insert(ids.end(), parameters.begin(), parameters.end());
    ASSERT_EQ(ids.size(), expected.size());
    // Inputs in the order of the module's arguments; parameters by name, their order being free.
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto& info = graph->values()[static_cast<size_t>(ids[i])];
      const GoldenTensor* tensor = expected[i];
      if (i >= inputs) {
        const auto named = std::ranges::find(expected, info.name, &GoldenTensor::name);
        ASSERT_NE(named, expected.end()) << "no golden parameter " << info.name;
        tensor = *named;
      }
      EXPECT_EQ(info.name, tensor->name);
      EXPECT_EQ(tensor->kind, i < inputs ? "input" : "param");
      EXPECT_EQ(info.type, tensor->type)
          << info.name << ": " << to_string(info.type) << " against " << to_string(tensor->type);
      // Records of the larger presets were made before some distributions became what they are;
      // verify draws what the record says.
      if (preset == Preset::smoke) expect_same_draws(info, tensor->distribution);
    }

    ASSERT_EQ(graph->outputs().size(), record.outputs.size());
    for (size_t i = 0; i < record.outputs.size(); ++i) {
      const auto& info = graph->values()[static_cast<size_t>(graph->outputs()[i])];
      EXPECT_EQ(info.type, record.outputs[i].type)
          << "output " << i << ": " << to_string(info.type) << " against "
          << to_string(record.outputs[i].type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTask, ::testing::ValuesIn(tasks()), test_name);

}  // namespace
}  // namespace kbench
