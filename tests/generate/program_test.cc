// The verbs of a run as a user has them, against a server of this machine, on the software device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/measure/runner/python_interpreter.h"
#include "kbench/attempt.h"
#include "kbench/result.h"
#include "tests/models/scripted_server.h"
#include "tests/program/run_program.h"
#include "tests/support/needs_torch.h"

namespace kbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

#define KBENCH_QUICKLY \
  " --device cpu --measure-seconds 0.02 --min-samples 4 --precision 0.9 --other-sizes none"
#define KBENCH_SHORTLY KBENCH_QUICKLY " --preset smoke"
/// With the folder of prompts that ModelVerbs makes: failures are not looked into.
constexpr const char* kQuick = KBENCH_SHORTLY " --prompt quick";

std::string relu(const std::string& value, const std::string& own = "") {
  return "```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n"
         "dispatch:\n  - {kernel: relu, bind: [x, output], "
         "groups: [\"ceil_div(batch_size * dim, 64)\"]}\n```\n\n"
         "```glsl relu.comp\n#version 450\n// " +
         own +
         "\nlayout(local_size_x = 64) in;\n"
         "layout(binding = 0) readonly buffer X { float x[]; };\n"
         "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
         "void main() {\n"
         "  const uint i = gl_GlobalInvocationID.x;\n"
         "  if (i < KB_batch_size * KB_dim) y[i] = " +
         value + ";\n}\n```\n";
}

std::string body(const std::string& text) {
  nlohmann::json json = {{"model", "served"},
                         {"choices",
                          {{{"index", 0},
                            {"finish_reason", "stop"},
                            {"message", {{"role", "assistant"}, {"content", text}}}}}},
                         {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 200}}}};
  return json.dump();
}

/// Wrong at first; right for whoever has been told.
ScriptedServer::Answering learning_server() {
  return [](const Seen& seen, size_t number) {
    const auto messages = nlohmann::json::parse(seen.body).at("messages");
    const bool told = messages.back().at("role") == "user" && messages.size() > 2;
    return Line{.body = body(told ? relu("max(x[i], 0.0)", std::to_string(number))
                                  : relu("x[i]", std::to_string(number)))};
  };
}

class ModelVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    KBENCH_NEED_SOFTWARE_DEVICE();
    write_file(folder_ / "quick/prompt.yaml", "prompt: 1\nfrom: default\nevidence: false\n");
  }
  void serve(ScriptedServer::Answering answering) {
    server_ = std::make_unique<ScriptedServer>(std::move(answering));
    write_file(folder_ / "models.yaml",
               "models:\n  - {name: coder, url: \"" + server_->url() +
                   "\", model: m, key_env: CODER_KEY, send: {stream: false},\n"
                   "     sampling: {max_tokens: 400}, price: {input: 1000, output: 2000}}\n");
  }
  Said kbench(const std::string& arguments, const std::string& before = "") const {
    return run_in_shell(before + " CODER_KEY=sk-very-secret \"$KBENCH\" " + arguments,
                        folder_.path());
  }
  Said generate(const std::string& more, const std::string& run = "run") const {
    return kbench("generate " + run + " --models models.yaml --task 1/19 " + more + kQuick);
  }
  std::vector<Attempt> attempts() const { return read_attempts(folder_ / "run/attempts.jsonl"); }

  ScratchFolder folder_;
  std::unique_ptr<ScriptedServer> server_;
};

class QuickModelVerbs : public ModelVerbs {};

TEST_F(QuickModelVerbs, AskJudgeRepairAndGoOn) {
  serve(learning_server());
  const Said first = generate("--samples 1 --attempts 3");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("level1/19 s1 a1 coder  wrong_values  (Some elements are "));
  EXPECT_THAT(first.out, AllOf(HasSubstr("1 of 1 sample done; 2 attempts, 1 passed"),
                               HasSubstr("tokens 2k in, 400 out; cost 2.8")));
  EXPECT_EQ(server_->count(), 2u);
  ASSERT_THAT(attempts(), SizeIs(2));

  const Said again = generate("--samples 1 --attempts 3");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(server_->count(), 2u) << "asked again";
  const Said more = generate("--samples 2 --attempts 3");
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(server_->count(), 4u);
  // Of two that are right the faster was chosen, and is measured again.
  EXPECT_THAT(more.err, HasSubstr("winner 1/1 measured again: level1/19 coder  passed"));
  EXPECT_THAT(more.out, HasSubstr("; 1 winner measured again"));
  EXPECT_THAT(read_results(folder_ / "run/confirmed.jsonl"), SizeIs(1));

  const Said other = generate("--samples 2 --attempts 3 --goal faster:2");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("run was begun with goal \"correct\""));

  // The key was sent, and stands nowhere.
  EXPECT_EQ(server_->seen().at(0).headers.at("Authorization"), "Bearer sk-very-secret");
  const Said grep = run_in_shell("grep -rl sk-very-secret run; true", folder_.path());
  EXPECT_EQ(grep.out, "");
  EXPECT_EQ((first.out + first.err + other.err).find("sk-very"), std::string::npos);
}

TEST_F(QuickModelVerbs, SayOnceWhyAModelAnswersNothing) {
  for (const int status : {401, 403, 404}) {
    serve([status](const Seen&, size_t) {
      return Line{.status = status, .body = "{\"error\": {\"message\": \"not for you\"}}"};
    });
    const std::string run = "run" + std::to_string(status);
    const Said said =
        kbench("generate " + run + " --models models.yaml --task level1/* " + std::string(kQuick));
    EXPECT_EQ(said.code, 1) << said.err;
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(std::to_string(status) + ": not for you"));
    EXPECT_THAT(said.out, HasSubstr("100 samples stay open"));
    EXPECT_LE(server_->count(), 8u);
  }
}

TEST_F(ModelVerbs, UnjudgedCandidatesAreJudgedLater) {
  serve([](const Seen&, size_t) { return Line{.body = body(relu("max(x[i], 0.0)"))}; });
  const Said kept = kbench(
      "generate run --models models.yaml --task 1/19 --samples 2 --no-judge "
      "--preset smoke");
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_FALSE(attempts().at(0).verdict);
  const Said judged = kbench("run run" KBENCH_QUICKLY);
  EXPECT_EQ(judged.code, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("2 attempts, 2 passed"));
  EXPECT_EQ(server_->count(), 2u);
}

TEST_F(ModelVerbs, AnswersThatAreJudgedByThemselvesAreAttemptsInTheReport) {
  const std::string values[] = {"max(x[i], 0.0)", "x[i]", "max(0.0, x[i])", "nonsense("};
  int number = 0;
  for (const std::string& value : values) {
    write_file(folder_ / "answer.md", relu(value));
    const std::string to = " --output coder/s" + std::to_string(++number);
    EXPECT_EQ(kbench("model extract answer.md --task 1/19" + to).code, 0);
  }
  EXPECT_EQ(kbench("run coder/ --output r.jsonl" KBENCH_SHORTLY).code, 1);
  const auto judged = nlohmann::json::parse(kbench("report r.jsonl --json").out);
  ASSERT_EQ(judged["models"].size(), 1u);
  EXPECT_EQ(judged["models"][0]["name"], "coder");
  EXPECT_EQ(judged["models"][0]["samples"], 4);
  EXPECT_EQ(judged["models"][0]["pass"]["1"]["value"]["low"], 0.5);
}

TEST_F(ModelVerbs, EqualCandidatesAreJudgedOnceAtOtherSizesAndCountEach) {
  serve([](const Seen&, size_t) { return Line{.body = body(relu("max(x[i], 0.0)"))}; });
  EXPECT_EQ(generate("--samples 4 --attempts 1").code, 0);
  for (const char* said :
       {"4 judged, 4 passed, 0 were there", "0 judged, 0 passed, 4 were there"}) {
    EXPECT_THAT(kbench("run run --set dim=64" KBENCH_QUICKLY).out, HasSubstr(said));
  }
  const auto json = nlohmann::json::parse(kbench("report run/judged/*.jsonl --json").out);
  EXPECT_EQ(json["models"][0]["samples"], 4);
}

TEST_F(ModelVerbs, WhatTheySayIsJsonTooWhereThatIsAskedFor) {
  serve(learning_server());
  const auto plan =
      nlohmann::json::parse(generate("--samples 2 --attempts 3 --dry-run --json").out);
  EXPECT_EQ(plan["tasks"][0], "level1/19");
  EXPECT_EQ(plan["models"][0]["most_requests"], 6);
  EXPECT_GT(plan["most_cost"].get<double>(), 0);
  EXPECT_THAT(generate("--samples 2 --dry-run").out,
              AllOf(HasSubstr("level1/19"), HasSubstr("highest possible cost")));
  EXPECT_EQ(server_->count(), 0u) << "a dry run asks nobody";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  const Said said = generate("--samples 1 --attempts 3 --json");
  EXPECT_EQ(said.code, 0) << said.err;
  const auto came = nlohmann::json::parse(said.out);
  EXPECT_EQ(came["complete"], true);
  EXPECT_TRUE(came["stop"].is_null());
  EXPECT_EQ(came["passed"], 1);
  EXPECT_EQ(came["tokens"]["input"], 2000);
  EXPECT_EQ(came["software_device"], true);

  const auto counts = nlohmann::json::parse(kbench("model transcript run --json").out);
  EXPECT_EQ(counts[0]["attempts"], 2);
  const auto chain = nlohmann::json::parse(kbench("model transcript run 1/19/1 --json").out);
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[1]["verdict"], "passed");
  EXPECT_EQ(chain[0]["messages"][0]["role"], "system");
  EXPECT_THAT(chain[0]["answer"].get<std::string>(), HasSubstr("y[i] = x[i]"));

  const auto report = nlohmann::json::parse(kbench("report run --json").out);
  EXPECT_EQ(report["software_device"], true);
}

TEST_F(ModelVerbs, ADeviceThatTakesNoCudaIsNotAskedForIt) {
  serve(learning_server());
  for (const std::string language : {"cuda", "triton"}) {
    const Said said = generate("--samples 1 --language " + language);
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, AllOf(HasSubstr("no answer in --language " + language),
                                HasSubstr("launches no CUDA kernels")));
    const Said prompt = kbench("model prompt 1/19 --device cpu --language " + language);
    EXPECT_EQ(prompt.code, 0);
    EXPECT_THAT(prompt.err, HasSubstr("warning: the prompt leaves the device out"));
    EXPECT_THAT(prompt.out, AllOf(Not(HasSubstr("llvmpipe")), Not(HasSubstr("# The device")),
                                  Not(HasSubstr("this GPU"))));
  }
  EXPECT_EQ(server_->count(), 0u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  EXPECT_EQ(kbench("model prompt 1/19 --device cpu").err, "");
}

std::string relu_module(const std::string& value) {
  return "It only keeps what is positive.\n\n```python\nimport torch\n\n\nclass "
         "ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return " +
         value + "\n```\n";
}

class ModuleVerbs : public ModelVerbs {
 protected:
  void SetUp() override {
    ModelVerbs::SetUp();
    if (!IsSkipped()) KBENCH_NEED_TORCH();
  }
  /// PyTorch takes seconds to start. `from`: where answers come from.
  Said generate_module(const std::string& run, const std::string& more,
                       const std::string& from = "--models models.yaml") const {
    return kbench("generate " + run + " " + from + " --task 1/19 --language torch --samples 1 " +
                  more + " --compile-seconds 60" KBENCH_SHORTLY);
  }
};

TEST_F(ModuleVerbs, AskForAModuleJudgeAndRepairIt) {
  const std::vector<std::string> answers = {"I would use torch.relu.\n", relu_module("nothing(x)"),
                                            relu_module("torch.relu(x)")};
  serve([answers](const Seen&, size_t number) {
    return Line{.body = body(answers.at(std::min(number, answers.size() - 1)))};
  });
  const Said said = generate_module("run", "--attempts 4");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("1 of 1 sample done; 3 attempts, 1 passed")) << said.err;
  ASSERT_THAT(attempts(), SizeIs(3));
  EXPECT_EQ(attempts().at(0).outcome, Outcome::no_candidate);
  EXPECT_EQ(attempts().at(1).verdict, Verdict::crashed);
  EXPECT_EQ(attempts().at(2).verdict, Verdict::passed);
  const std::vector<Result> results = read_results(folder_ / "run/results.jsonl");
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results.at(2).lane, "torch");

  const auto asked = [&](size_t number) {
    std::string text;
    const auto request = nlohmann::json::parse(server_->seen().at(number).body);
    for (const auto& each : request.at("messages")) {
      text += each.at("content").get<std::string>() + "\n";
    }
    return text;
  };
  EXPECT_THAT(asked(0), AllOf(HasSubstr("class `ModelNew`"), HasSubstr("output = torch.relu(x)")));
  EXPECT_THAT(asked(1), AllOf(HasSubstr("no ModelNew: no ```python block defines"),
                              HasSubstr("Answer with the file itself")));
  EXPECT_THAT(asked(2), AllOf(HasSubstr("NameError: name 'nothing' is not defined"),
                              HasSubstr("    | return nothing(x)")));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(asked(i), Not(HasSubstr("kbench: 1")));

  // The same command has nothing to do; what stands on disk is a candidate set.
  EXPECT_EQ(generate_module("run", "--attempts 4").code, 0);
  EXPECT_EQ(server_->count(), 3u);
  const std::string place = "run/candidates/coder/level1_019/s01/a3/";
  EXPECT_THAT(run_in_shell("cat " + place + "candidate.yaml", folder_.path()).out,
              "kbench: 1\ntask: level1/19\ntorch: {file: model_new.py}\n");
  const Said set = kbench("run run/candidates/coder --check --device cpu --preset smoke --json");
  EXPECT_EQ(nlohmann::json::parse(set.out).size(), 2u) << set.out << set.err;
  EXPECT_THAT(kbench("report run --html r.html").out, HasSubstr("coder"));
  EXPECT_THAT(run_in_shell("cat r.html", folder_.path()).out, HasSubstr("class ModelNew"));
  EXPECT_THAT(kbench("model transcript run 1/19/1").out, HasSubstr("torch.relu(x)"));

  // Another language is another run.
  const Said other = kbench(
      "generate run --models models.yaml --task 1/19 --samples 1 "
      "--attempts 4" KBENCH_SHORTLY);
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("language"));
  // The answers once more, after a stop in between: the attempts are those of before.
  const Said first = generate_module("again", "--attempts 2", "--replay run");
  EXPECT_EQ(first.code, 0) << first.err;
  const Said rest = generate_module("again", "--attempts 4", "--replay run");
  EXPECT_EQ(rest.code, 0) << rest.err;
  const std::vector<Attempt> again = read_attempts(folder_ / "again/attempts.jsonl");
  ASSERT_THAT(again, SizeIs(3));
  for (size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].candidate_hash, attempts().at(i).candidate_hash) << i;
    EXPECT_EQ(again[i].prompt_hash, attempts().at(i).prompt_hash) << i;
  }
}

/// What prompts show as an answer is right.
TEST_F(ModuleVerbs, ExamplesOfPromptsPass) {
  const Said said =
      kbench("run " KBENCH_MODULE_EXAMPLES
             " --compile-seconds 60 --measure-seconds 0.02 --device cpu --preset smoke "
             "--min-samples 4 --precision 0.9 --json");
  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("level2/12"));
}

TEST_F(ModelVerbs, AMachineWithoutPytorchIsNotAskedForAModule) {
  serve(learning_server());
  const Said said =
      kbench("generate run --models models.yaml --task 1/19 --language torch" + std::string(kQuick),
             "KBENCH_PYTHON=/nowhere/python3");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, AllOf(HasSubstr("no answer in --language torch could be judged: "),
                              HasSubstr("takes no PyTorch: '/nowhere/python3' cannot be run")));
  EXPECT_EQ(server_->count(), 0u);
}

TEST_F(ModelVerbs, BudgetsStopWithThree) {
  serve(learning_server());
  const Said stopped = generate("--samples 4 --attempts 3 --max-cost 12");
  EXPECT_EQ(stopped.code, 3) << stopped.err;
  EXPECT_THAT(stopped.out, HasSubstr("stopped by --max-cost 12"));
  EXPECT_LT(server_->count(), 8u);
  EXPECT_EQ(generate("--samples 4 --attempts 3").code, 0);
  EXPECT_EQ(server_->count(), 8u);
}

TEST_F(ModelVerbs, ASettingThatIsTooSmallIsNamedOnce) {
  serve([](const Seen&, size_t number) {
    if (number % 2 == 0) {
      return Line{.status = 400,
                  .body = R"({"error":{"message":"m","code":"context_length_exceeded"}})"};
    }
    nlohmann::json cut = nlohmann::json::parse(body("```yaml\nkbench: 1\n"));
    cut["choices"][0]["finish_reason"] = "length";
    return Line{.body = cut.dump()};
  });
  const Said said = generate("--samples 6 --attempts 1");
  EXPECT_EQ(said.code, 0) << said.err;
  for (const std::string once : {"longer than the server's context", "raise max_tokens"}) {
    const size_t at = said.err.find(once);
    ASSERT_NE(at, said.err.npos) << said.err;
    EXPECT_EQ(said.err.find(once, at + 1), said.err.npos) << said.err;
  }
}

TEST_F(ModelVerbs, WhatCanBeDoneWithARun) {
  serve(learning_server());
  ASSERT_EQ(generate("--samples 1 --attempts 2").code, 0);

  // Transcripts.
  EXPECT_THAT(kbench("model transcript run").out, HasSubstr("coder  level1/19  2         1"));
  EXPECT_THAT(kbench("model transcript run 1/19").out, HasSubstr("level1/19 s1 a2  coder  passed"));
  EXPECT_THAT(kbench("model transcript run level1/19/1").out,
              AllOf(HasSubstr("=== user"), HasSubstr("y[i] = x[i];"), HasSubstr("wrong_values"),
                    HasSubstr("max(x[i], 0.0)")));
  EXPECT_THAT(
      kbench("model transcript run 1/19/1/2").out,
      AllOf(HasSubstr("level1/19 s1 a2, answer of coder"), Not(HasSubstr("s1 a1, answer"))));
  EXPECT_EQ(kbench("model transcript run 1/20").code, 2);
  EXPECT_EQ(kbench("model transcript run 1/19/x").code, 2);

  // Winners once more, and once only.
  const Said confirm = kbench("run run --confirm" KBENCH_QUICKLY);
  EXPECT_EQ(confirm.code, 0) << confirm.err;
  const auto confirmed = read_results(folder_ / "run/confirmed.jsonl");
  ASSERT_THAT(confirmed, SizeIs(1));
  EXPECT_EQ(confirmed[0].set, "coder");
  EXPECT_EQ(confirmed[0].candidate_hash, attempts().at(1).candidate_hash);
  EXPECT_TRUE(confirmed[0].correct()) << confirmed[0].message;
  EXPECT_THAT(kbench("run run --confirm" KBENCH_QUICKLY).out,
              HasSubstr("0 judged, 0 passed, 1 were"));

  // At other sizes; and as the run was begun, where nothing is left to do.
  const Said sized = kbench("run run --set batch_size=3" KBENCH_SHORTLY);
  EXPECT_EQ(sized.code, 0) << sized.err;
  EXPECT_THAT(sized.out, HasSubstr("2 judged, 1 passed"));
  EXPECT_THAT(kbench("run run" KBENCH_QUICKLY).out, HasSubstr("1 of 1 sample done"));

  // A candidate set.
  const Said set = kbench("--candidates run/candidates/coder --task 1/19 --json" KBENCH_SHORTLY);
  EXPECT_EQ(set.code, 0) << set.err;
  const auto results = nlohmann::json::parse(set.out).at("results");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].at("verdict"), "passed");

  // The same answers once more.
  const Said replayed = kbench(
      std::string("generate again --replay run --task 1/19 --samples 1 --attempts 2") + kQuick);
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_THAT(read_attempts(folder_ / "again/attempts.jsonl"), SizeIs(2));
  EXPECT_EQ(server_->count(), 2u);

  // A report.
  EXPECT_THAT(kbench("report run").out, HasSubstr("coder"));
}

TEST_F(ModelVerbs, ASignalToRunLetsWhatIsAtTheDeviceEnd) {
  serve(learning_server());
  ASSERT_EQ(generate("--samples 1 --attempts 2").code, 0);
  // The second measures for a while. The signal comes once the first is in the file.
  const Said said = run_in_shell(
      "\"$KBENCH\" run run --device cpu --preset smoke --set batch_size=3 --measure-seconds 0.02 "
      "--min-samples 200 --precision 0.0001 & pid=$!; "
      "until [ -s run/judged/*.jsonl ]; do sleep 0.05; done; kill -INT $pid; wait $pid",
      folder_.path());
  EXPECT_EQ(said.code, 130) << said.err;
  size_t kept = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "run/judged")) {
    kept += read_results(file.path().string()).size();
  }
  EXPECT_THAT(said.out, HasSubstr(std::to_string(kept) + " judged, "));
  EXPECT_GE(kept, 1u);
}

TEST_F(ModelVerbs, ASignalEndsItCleanly) {
  serve([](const Seen&, size_t number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Line{.body = body(relu("x[i]", std::to_string(number)))};
  });
  const Said said = run_in_shell(
      "CODER_KEY=k \"$KBENCH\" generate run --models models.yaml --task 1/19 --samples 200" +
          std::string(kQuick) +
          " & pid=$!; until [ -s run/attempts.jsonl ]; do sleep 0.05; done; "
          "kill -TERM $pid; wait $pid; echo code $?",
      folder_.path());
  EXPECT_THAT(said.out,
              AllOf(HasSubstr("interrupted; the same command goes on"), HasSubstr("code 143")))
      << said.err;
  EXPECT_EQ(attempts().size() <= server_->count(), true);
}

TEST_F(ModelVerbs, RefusesContradictoryFlagsBeforeAsking) {
  serve(learning_server());
  EXPECT_THAT(generate("--model nobody").err, HasSubstr("has no model 'nobody'; it has coder"));
  EXPECT_THAT(generate("--no-judge --attempts 2").err, HasSubstr("--attempts 1"));
  EXPECT_THAT(generate("--goal quick").err, HasSubstr("'faster:P'"));
  EXPECT_THAT(
      kbench("generate run --models models.yaml --task 1/19 --prompt nowhere" KBENCH_SHORTLY).err,
      HasSubstr("nowhere"));
  write_file(folder_ / "full/file", "x");
  EXPECT_THAT(generate("", "full").err, HasSubstr("is not empty and no run"));
  EXPECT_THAT(kbench("run full --confirm").err, HasSubstr("is no run"));
  EXPECT_EQ(server_->count(), 0u);
}

}  // namespace
}  // namespace kbench::testing
