#include "harness/evaluate/generate/plan.h"

#include <gtest/gtest.h>

#include <set>

#include "kbench/error.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::generate {
namespace {

TEST(PlanTest, NumbersEveryChainOnce) {
  const Plan plan(select_tasks("1/19-22,2/1"), {"a", "b", "c"}, 7);
  ASSERT_EQ(plan.chains(), 5u * 3 * 7);
  std::set<std::tuple<uint32_t, uint32_t, int>> seen;
  for (uint32_t number = 0; number < plan.chains(); ++number) {
    const Plan::Chain chain = plan.chain(number);
    EXPECT_EQ(chain.task, number / 21) << "a task's samples in a row";
    EXPECT_EQ(plan.number(chain), number);
    EXPECT_EQ(plan.find(plan.members()[chain.member], plan.tasks()[chain.task]->id, chain.sample),
              number);
    seen.emplace(chain.member, chain.task, chain.sample);
  }
  EXPECT_EQ(seen.size(), plan.chains());
}

TEST(PlanTest, FindsNothingThatIsNotPartOfIt) {
  const Plan plan(select_tasks("1/19"), {"a"}, 2);
  EXPECT_FALSE(plan.find("b", {1, 19}, 1));
  EXPECT_FALSE(plan.find("a", {1, 20}, 1));
  EXPECT_FALSE(plan.find("a", {1, 19}, 3));
  EXPECT_FALSE(plan.find("a", {1, 19}, 0));
}

TEST(PlanTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Plan({}, {"a"}, 1), Error);
  EXPECT_THROW(Plan(select_tasks("1/19"), {}, 1), Error);
  EXPECT_THROW(Plan(select_tasks("1/19"), {"a", "a"}, 1), Error);
  EXPECT_THROW(Plan(select_tasks("1/*"), {"a"}, 2'000'000'000), Error);
}

TEST(RunFolderTest, NoFolderGetsOverTenThousandEntries) {
  EXPECT_EQ(run_attempt_folder("m", {1, 19}, 3, 2), "candidates/m/level1_019/s03/a2");
  std::set<std::string> folders;
  std::map<std::string, int> entries;
  for (int sample = 1; sample <= 1'000'000; ++sample) {
    const std::string path = run_attempt_folder("m", {1, 19}, sample, 1);
    const std::string folder = path.substr(0, path.rfind("/a1"));
    const std::string parent = folder.substr(0, folder.rfind('/'));
    ++entries[parent];
    if (parent.ends_with("k")) folders.insert(parent);
  }
  for (const auto& [folder, count] : entries) EXPECT_LE(count, 10'000) << folder;
  EXPECT_LE(entries["candidates/m/level1_019"] + folders.size(), 10'000u);
}

TEST(RunFolderTest, NamesOfModelsBecomeNamesOfFolders) {
  EXPECT_EQ(run_folder_name("org/coder 7B"), "org_coder_7B");
  EXPECT_EQ(run_folder_name("../x"), "_.._x");
  EXPECT_EQ(run_folder_name("a+b"), "a+b");
  EXPECT_EQ(run_folder_name(""), "_");
}

}  // namespace
}  // namespace kbench::generate
