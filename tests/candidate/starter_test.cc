// Candidates to start from, whose sizes are expressions found by trying sizes.
#include "libkbench/candidate/starter.h"

#include "kbench/other_sizes.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using Macros = std::vector<std::pair<std::string, std::string>>;

Macros macros_of(const Starter& starter, const Graph& graph) {
  const Candidate candidate = parse_candidate(starter.one_file, "starter.yaml", "");
  return resolve(candidate, graph).kernels.at(0).macros;
}

TEST(Starter, ExpressionsGiveWhatOneWrittenForOtherSizesHas) {
  int compared = 0;
  for (const Task& task : tasks()) {
    const Starter starter = write_starter({task.id, "smoke", {}}, StarterLanguage::glsl);
    if (!starter.any_size) continue;
    for (const Variables& set : other_sizes({task.id, "smoke", {}})) {
      const Starter there = write_starter({task.id, "smoke", set}, StarterLanguage::glsl);
      if (there.kernel != starter.kernel) continue;
      const auto graph = build_graph(task, Preset::smoke, set);
      EXPECT_EQ(macros_of(starter, *graph), macros_of(there, *graph)) << to_string(task.id);
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

/// 3 divides 24 at smoke by chance.
TEST(Starter, TakesNoDivisionThatHoldsByChance) {
  const Starter starter = write_starter({{1, 3}, "smoke", {}}, StarterLanguage::glsl);
  EXPECT_THAT(starter.manifest, ::testing::HasSubstr("COUNT: \"batch_size * m * n\""));
}

}  // namespace
}  // namespace kbench
