#include <gtest/gtest.h>

#include <filesystem>

#include "harness/evaluate/report/conversations.h"
#include "tests/metrics/made_attempts.h"
#include "tests/scratch_folder.h"

namespace kbench::report {
namespace {

using testing::ScratchFolder;

TEST(Transcript, GivesTheExchangesThatAreWanted) {
  const ScratchFolder folder;
  Exchange two{.model = "m", .task = {1, 19}, .sample = 1, .attempt = 2, .prompt_hash = "ab"};
  two.answer.text = "two \"sample\":7";
  two.answer.reasoning = "so";
  Exchange one = two;
  one.attempt = 1;
  const std::string line = to_json(two);
  folder.write("t.jsonl", to_json(one) + "\nno exchange\n" + line + "\n" + line.substr(0, 70));
  const auto read = [&](const std::string& file, int sample, int attempt) {
    std::vector<std::string> answers;
    read_exchanges(
        folder.path(file), [&](int s, int a) { return s == sample && a == attempt; },
        [&](const Exchange& exchange) { answers.push_back(exchange.answer.text); });
    return answers;
  };
  EXPECT_EQ(read("t.jsonl", 1, 1).size(), 1u);
  EXPECT_EQ(read("t.jsonl", 1, 2), (std::vector<std::string>{two.answer.text}));
  EXPECT_TRUE(read("t.jsonl", 7, 2).empty());
  EXPECT_TRUE(read("none.jsonl", 1, 1).empty());
}

TEST(Prompts, AreFoundByTheirHashAndNothingElseIs) {
  const ScratchFolder folder;
  folder.write("prompts/ab/abcd.json", "[{\"role\":\"user\",\"content\":\"hello\"}]");
  folder.write("prompts/cd/cdef.json", "[{\"role\":\"user\"},7]");
  folder.write("secret.json", "[{\"role\":\"user\",\"content\":\"no\"}]");
  const auto messages = read_prompt(folder.path(), "abcd");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].text, "hello");
  EXPECT_TRUE(read_prompt(folder.path(), "../../secret").empty());
  EXPECT_TRUE(read_prompt(folder.path(), "").empty());
  EXPECT_TRUE(read_prompt(folder.path(), "beef").empty());
  EXPECT_TRUE(read_prompt(folder.path(), "cdef").empty());
}

TEST(AttemptFolder, GivesCodeManifestFirstAndAnswerAndFeedback) {
  const ScratchFolder folder;
  Attempt a = testing::wrong("a/b", {1, 19}, 3, 2);
  const std::string own = "candidates/a_b/level1_019/s03/a2/";
  folder.write(own + "a.comp", "shader");
  folder.write(own + "candidate.yaml", std::string(100, 'x'));
  folder.write(own + "answer.md", "answer");
  folder.write(own + "feedback.txt", "feedback");
  const AttemptFiles files = read_attempt_files(folder.path(), a, 50);
  ASSERT_EQ(files.code.size(), 2u);
  EXPECT_EQ(files.code[0].first, "candidate.yaml");
  EXPECT_LT(files.code[0].second.size(), 100u);
  EXPECT_EQ(files.code[1].second, "shader");
  EXPECT_EQ(files.answer, "answer");
  EXPECT_EQ(files.feedback, "feedback");
}

TEST(AttemptFolder, OutsideOfTheRunIsNotRead) {
  const ScratchFolder folder;
  folder.write("outside/secret.comp", "secret");
  folder.write("run/inside/secret.comp", "public");
  std::filesystem::create_symlink(folder.path("outside"), folder.path("run/linked"));
  std::filesystem::create_symlink(folder.path("outside/secret.comp"),
                                  folder.path("run/inside/link.comp"));
  Attempt a = testing::wrong("m", {1, 19}, 1);
  for (const std::string path : {"../outside", "inside/../../outside", "linked", "/etc"}) {
    a.candidate = path;
    EXPECT_TRUE(read_attempt_files(folder.path("run"), a, 100).code.empty()) << path;
  }
  a.candidate = "inside";
  EXPECT_EQ(read_attempt_files(folder.path("run"), a, 100).code.size(), 1u);
}

TEST(LongTexts, AreCutInTheMiddleBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u00e9";
  const std::string cut = cut_in_the_middle(text, 51);
  EXPECT_LT(cut.size(), 120u);
  EXPECT_NE(cut.find("bytes are left out"), cut.npos);
  for (size_t i = 0; i < cut.size(); ++i) {
    if (static_cast<unsigned char>(cut[i]) != 0xc3) continue;
    EXPECT_EQ(static_cast<unsigned char>(cut[i + 1]), 0xa9) << i;
  }
  EXPECT_EQ(cut_in_the_middle("short", 51), "short");
}

}  // namespace
}  // namespace kbench::report
