// What a run keeps on disk: whole lines, settings, budgets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "harness/evaluate/generate/budget.h"
#include "harness/evaluate/generate/ledger.h"
#include "harness/evaluate/generate/line_file.h"
#include "harness/evaluate/generate/settings.h"
#include "harness/evaluate/generate/store.h"
#include "kbench/error.h"
#include "tests/candidate/support.h"

namespace kbench::generate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> all;
    each_line(scratch_.path(name), [&](std::string_view line, int64_t) { all.emplace_back(line); });
    return all;
  }
  testing_support::ScratchFolder scratch_;
};

TEST_F(FilesTest, LinesAreAppendedAfterATornOneIsCutOff) {
  for (const std::string torn : {"{\"half", "\0\0\0", "{\"whole\":1}\n\0\0"}) {
    scratch_.write("f", "one\ntwo\n" + torn);
    LineFile file(scratch_.path("f"));
    file.append("three", true);
    EXPECT_THAT(lines("f"), ::testing::Contains("three"));
    EXPECT_THAT(lines("f"), ::testing::Not(::testing::Contains("{\"half")));
  }
}

TEST_F(FilesTest, AFileWithoutANewlineIsATornLineAlone) {
  scratch_.write("f", std::string(200'000, 'x'));
  EXPECT_EQ(cut_torn_line(scratch_.path("f")), 0);
  EXPECT_EQ(cut_torn_line(scratch_.path("none")), 0);
}

TEST_F(FilesTest, ThreadsDoNotTearEachOthersLines) {
  LineFile file(scratch_.path("deep/f"));
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([&file, c] {
      for (int i = 0; i < 200; ++i) file.append(std::string(5000, c), false);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto all = lines("deep/f");
  EXPECT_EQ(all.size(), 800u);
  for (const std::string& line : all) EXPECT_EQ(line, std::string(5000, line[0]));
}

TEST_F(FilesTest, ALineIsFoundAgainByItsOffset) {
  const std::string path = scratch_.path("f");
  append_line(path, "short");
  append_line(path, std::string(100'000, 'y'));
  append_line(path, "last");
  std::vector<int64_t> offsets;
  each_line(path, [&](std::string_view, int64_t offset) { offsets.push_back(offset); });
  ASSERT_EQ(offsets.size(), 3u);
  EXPECT_EQ(line_at(path, offsets[1]).size(), 100'000u);
  EXPECT_EQ(line_at(path, offsets[2]), "last");
}

Settings some_settings() {
  Settings settings;
  settings.set("goal", std::string("correct"));
  settings.set("samples", int64_t{10});
  settings.set("device", std::string("a \"GPU\": 1"));
  settings.set("code", false);
  settings.set_tasks(select_tasks("1/19-20"));
  settings.add_model(R"({"name":"a","model":"org/a","temperature":1.0,"connections":8})");
  return settings;
}

TEST_F(FilesTest, SettingsComeBackFromTheirFile) {
  scratch_.write("run.yaml", some_settings().to_yaml());
  const Settings read = Settings::read(scratch_.path("run.yaml"));
  EXPECT_EQ(read.to_yaml(), some_settings().to_yaml());
  EXPECT_EQ(read.text("device"), "a \"GPU\": 1");
  EXPECT_EQ(read.number("samples"), 10);
  EXPECT_EQ(read.flag("code"), false);
  EXPECT_THAT(read.tasks(), ElementsAre(TaskId{1, 19}, TaskId{1, 20}));
  EXPECT_THAT(read.model_names(), ElementsAre("a"));
}

TEST_F(FilesTest, ASpoiledSettingIsNamedByItsLine) {
  for (const char* text :
       {"# x\ngoal correct\n", "# x\ngoal: correct\n", "models:\n  - 7\n",
        "# x\nsamples: \"ten\"\n", "# x\nattempts: {}\n", "# x\ndtype: \"f64\"\n"}) {
    scratch_.write("run.yaml", text);
    testing_support::expect_error([&] { Settings::read(scratch_.path("run.yaml")); }, 2, 0,
                                  "is no setting of a run");
  }
}

std::string refusal(const Settings& asked, const Settings& stored) {
  try {
    asked.resumed(stored, "RUN");
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

TEST_F(FilesTest, ARunGoesOnWithMoreOfTheSameOnly) {
  Settings more = some_settings();
  more.set("samples", int64_t{20});
  more.set_tasks(select_tasks("1/20-21"));
  more.add_model(R"({"name":"b"})");
  const Settings merged = more.resumed(some_settings(), "RUN");
  EXPECT_EQ(merged.number("samples"), 20);
  EXPECT_EQ(merged.tasks().size(), 3u);
  EXPECT_THAT(merged.model_names(), ElementsAre("a", "b"));
  Settings fewer = some_settings();
  fewer.set("samples", int64_t{5});
  EXPECT_EQ(fewer.resumed(some_settings(), "RUN").number("samples"), 10);

  Settings other = some_settings();
  other.set("goal", std::string("faster:2"));
  EXPECT_EQ(
      refusal(other, some_settings()),
      "RUN was begun with goal \"correct\", and cannot go on with \"faster:2\"; take the same, "
      "or another folder");
  EXPECT_EQ(refusal(some_settings(), some_settings()), "");
}

TEST_F(FilesTest, ARunStaysInItsDtypeAndOneThatDoesNotSayIsOfFloat32) {
  EXPECT_EQ(some_settings().text("dtype"), "f32");
  Settings single = some_settings(), halves = some_settings();
  single.set("dtype", std::string("f32"));
  halves.set("dtype", std::string("f16"));
  EXPECT_EQ(refusal(single, some_settings()), "");
  EXPECT_THAT(refusal(some_settings(), halves),
              HasSubstr("begun with dtype \"f16\", and cannot go on with \"f32\""));
  EXPECT_THAT(refusal(halves, some_settings()),
              HasSubstr("begun with dtype \"f32\", and cannot go on with \"f16\""));
  EXPECT_THAT(refusal(single, halves),
              HasSubstr("begun with dtype \"f16\", and cannot go on with \"f32\""));
}

TEST_F(FilesTest, AResultIsFoundAgainAtItsPresetInItsDtype) {
  Result result;
  result.set = "a";
  result.task = {1, 19};
  result.preset = "smoke";
  result.dtype = DType::f16;
  result.verdict = Verdict::wrong_values;
  result.candidate_hash = std::string(64, 'a');
  ResultStore store(scratch_.path("results.jsonl"));
  store.append(result);
  EXPECT_TRUE(store.find(result.candidate_hash, Preset::smoke, DType::f16));
  EXPECT_FALSE(store.find(result.candidate_hash, Preset::smoke, DType::f32));
  EXPECT_FALSE(store.find(result.candidate_hash, Preset::v0, DType::f16));
}

TEST_F(FilesTest, ARunOfAVersionWithoutASettingIsRefused) {
  Settings asked = some_settings();
  asked.set("precision", true);
  EXPECT_EQ(refusal(asked, some_settings()),
            "RUN was begun without the setting 'precision', by another version of kbench, and "
            "cannot go on with this one; take that version, or another folder");
}

TEST_F(FilesTest, ASpoiledResultIsNamedByFileAndLine) {
  Result result;
  result.task = {1, 19};
  result.candidate_hash = std::string(64, 'a');
  scratch_.write("results.jsonl", to_json(result) + "\n{\"kbench\":x\n");
  testing_support::expect_error([&] { ResultStore(scratch_.path("results.jsonl")); }, 2, 0,
                                "is not JSON");
}

TEST_F(FilesTest, OfAModelWhatShapesItsAnswersMustStay) {
  const auto with = [](const std::string& model) {
    Settings settings;
    settings.add_model(model);
    return settings;
  };
  const Settings stored = with(R"({"name":"a","model":"m","temperature":1.0,"connections":8})");
  EXPECT_EQ(refusal(with(R"({"name":"a","model":"m","temperature":1.0,"connections":2})"), stored),
            "");
  EXPECT_THAT(
      refusal(with(R"({"name":"a","model":"m","temperature":0.5,"connections":8})"), stored),
      HasSubstr("model a's temperature 1.0"));
  const std::string now = R"({"name":"a","send":{"seed":true}})";
  EXPECT_THAT(refusal(with(now), with(R"({"name":"a","send":{"seed":false}})")),
              HasSubstr("model a's send"));
}

TEST_F(FilesTest, WhatWasNotKnownIsTakenOver) {
  Settings stored = some_settings(), asked = some_settings();
  stored.set("device", nullptr);
  EXPECT_EQ(asked.resumed(stored, "RUN").text("device"), "a \"GPU\": 1");
  asked.set("device", nullptr);
  EXPECT_EQ(asked.resumed(some_settings(), "RUN").text("device"), "a \"GPU\": 1");
}

TEST(BudgetTest, GrantsByTheMostARequestCanUse) {
  Budget budget({.tokens = 1000}, {});
  Sampling sampling;
  sampling.max_tokens = 100;
  const Budget::Claim claim = budget.claim(200, sampling, {});
  EXPECT_EQ(claim.tokens, 100 + 64 + 100);
  ASSERT_EQ(budget.ask(claim), Budget::Grant::given);
  ASSERT_EQ(budget.ask(claim), Budget::Grant::given);
  ASSERT_EQ(budget.ask(claim), Budget::Grant::given);
  EXPECT_EQ(budget.ask(claim), Budget::Grant::wait);
  const Usage little{.input = 10, .output = 10};
  budget.settle(claim, &little, {});
  EXPECT_EQ(budget.ask(claim), Budget::Grant::given);
  for (int i = 0; i < 3; ++i) {
    const Usage much{.input = 150, .output = 110};
    budget.settle(claim, &much, {});
  }
  EXPECT_EQ(budget.ask(claim), Budget::Grant::spent);
  EXPECT_EQ(budget.reason(), "--max-tokens 1000");
}

TEST(BudgetTest, WhatAServerDoesNotSayCountsAsTheEstimate) {
  Budget budget({.tokens = 1000}, {});
  Sampling sampling;
  sampling.max_tokens = 400;
  const Budget::Claim claim = budget.claim(200, sampling, {});
  const Usage unknown;
  ASSERT_EQ(budget.ask(claim), Budget::Grant::given);
  budget.settle(claim, &unknown, {});
  EXPECT_EQ(budget.ask(claim), Budget::Grant::spent);
  EXPECT_EQ(budget.spent().unknown_tokens, 1);
}

TEST(BudgetTest, EarlierProcessesCount) {
  Spent before;
  before.cost = 9.9;
  Budget budget({.cost = 10}, before);
  const ModelPrice price{.input = 1, .output = 1};
  Sampling sampling;
  sampling.max_tokens = 200'000;
  EXPECT_EQ(budget.ask(budget.claim(2, sampling, price)), Budget::Grant::spent);
  sampling.max_tokens = 1000;
  EXPECT_EQ(budget.ask(budget.claim(2, sampling, price)), Budget::Grant::given);
}

TEST(LedgerTest, ALinesIdsAreFoundWithoutReadingTheAnswer) {
  EXPECT_EQ(ids_of(R"({"model":"m","task":"level1/19","sample":12,"attempt":3,"answer":"x"})"),
            std::pair(12, 3));
}

}  // namespace
}  // namespace kbench::generate
