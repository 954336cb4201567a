#include "harness/evaluate/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/metrics/made_attempts.h"
#include "tests/report/made_run.h"
#include "tests/scratch_folder.h"

namespace kbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScratchFolder;

struct Page {
  explicit Page(const ConversationLimits& limits = {}) {
    testing::MadeRun made;
    made.tasks = 8;
    attempts = testing::make_run(folder.path(), made);
    show(folder.path(), limits);
  }
  /// The page of these attempts or results.
  void show(const std::string& path, const ConversationLimits& limits = {}) {
    const Study study = read_study({path}, {});
    html = report_page(study, analyse(study, {{}, {1.0}}), limits);
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const size_t begin = html.find(open) + open.size();
    data = nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  }
  ScratchFolder folder;
  int attempts = 0;
  std::string html;
  nlohmann::json data;
};

TEST(ReportPage, HoldsTextsFromOutsideAsDataOnly) {
  const Page page;
  EXPECT_THAT(page.html, Not(HasSubstr("<img")));
  EXPECT_THAT(page.html, Not(HasSubstr("<b>bold")));
  EXPECT_THAT(page.html, Not(HasSubstr("\u2028")));
  // And as they are.
  bool found = false;
  for (const auto& text : page.data["pool"]) {
    found |= text.get<std::string>().find(testing::kHostile) != std::string::npos;
  }
  EXPECT_TRUE(found);
}

TEST(ReportPage, NeedsNothingElse) {
  const Page page;
  for (const char* other : {"http://", "https://", "src=", "@import", "url("}) {
    std::string rest = page.html;
    const size_t data = rest.find("id=\"data\"");
    rest.erase(data, rest.find("</script>", data) - data);
    // The one address is the name of SVG's elements.
    for (size_t at; (at = rest.find("http://www.w3.org/2000/svg")) != rest.npos;)
      rest.erase(at, 26);
    EXPECT_THAT(rest, Not(HasSubstr(other)));
  }
  EXPECT_THAT(page.html, HasSubstr("default-src 'none'"));
  for (const char* hole : {"{\"data\":0}", "{style}", "{script}"}) {
    EXPECT_THAT(page.html, Not(HasSubstr(hole)));
  }
}

TEST(ReportPage, HasTheTablesOfTheTerminalAndTheCurvesOfEachModel) {
  const Page page;
  std::vector<std::string> titles;
  for (const auto& table : page.data["tables"]) titles.push_back(table["title"]);
  EXPECT_EQ(titles, (std::vector<std::string>{"Leaderboard", "How far answers come",
                                              "Attempt by attempt", "What they cost", "Together",
                                              "At equal calls", "Two by two"}));
  EXPECT_EQ(page.data["tables"][0]["rows"][0][0], "model");
  ASSERT_EQ(page.data["models"].size(), 3u);
  for (const auto& model : page.data["models"]) {
    for (const char* curve : {"fast", "fast_low", "pass", "correct_by", "fast_by", "alone"}) {
      EXPECT_GT(model[curve].size(), 1u) << curve;
      for (const auto& point : model[curve]) EXPECT_EQ(point.size(), 4u) << curve;
    }
  }
  EXPECT_GT(page.data["together"].size(), 1u);
}

TEST(ReportPage, HasASpeedupWithItsIntervalForEachTaskAndTheRatesOfTheDevice) {
  const Page page;
  size_t again = 0;
  for (const auto& cell : page.data["cells"]) {
    if (!cell.contains("speedup")) continue;
    EXPECT_LT(cell["speedup"]["low"], cell["speedup"]["point"]);
    EXPECT_LT(cell["speedup"]["point"], cell["speedup"]["high"]);
    if (!cell.contains("confirmed")) continue;
    again += cell["confirmed"]["point"] > 0;
    EXPECT_LE(cell["confirmed"]["point"], cell["confirmed"]["high"]);
  }
  EXPECT_GT(again, 0u);
  ASSERT_EQ(page.data["roofs"].size(), 1u);
  EXPECT_EQ(page.data["roofs"][0][0], "llvmpipe (made up)");
  EXPECT_EQ(page.data["roofs"][0][1], nlohmann::json({100, 10}));
}

TEST(ReportPage, OfAFileOfSetsHasTheSamePartsAndNamesThemSets) {
  Page page;
  EXPECT_EQ(page.data["of"], "model");
  page.show(page.folder.path() + "/results.jsonl");
  EXPECT_EQ(page.data["of"], "set");
  EXPECT_THAT(page.data["heading"], HasSubstr("3 candidate sets, 8 tasks, "));
  EXPECT_EQ(page.data["tables"][0]["rows"][0][0], "set");
  EXPECT_EQ(page.data["cells"].size(), 3u * 8u);
  EXPECT_EQ(page.data["roofs"], nlohmann::json::array()) << "no result records the rates";
  size_t measured = 0;
  for (const auto& text : page.data["texts"]) measured += text.contains("measured");
  EXPECT_GT(measured, 0u);
}

TEST(ReportPage, CellsHaveConversationsCodeDiagnosticsAndTimes) {
  const Page page;
  EXPECT_EQ(page.data["cells"].size(), 3u * 8u);
  EXPECT_EQ(page.data["shown"][0], page.attempts);
  size_t code = 0, answers = 0, diagnostics = 0, measured = 0, prompts = 0;
  for (const auto& text : page.data["texts"]) {
    code += !text["code"].empty();
    answers += !text["answer"].is_null();
    prompts += !text["prompt"].empty();
    diagnostics += text.contains("diagnostics") && !text["diagnostics"].empty();
    measured += text.contains("measured");
  }
  EXPECT_EQ(answers, size_t(page.attempts));
  EXPECT_EQ(prompts, size_t(page.attempts));
  EXPECT_GT(code, answers / 2);
  EXPECT_GT(diagnostics, 0u);
  EXPECT_GT(measured, 0u);
}

TEST(ReportPage, OfALargeRunHasTheTellingAttemptOfEachCellFirst) {
  const Page page({.attempts = 24});
  EXPECT_EQ(page.data["shown"][0], 24);
  EXPECT_EQ(page.data["shown"][1], page.attempts);
  for (const auto& cell : page.data["cells"]) {
    const int sample = cell["telling"][0], attempt = cell["telling"][1];
    bool has_texts = false;
    for (const auto& chain : cell["chains"]) {
      for (size_t i = 1; i < chain.size(); ++i) {
        has_texts |= chain[0] == sample && chain[i][0] == attempt && !chain[i][3].is_null();
      }
    }
    EXPECT_TRUE(has_texts);
  }
  const Page tiny({.total = 1});
  EXPECT_EQ(tiny.data["texts"].size(), 1u);  // the one that went past the limit
}

TEST(ReportPage, ShowsTheCountingRecordOfARepeatedAttempt) {
  const ScratchFolder folder;
  Attempt lost = testing::unanswered("m", {1, 19}, 1), kept = testing::wrong("m", {1, 19}, 1);
  kept.seconds = 12.5;
  std::ofstream(folder.path() + "/attempts.jsonl") << to_json(kept) << '\n'
                                                   << to_json(lost) << '\n';
  const Study study = read_study({folder.path()}, {});
  const Conversations found = collect(study, {{0, {1, 19}, 1, 1}, {0, {1, 19}, 2, 1}}, {});
  ASSERT_EQ(found.included.size(), 1u);
  EXPECT_EQ(found.texts.at(0).at("seconds"), 12.5);
}

TEST(Marks, AreShortDistinctAndThereForEveryOutcome) {
  std::set<std::string_view> texts;
  for (const Mark& mark : marks()) {
    EXPECT_TRUE(texts.insert(mark.text).second) << mark.text;
    EXPECT_LE(mark.text.size(), 5u);
    EXPECT_FALSE(mark.meaning.empty());
  }
  AttemptRow row;
  for (int i = 0; i <= int(Outcome::unanswered); ++i) {
    row.outcome = Outcome(i);
    row.verdict.reset();
    EXPECT_NO_THROW(mark_of(row));
  }
  row.outcome = Outcome::candidate;
  for (int i = 0; i <= int(Verdict::harness_error); ++i) {
    row.verdict = Verdict(i);
    EXPECT_EQ(marks()[mark_of(row)].name, name_of(Verdict(i)));
  }
}

TEST(ScriptSafe, KeepsJsonsMeaning) {
  const std::string json = "[\"</script><!--\u2028\u2029\"]";
  const std::string safe = script_safe(json);
  EXPECT_THAT(safe, Not(HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(safe), nlohmann::json::parse(json));
}

}  // namespace
}  // namespace kbench::report
