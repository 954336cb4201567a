// `kbench report` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/program/run_program.h"
#include "tests/report/made_run.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

struct RunFolder : ScratchFolder {
  RunFolder() {
    MadeRun made;
    made.tasks = 6;
    make_run((*this / "run").string(), made);
  }
};

TEST(ReportVerb, PrintsTablesOrOneDocumentAndWritesThePage) {
  const RunFolder folder;
  const Said tables = run_program({"report", "run", "--html", "r.html"}, folder.path());
  EXPECT_EQ(tables.code, 0) << tables.err;
  EXPECT_THAT(tables.out, HasSubstr("pass@k"));
  const auto width_of = [&](const std::string& ks) {  // of the leaderboard
    const std::string out = run_program({"report", "run", "--k", ks}, folder.path()).out;
    const size_t begin = out.find("\nmodel ") + 1;
    return out.find('\n', begin) - begin;
  };
  EXPECT_LE(width_of("1,2,4"), width_of("4") + 5) << "each k has a line";
  EXPECT_THAT(read_file(folder / "r.html"), HasSubstr("</html>"));
  const Said json = run_program(
      {"report", "run/", "--k", "2", "--fast-p", "0.5,1", "--task", "level1/1", "--json"},
      folder.path());
  ASSERT_EQ(json.code, 0) << json.err;
  const nlohmann::json document = nlohmann::json::parse(json.out);
  EXPECT_EQ(document["tasks"], nlohmann::json({"level1/1"}));
  EXPECT_EQ(document["k"], nlohmann::json({2}));
  EXPECT_EQ(document["models"][0]["fast_p"].size(), 2u);
}

TEST(ReportVerb, LeavesNoPageOfWhatItRefuses) {
  const ScratchFolder folder;
  Result result;
  result.set = "mine";
  result.task = {1, 19};
  result.verdict = Verdict::wrong_values;
  result.device = "one";
  Result other = result;
  other.task = {1, 20};
  other.device = "two";
  write_file(folder / "results.jsonl", to_json(result) + "\n");
  EXPECT_EQ(run_program({"report", "results.jsonl", "--html", "r.html"}, folder.path()).code, 0);
  EXPECT_THAT(read_file(folder / "r.html"), HasSubstr("</html>"));
  write_file(folder / "results.jsonl", to_json(result) + "\n" + to_json(other) + "\n");
  const Said said = run_program({"report", "results.jsonl", "--html", "no.html"}, folder.path());
  EXPECT_EQ(said.code, 2) << said.out;
  EXPECT_EQ(count_lines(said.err), 1u) << said.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "no.html"));
}

TEST(ReportVerb, EscapesInItsDocumentWhatATerminalWouldNotShow) {
  const ScratchFolder folder;
  Result result;
  result.set = "mine\u202etxt.\u009b2J";
  result.task = {1, 19};
  result.verdict = Verdict::wrong_values;
  write_file(folder / "results.jsonl", to_json(result) + "\n");
  const Said json = run_program({"report", "results.jsonl", "--k", "1", "--json"}, folder.path());
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_THAT(json.out, HasSubstr("\"mine\\u202etxt.\\u009b2J\""));
  EXPECT_EQ(json.out.find("\u202e"), json.out.npos);
  EXPECT_EQ(nlohmann::json::parse(json.out)["models"][0]["name"], result.set);
}

TEST(ReportVerb, RefusesATaskThatDoesNotExist) {
  const ScratchFolder folder;
  Result result;
  result.set = "mine";
  result.task = {9, 999};
  result.verdict = Verdict::wrong_values;
  write_file(folder / "results.jsonl", to_json(result) + "\n");
  for (const char* html : {"", " --html r.html"}) {
    const Said said =
        run_in_shell("\"$KBENCH\" report results.jsonl" + std::string(html), folder.path());
    EXPECT_EQ(said.code, 2) << said.out;
    EXPECT_THAT(said.err, HasSubstr("results.jsonl:1: result.task is level9/999"));
  }
  Attempt attempt;
  attempt.model = "m";
  attempt.task = {9, 999};
  attempt.outcome = Outcome::no_candidate;
  std::filesystem::create_directory(folder / "run");
  write_file(folder / "run" / "attempts.jsonl", to_json(attempt) + "\n");
  EXPECT_THAT(run_program({"report", "run"}, folder.path()).err, HasSubstr("level9/999"));
}

TEST(ReportVerb, SaysWhatIsWrongInOneLine) {
  const RunFolder folder;
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const Said said = run_program(arguments, folder.path());
    EXPECT_EQ(said.code, 2);
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_EQ(said.out, "");
    return said.err;
  };
  EXPECT_THAT(refusal({"report"}), HasSubstr("RUN"));
  EXPECT_THAT(refusal({"report", "nothing"}), HasSubstr("cannot read nothing: No such file"));
  EXPECT_THAT(refusal({"report", "."}), HasSubstr("holds no attempts.jsonl"));
  EXPECT_THAT(refusal({"report", "run", "--k", "0"}), HasSubstr("--k"));
  EXPECT_THAT(refusal({"report", "run", "--html", "no/such/folder.html"}), HasSubstr("no/such"));
  std::filesystem::resize_file(folder / "run" / "attempts.jsonl", 100);
  write_file(folder / "run" / "attempts.jsonl", "{\"model\":\"m\"}\n{}\n");
  EXPECT_THAT(refusal({"report", "run"}), HasSubstr("attempts.jsonl:1: attempt lacks field"));
}

}  // namespace
}  // namespace kbench::testing
