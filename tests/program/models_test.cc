// kbench model, as a user runs it.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/models/scripted_server.h"
#include "tests/program/run_program.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kAnswer =
    "Here:\n\n```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n```\n\n"
    "```glsl\n#version 450\nvoid main() {}\n```\n";

TEST(ExtractVerb, WritesTheFiles) {
  const ScratchFolder folder;
  write_file(folder / "answer.md", kAnswer);
  const Said said = run_program(
      {"model", "extract", "answer.md", "--task", "1/19", "--output", "out/relu"}, folder.path());
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out,
            "candidate.yaml  61 bytes\nrelu.comp  28 bytes\noverlooked: joined_name\n"
            "written to out/relu\n");
  EXPECT_EQ(read_file(folder / "out/relu/relu.comp"), "#version 450\nvoid main() {}\n");
  // Nothing is replaced.
  const Said again =
      run_program({"model", "extract", "answer.md", "--output", "out/relu"}, folder.path());
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("is not empty"));
}

TEST(ExtractVerb, SaysWhatIsMissing) {
  const ScratchFolder folder;
  write_file(folder / "answer.md", kAnswer);
  const Said other =
      run_program({"model", "extract", "answer.md", "--task", "1/20"}, folder.path());
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.out,
            "no candidate: the candidate is for level1/19, and level1/20 was asked for\n");
  const Said prose = run_in_shell("echo no idea | \"$KBENCH\" model extract -", folder.path());
  EXPECT_EQ(prose.code, 1);
  EXPECT_THAT(prose.out, HasSubstr("the answer has no fenced block"));
  EXPECT_EQ(run_program({"model", "extract", "nothing.md"}, folder.path()).code, 2);
  EXPECT_EQ(run_program({"model", "extract", "answer.md", "--task", "no such"}, folder.path()).code,
            2);
}

TEST(ExtractVerb, SaysTheSameAsJson) {
  const ScratchFolder folder;
  write_file(folder / "answer.md", kAnswer);
  const Said said =
      run_program({"model", "extract", "answer.md", "--json", "--output", "out"}, folder.path());
  EXPECT_EQ(said.code, 0) << said.err;
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json["outcome"], "candidate");
  EXPECT_EQ(json["files"][1]["path"], "relu.comp");
  EXPECT_EQ(json["files"][1]["text"], "#version 450\nvoid main() {}\n");
  EXPECT_EQ(json["leniencies"][0], "joined_name");
  EXPECT_EQ(json["written_to"], "out");
  const Said other =
      run_program({"model", "extract", "answer.md", "--json", "--task", "1/20"}, folder.path());
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(nlohmann::json::parse(other.out)["outcome"], "wrong_task");
}

/// It has said what it found by then.
TEST(ExtractVerb, EndsInOneSentenceWhereItCannotWrite) {
  const ScratchFolder folder;
  write_file(folder / "answer.md", kAnswer);
  write_file(folder / "file", "x\n");
  for (const std::string& output :
       {std::string("file"), std::string("file/x"), std::string(5000, 'a')}) {
    const Said said =
        run_program({"model", "extract", "answer.md", "--output", output}, folder.path());
    EXPECT_EQ(said.code, 2) << output;
    EXPECT_THAT(said.err, ::testing::StartsWith("kbench: ")) << output;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    for (const char* foreign : {"json.exception", "filesystem error", "bad conversion", "std::"}) {
      EXPECT_THAT(said.err, Not(HasSubstr(foreign))) << output;
    }
  }
}

TEST(ModelsVerb, AsksEachModel) {
  ScriptedServer server(ScriptedServer::Answering([](const Seen& seen, size_t) {
    if (seen.path == "/v1/models") return Line{.body = R"({"data":[{"id":"good"}]})"};
    if (seen.body.find("\"bad\"") != seen.body.npos) {
      return Line{.status = 401, .body = error_body("no key")};
    }
    return Line{.body = chat_body("yes")};
  }));
  const ScratchFolder folder;
  write_file(folder / "models.yaml", "models:\n- {url: '" + server.url() +
                                         "', model: good}\n- {url: '" + server.url() +
                                         "', model: bad}\n");
  const Said said = run_program({"model", "check", "models.yaml"}, folder.path());
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("yes, stop"));
  EXPECT_THAT(said.out, HasSubstr("401: no key"));
  const Said good =
      run_program({"model", "check", "models.yaml", "--model", "good"}, folder.path());
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_THAT(good.out, Not(HasSubstr("bad")));
  const Said json = run_program({"model", "check", "models.yaml", "--json"}, folder.path());
  EXPECT_EQ(json.code, 1);
  const auto models = nlohmann::json::parse(json.out).at("models");
  EXPECT_EQ(models[0]["listed"], true);
  EXPECT_EQ(models[0]["answer"]["text"], "yes");
  EXPECT_EQ(models[1]["name"], "bad");
  EXPECT_TRUE(models[1]["answer"].is_null());
  EXPECT_THAT(models[1]["failure"].get<std::string>(), HasSubstr("401"));
}

}  // namespace
}  // namespace kbench::testing
