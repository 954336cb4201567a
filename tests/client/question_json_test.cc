#include "libkbench/question/question_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kbench/error.h"
#include "libkbench/scoring/settings.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Question read(const json& object, const Limits& most = kAnyLimits, Question question = {}) {
  static const std::string kNoFile;
  read_question(JsonField(object, kNoFile, ""), {"id"}, most, question);
  return question;
}

/// Every field has another value than usual, but the recorded times and the candidate.
Question full_question() {
  Question question;
  question.preset = "v0";
  question.overrides = {{"dim", int64_t{65}}, {"p", 0.5}};
  question.dtype = DType::bf16;
  question.rule = {
      ToleranceRule::kernelbench, OtherSizes::require, 3, true, true, true, Sanitize::fail};
  question.plan = {0.5, 3, 9, 99, {0.5, 2}, ~uint64_t{0}};
  question.limits = {1, 2, 3, int64_t{1} << 30};
  question.opponent = opponent_from_name("best:torch,torch.compile:max-autotune");
  question.check = true;
  return question;
}

TEST(QuestionJson, SurvivesWithEveryField) {
  const json object = question_json(full_question());
  EXPECT_EQ(object.dump(2), question_json(read(object)).dump(2));
  for (const char* part : {"rule", "plan", "limits"}) {
    EXPECT_EQ(object.at(part).size(), json(question_schema()).at(part).at("properties").size());
  }
  EXPECT_EQ(object.size(), question_schema().size());
  EXPECT_EQ(settings_text(read(object)), settings_text(full_question()));
}

TEST(QuestionJson, HasOnlyWhatDiffers) {
  EXPECT_EQ(question_json({}), json::object());
  Question one;
  one.plan.min_samples = 9;
  EXPECT_EQ(question_json(one), json({{"plan", {{"min_samples", 9}}}}));
  EXPECT_EQ(question_json({}, one), json({{"plan", {{"min_samples", 0}}}}));
  EXPECT_EQ(question_json(one, one), json::object());
}

TEST(QuestionJson, WhatIsLeftOutStays) {
  const Question asked = read({{"id", 1}, {"rule", {{"validate", false}}}, {"dtype", "f16"}},
                              kAnyLimits, full_question());
  EXPECT_FALSE(asked.rule.validate);
  EXPECT_EQ(asked.dtype, DType::f16);
  EXPECT_EQ(asked.rule.tolerance, ToleranceRule::kernelbench);
  EXPECT_EQ(asked.plan.seed, ~uint64_t{0});
  EXPECT_EQ(asked.overrides, full_question().overrides);
}

TEST(QuestionJson, AsEarlierVersionsWroteItIsRead) {
  const Question flat = read({{"set", {{"dim", 65}}},
                              {"tolerance", "kernelbench"},
                              {"precision", 0.5},
                              {"seed", 7u},
                              {"total_seconds", 3},
                              {"other_sizes", false}});
  EXPECT_EQ(flat.overrides, (Variables{{"dim", int64_t{65}}}));
  EXPECT_EQ(flat.rule.tolerance, ToleranceRule::kernelbench);
  EXPECT_EQ(flat.rule.other_sizes, OtherSizes::none);
  EXPECT_EQ(flat.plan.precision, 0.5);
  EXPECT_EQ(flat.plan.seed, 7u);
  EXPECT_EQ(flat.limits.total_seconds, 3);
  EXPECT_EQ(read({{"general", true}}).rule.other_sizes, OtherSizes::require);
  EXPECT_EQ(read({{"general", true}, {"other_sizes", true}}).rule.other_sizes, OtherSizes::require);
  EXPECT_EQ(read({{"general", true}, {"other_sizes", false}}).rule.other_sizes, OtherSizes::none);
  EXPECT_EQ(read({{"other_sizes", true}}).rule.other_sizes, OtherSizes::note);
  EXPECT_EQ(read({{"other_sizes", "require"}}).rule.other_sizes, OtherSizes::require);
  // Beside today's form, which counts.
  EXPECT_EQ(read({{"precision", 0.5}, {"plan", {{"precision", 0.25}}}}).plan.precision, 0.25);
}

TEST(QuestionJson, ReadsTheFileOfRecordedTimes) {
  const testing::ScratchFolder folder;
  EXPECT_EQ(code_of([&] {
              read({{"recorded", {{"file", folder / "none.json"}}}});
            }),
            ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { read({{"recorded", {{"times", 1}}}}); }), ErrorCode::kParse);
}

TEST(QuestionJson, EachMistakeIsNamed) {
  const std::pair<json, std::string> wrong[] = {
      {json::array(), "must be an object"},
      {{{"candidate", "relu.yaml"}}, "'candidate'"},
      {{{"precisio", 1}}, "'precisio'"},
      {{{"plan", {{"precisio", 1}}}}, "plan has no field 'precisio'"},
      {{{"plan", 1}}, "plan must be an object"},
      {{{"plan", 1}, {"precision", 1}}, "plan must be an object"},
      {{{"plan", {{"precision", 2}}}}, "plan.precision must be a number from 0 to 1"},
      {{{"precision", -1}}, "plan.precision must be a number from 0 to 1"},
      {{{"plan", {{"min_samples", -1}}}}, "plan.min_samples must be a number from 0"},
      {{{"plan", {{"max_seconds", 21}}}}, "plan.max_seconds must be a number from 0 to 20"},
      {{{"limits", {{"total_seconds", 21}}}},
       "limits.total_seconds must be a number from 0.001 to"},
      {{{"limits", {{"host_bytes", 5}}}}, "limits.host_bytes must be a number from 1048576"},
      {{{"plan", {{"thresholds", std::vector<double>(101)}}}}, "more than 100"},
      {{{"rule", {{"workloads", 65u}}}}, "rule.workloads must be a number from 1 to 64"},
      {{{"rule", {{"tolerance", "mine"}}}}, "kbench or kernelbench"},
      {{{"rule", {{"other_sizes", "all"}}}}, "none, note, require"},
      {{{"rule", {{"validate", 1}}}}, "rule.validate must be true or false"},
      {{{"general", 1}}, "must be true or false"},
      {{{"opponent", "me"}}, "no opponent 'me'"},
      {{{"dtype", "f64"}}, "f32, f16, bf16"},
      {{{"preset", "huge"}}, "huge"},
      {{{"check", 1}}, "check must be true or false"},
      {{{"overrides", {{"dim", "x"}}}}, "dim"}};
  const Limits most = {.total_seconds = 20};
  for (const auto& [object, why] : wrong) {
    const Error error = error_of([&] { read(object, most); });
    EXPECT_EQ(error.code(), ErrorCode::kParse) << object;
    EXPECT_THAT(error.message(), HasSubstr(why)) << object;
  }
}

TEST(QuestionJson, TheSchemaSaysWhatEachFieldTakes) {
  const json schema(question_schema());
  EXPECT_EQ(schema.at("rule").at("properties").at("other_sizes").at("enum"),
            json({"none", "note", "require"}));
  EXPECT_EQ(schema.at("plan").at("properties").at("precision").at("type"), "number");
  EXPECT_EQ(schema.at("plan").at("properties").at("min_samples").at("minimum"), 0);
  EXPECT_EQ(schema.at("limits").at("properties").at("host_bytes").at("type"), "integer");
  EXPECT_FALSE(schema.contains("candidate"));
  EXPECT_FALSE(schema.contains("recorded"));
}

}  // namespace
}  // namespace kbench
