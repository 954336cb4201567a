// The whole loop with a real language model: tiny.gguf (README.md), sampled by llama.cpp, asked by
// the program as a user would. What is proved is the path: a token's probability differs a little
// between processors, so that no test goes by one sample's text.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kbench/attempt.h"
#include "kbench/exchange.h"
#include "tests/models/servers/node_server.h"
#include "tests/program/run_program.h"

namespace kbench::testing {
namespace {
using ::testing::SizeIs;

constexpr const char* kPackage = "node-llama-cpp@3.22.1";
constexpr const char* kTasks = " --task 1/19,1/20,1/25,1/51";
constexpr const char* kQuick =
    " --device cpu --preset smoke --measure-seconds 0.02 --min-samples 4 --precision 0.9 "
    "--other-sizes none";

class TinyModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!node_runs(kPackage, "dist/index.js")) GTEST_SKIP();
    KBENCH_NEED_SOFTWARE_DEVICE();
    server_ = std::make_unique<NodeServer>(
        std::vector<std::string>{KBENCH_TINY "/server.mjs", KBENCH_TINY "/tiny.gguf"});
    std::string file = "models:\n";
    for (const auto& [name, temperature] : temperatures_) {
      file += "  - {name: " + name + ", url: \"" + server_->url() +
              "\", model: tiny, connections: 2,\n     sampling: {temperature: " + temperature +
              ", top_p: 1, max_tokens: 600}}\n";
    }
    write_file(folder_ / "models.yaml", file);
  }

  Said generate(const std::string& run, const std::string& more) const {
    return run_in_shell("\"$KBENCH\" generate " + run +
                            " --models models.yaml --seed 7 --prompt " KBENCH_TINY "/prompt " +
                            more + kQuick,
                        folder_.path());
  }
  nlohmann::json report(const std::string& run, const std::string& more = "") const {
    const Said said = run_in_shell("\"$KBENCH\" report " + run + " --json" + more, folder_.path());
    EXPECT_EQ(said.code, 0) << said.err;
    return nlohmann::json::parse(said.out);
  }
  std::vector<Attempt> attempts(const std::string& run) const {
    return read_attempts(folder_ / (run + "/attempts.jsonl"));
  }
  /// What a model answered, by "task sample attempt".
  std::map<std::string, Answer> answers(const std::string& run, const std::string& model) const {
    std::map<std::string, Answer> all;
    const auto transcripts = folder_ / (run + "/transcripts/" + model);
    for (const auto& file : std::filesystem::directory_iterator(transcripts)) {
      std::ifstream lines(file.path());
      for (std::string line; std::getline(lines, line);) {
        const Exchange exchange = exchange_from_json(line);
        all[purpose_of(exchange.task, exchange.sample, exchange.attempt)] = exchange.answer;
      }
    }
    return all;
  }

  const std::map<std::string, std::string> temperatures_ = {{"cold", "0"}, {"warm", "0.7"}};
  ScratchFolder folder_;
  std::unique_ptr<NodeServer> server_;
};

/// Low and high end of a score; they are one where no sample is lost.
std::pair<double, double> value(const nlohmann::json& score) {
  return {score.at("value").at("low"), score.at("value").at("high")};
}

TEST_F(TinyModel, SolvesSomeSamplesAndIsDeterministicAtZero) {
  const Said said = generate("run", std::string("--samples 5") + kTasks);
  ASSERT_EQ(said.code, 0) << said.err;
  const nlohmann::json document = report("run", " --k 1,5");
  ASSERT_THAT(document.at("models"), SizeIs(2));
  bool between = false;
  for (const auto& model : document.at("models")) {
    const std::string name = model.at("name");
    SCOPED_TRACE(name + ": " + model.at("pass").dump());
    EXPECT_EQ(model.at("lost_samples"), 0);
    const auto [pass_1, same] = value(model.at("pass").at("1"));
    const auto [pass_5, same_5] = value(model.at("pass").at("5"));
    EXPECT_EQ(pass_1, same);
    EXPECT_EQ(pass_5, same_5);
    EXPECT_LE(pass_1, pass_5);
    RecordProperty("pass_at_1_" + name, std::to_string(pass_1));
    RecordProperty("pass_at_5_" + name, std::to_string(pass_5));
    if (name == "cold") {
      EXPECT_EQ(pass_1, pass_5);  // of each task all samples pass, or none
      continue;
    }
    // Of one task some samples pass and some do not, so that more samples are worth more.
    for (const auto& task : model.at("tasks")) {
      const int correct = task.at("correct");
      between |= correct > 0 && correct < task.at("n");
    }
    EXPECT_GT(pass_1, 0);
    EXPECT_LT(pass_1, 1);
  }
  EXPECT_TRUE(between);

  // At temperature 0 there is one answer a task; above, samples differ and so do their verdicts.
  std::map<std::string, std::set<std::string>> cold, warm;
  for (const auto& [purpose, answer] : answers("run", "cold")) {
    EXPECT_GT(answer.usage.output.value_or(0), 50) << "not counted, or not at all an answer";
    cold[purpose.substr(0, purpose.find(' '))].insert(answer.text);
  }
  for (const auto& [purpose, answer] : answers("run", "warm")) {
    warm[purpose.substr(0, purpose.find(' '))].insert(answer.text);
  }
  ASSERT_THAT(cold, SizeIs(4));
  for (const auto& [task, texts] : cold) EXPECT_THAT(texts, SizeIs(1)) << task;
  for (const auto& [task, texts] : warm) EXPECT_GT(texts.size(), 1u) << task;
  std::set<std::string> outcomes;
  for (const Attempt& attempt : attempts("run")) {
    outcomes.emplace(attempt.verdict ? name_of(*attempt.verdict) : name_of(attempt.outcome));
  }
  EXPECT_TRUE(outcomes.contains("passed"));
  EXPECT_GT(outcomes.size(), 2u) << "it fails in one way only";
}

TEST_F(TinyModel, EqualSeedsGetEqualAnswers) {
  const std::string what = "--model warm --samples 3 --no-judge --task 1/19,1/25";
  ASSERT_EQ(generate("one", what).code, 0);
  ASSERT_EQ(generate("two", what).code, 0);
  const auto one = answers("one", "warm"), two = answers("two", "warm");
  ASSERT_THAT(one, SizeIs(6));
  for (const auto& [purpose, answer] : one) EXPECT_EQ(answer.text, two.at(purpose).text) << purpose;
}

TEST_F(TinyModel, TriesAgainWhenItIsTold) {
  const Said said = generate("run", std::string("--model warm --samples 2 --attempts 5") + kTasks);
  ASSERT_EQ(said.code, 0) << said.err;
  std::set<std::string> failed;
  int repaired = 0;
  for (const Attempt& attempt : attempts("run")) {
    const std::string chain = to_string(attempt.task) + " " + std::to_string(attempt.sample);
    EXPECT_NE(attempt.outcome, Outcome::too_long) << chain;
    if (!attempt.correct()) failed.insert(chain);
    repaired += attempt.correct() && attempt.attempt > 1 ? 1 : 0;
  }
  EXPECT_FALSE(failed.empty());
  EXPECT_GT(repaired, 0);
  const nlohmann::json model = report("run").at("models").at(0);
  const auto& by_attempt = model.at("correct_by_attempt");
  EXPECT_LT(by_attempt.front().at("good"), by_attempt.back().at("good"));
}

}  // namespace
}  // namespace kbench::testing
