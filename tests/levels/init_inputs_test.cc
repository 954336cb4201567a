// What the modules of tasks take to be made names the tasks' own variables.
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "kbench/ops.h"
#include "kbench/task.h"

namespace kbench {
namespace {

TEST(InitInputs, AreListsOverTheTasksVariables) {
  size_t with_some = 0;
  for (const Task& task : tasks()) {
    const std::string list(init_inputs(task.id));
    SCOPED_TRACE(to_string(task.id) + " " + list);
    ASSERT_GE(list.size(), 2u);
    EXPECT_EQ(list.front(), '[');
    EXPECT_EQ(list.back(), ']');
    with_some += list != "[]" ? 1 : 0;
    const Variables variables = variables_of(task, Preset::v0_1);
    std::string word;
    for (const char c : list + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
        continue;
      }
      const bool name = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0]));
      if (name && word != "True" && word != "False" && word != "None") {
        EXPECT_TRUE(variables.contains(word)) << word;
      }
      word.clear();
    }
  }
  EXPECT_EQ(with_some, 207u);
  EXPECT_EQ(init_inputs({1, 40}), "[(features, dim1, dim2)]");
  EXPECT_EQ(init_inputs({1, 19}), "[]");
}

TEST(InitInputs, OfATaskOfOnesOwnAreItsVariables) {
  Task task;
  task.id = {0, 0, "init_inputs/mlp", 1};
  task.name = "MLP";
  task.variables = {{"tokens", int64_t{6}}, {"width", int64_t{16}}, {"eps", 1e-5}};
  task.build = [](Graph& graph) { graph.output(relu(graph.input("x", {6, 16}))); };
  EXPECT_EQ(init_inputs(add_own_task(task).id), "[tokens, width, eps]");
}

TEST(InitInputs, SayTheValuesOfListsToAReader) {
  const auto text = [](TaskId task) {
    return init_inputs_text(task, variables_of(find_task(task), Preset::smoke));
  };
  EXPECT_EQ(text({1, 19}), "[]");
  EXPECT_EQ(text({1, 40}), "[(features, dim1, dim2)]");
  EXPECT_EQ(text({2, 76}), "[in_features, out_features, bias_shape] with bias_shape = (64,)");
}

}  // namespace
}  // namespace kbench
