#include "harness/evaluate/report/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/evaluate/report/page.h"
#include "tests/error_of.h"
#include "tests/metrics/made_attempts.h"
#include "tests/report/made_run.h"
#include "tests/scratch_folder.h"

namespace kbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::ScratchFolder;

struct Made {
  explicit Made(const testing::MadeRun& run, AnalysisOptions options = {{}, {1.0}}) {
    attempts = testing::make_run(folder.path(), run);
    study = read_study({folder.path()}, {});
    analysis = analyse(study, options);
  }
  ScratchFolder folder;
  int attempts = 0;
  Study study;
  Analysis analysis;
};

testing::MadeRun small() {
  testing::MadeRun run;
  run.tasks = 12;
  run.texts = false;
  return run;
}

TEST(Report, CountsInItsTablesWhatIsInTheRun) {
  const Made made(small());
  const nlohmann::json json = nlohmann::json::parse(report_json(made.study, made.analysis));
  EXPECT_EQ(json["attempts"], made.attempts);
  ASSERT_EQ(json["models"].size(), 3u);
  int64_t answered = 0;
  double last = 2;
  for (const auto& model : json["models"]) {
    answered += model["funnel"][0]["answered"].get<int64_t>() +
                model["funnel"][0]["unfinished"].get<int64_t>();
    const double fast = model["fast_p"][0]["at_point"]["1"]["value"]["low"];
    EXPECT_LE(fast, last);  // the best first
    last = fast;
    EXPECT_EQ(model["tasks"].size(), 12u);
    EXPECT_LE(model["fast_p"][0]["at_low"]["1"]["value"]["low"], fast);
    EXPECT_LE(model["pass"]["1"]["value"]["low"], model["pass"]["4"]["value"]["low"]);
    EXPECT_GE(model["pass"]["4"]["value"]["high"], model["solved"].get<double>() / 12 - 1e-9);
  }
  EXPECT_EQ(answered, made.attempts);
  EXPECT_EQ(json["comparisons"].size(), 3u);
  EXPECT_EQ(json["comparisons"][0]["comparisons_made"], 3);
}

TEST(Report, SaysWhatIsUndefinedAndWhatIsALowerBound) {
  const Made made(small(), {{1, 9}, {0.0, 1.0}});
  const std::string text = format_report(made.study, made.analysis);
  EXPECT_THAT(text, HasSubstr("undefined"));
  EXPECT_THAT(text, HasSubstr("k = 9 is undefined for 12 tasks"));
  EXPECT_THAT(text, HasSubstr("measured again with a fresh seed"));
  EXPECT_THAT(text, HasSubstr("unknown"));  // the third model's tokens
  const nlohmann::json json = nlohmann::json::parse(report_json(made.study, made.analysis));
  EXPECT_TRUE(json["models"][0]["pass"]["9"]["value"].is_null());
}

TEST(Report, SaysOfWinnersWhetherTheyWereMeasuredAgain) {
  testing::MadeRun run = small();
  const Made again(run);
  run.confirm = false;
  const Made once(run);
  const nlohmann::json confirmed = nlohmann::json::parse(report_json(again.study, again.analysis));
  const nlohmann::json chosen = nlohmann::json::parse(report_json(once.study, once.analysis));
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(confirmed["models"][m]["unconfirmed"], 0);
    EXPECT_GT(chosen["models"][m]["unconfirmed"], 0);
    const auto best = [m](const nlohmann::json& json) { return json["models"][m]["best_of"]["4"]; };
    EXPECT_EQ(best(confirmed)["unconfirmed"], 0);
    EXPECT_GT(best(chosen)["unconfirmed"], 0);
    EXPECT_TRUE(best(chosen)["lower_bound"]);
  }
  EXPECT_THAT(format_report(again.study, again.analysis), Not(HasSubstr("lower bound")));
  EXPECT_THAT(
      remarks(once.study, once.analysis),
      ::testing::Contains(HasSubstr("winners are the fastest of several measurements and were not "
                                    "measured again: they count by their lower bound")));
}

TEST(Report, OfAPlainResultsFileIsALeaderboard) {
  const ScratchFolder folder;
  std::string lines;
  for (const double speedup : {0.8, 1.5}) {
    Result r;
    r.set = "mine";
    r.task = {1, speedup < 1 ? 19 : 20};
    r.verdict = Verdict::passed;
    r.speedup = {speedup * 0.9, speedup, speedup * 1.1};
    r.samples = 16;
    r.candidate_ms = 1;
    r.baseline_ms = speedup;
    lines += to_json(r) + "\n";
  }
  folder.write("results.jsonl", lines);
  const Study study = read_study({folder.path("results.jsonl")}, {});
  const Analysis analysis = analyse(study, {{}, {1.0}});
  EXPECT_EQ(analysis.ks, (std::vector<int>{1}));
  EXPECT_FALSE(analysis.swarm);
  EXPECT_DOUBLE_EQ(analysis.models[0].fast[0].at_point[0].value->low, 0.5);
  const std::string text = format_report(study, analysis);
  EXPECT_THAT(text, HasSubstr("2/2"));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST(Report, HasLinesOf100ColumnsWithWholeNames) {
  testing::MadeRun run = small();
  run.models = {"some-house/" + std::string(150, 'n') + "/quantised", "small", "other model"};
  const Made made(run, {{1, 2, 4}, {0.5, 1.0, 1.5, 2.0, 4.0}});
  const std::string text = format_report(made.study, made.analysis);
  std::istringstream lines(text);
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    line.erase(0, line.find_first_not_of(' '));
    joined += line.substr(0, line.find("  "));
  }
  EXPECT_THAT(joined, HasSubstr(run.models[0]));
  EXPECT_THAT(text, HasSubstr("fast_4@k (low)"));
}

TEST(Report, CountsCallsInWholeNumbers) {
  const Made made(small());
  for (const Table& table : tables(made.study, made.analysis)) {
    if (table.title != "At equal calls") continue;
    for (const std::string& head : table.rows[0]) EXPECT_THAT(head, Not(HasSubstr(".")));
  }
}

TEST(Report, HasNoNumberWhereNothingWasRight) {
  const ScratchFolder folder;
  folder.write("attempts.jsonl", to_json(testing::wrong("m", {1, 19}, 1)) + "\n");
  const Study study = read_study({folder.path()}, {});
  const Table leaderboard = tables(study, analyse(study, {{}, {1.0}})).front();
  EXPECT_EQ(leaderboard.rows.at(1).at(4), "-") << leaderboard.rows.at(0).at(4);
  EXPECT_EQ(leaderboard.rows.at(1).at(5), "-") << leaderboard.rows.at(0).at(5);
}

TEST(Report, NamesModelsThatNeverAnsweredAndDrawsNothingOfThem) {
  const ScratchFolder folder;
  Attempt silent;
  silent.model = "silent";
  silent.task = {1, 19};
  folder.write("attempts.jsonl",
               to_json(testing::wrong("m", {1, 19}, 1)) + "\n" + to_json(silent) + "\n");
  const Study study = read_study({folder.path()}, {});
  const Analysis analysis = analyse(study, {{}, {1.0}});
  ASSERT_EQ(analysis.models.size(), 1u);
  EXPECT_THAT(remarks(study, analysis),
              ::testing::Contains("never answered, and in no table: silent"));
  EXPECT_THAT(report_page(study, analysis), HasSubstr("in no table: silent"));
  folder.write("attempts.jsonl", to_json(silent) + "\n");
  EXPECT_THAT(error_of([&] { read_study({folder.path()}, {}); }).what(),
              HasSubstr("there is nothing to report: no answer of silent"));
}

TEST(Report, SaysThatAModelHasNoPriceWhereItsTokensAreKnown) {
  const ScratchFolder folder;
  Attempt a;
  a.model = "m";
  a.task = {1, 19};
  a.outcome = Outcome::no_candidate;
  a.usage = {.input = 100, .output = 50};
  folder.write("attempts.jsonl", to_json(a) + "\n");
  const Study study = read_study({folder.path()}, {});
  const std::string text = format_report(study, analyse(study, {{}, {1.0}}));
  EXPECT_THAT(text, HasSubstr("no price"));
  EXPECT_THAT(text, Not(HasSubstr("unknown")));
}

TEST(Report, NamesEveryFileAndWhatMayBeAMistake) {
  const ScratchFolder folder;
  for (const int task : {19, 20, 21}) {
    Result r;
    r.set = "mine";
    r.task = {1, task};
    r.driver = task == 21 ? "another" : "one";
    folder.write(std::to_string(task) + ".jsonl", to_json(r) + "\n");
  }
  const Study study =
      read_study({folder.path("19.jsonl"), folder.path("20.jsonl"), folder.path("21.jsonl")}, {});
  const Analysis analysis = analyse(study, {{}, {1.0}});
  EXPECT_THAT(study.notes, ::testing::Contains(HasSubstr("they count as two models")));
  const nlohmann::json json = nlohmann::json::parse(report_json(study, analysis));
  EXPECT_EQ(json["sources"].size(), 3u);
  EXPECT_EQ(json["notes"].size(), 1u);
  EXPECT_EQ(json["models"].size(), 2u);
}

}  // namespace
}  // namespace kbench::report
