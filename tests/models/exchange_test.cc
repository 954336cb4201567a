// Transcripts, and answers out of them.
#include "kbench/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Exchange example() {
  Exchange exchange;
  exchange.model = "coder";
  exchange.task = {1, 19};
  exchange.sample = 3;
  exchange.attempt = 2;
  exchange.prompt_hash = prompt_hash({{Role::user, "hello"}});
  exchange.seed = 77;
  exchange.answer.text = "a\nb \xe2\x80\xa8 \"c\"";
  exchange.answer.reasoning = "why";
  exchange.answer.finish = "stop";
  exchange.answer.served_by = "m-1";
  exchange.answer.fingerprint = "fp";
  exchange.answer.usage = {.input = 10, .cached = 4, .output = 0, .reasoning = std::nullopt};
  exchange.answer.seconds = 1.5;
  exchange.answer.tries = 2;
  exchange.answer.sent = R"({"max_tokens":8,"model":"m","temperature":1.0})";
  return exchange;
}

TEST(Exchange, IsOneLineThatReadsBack) {
  const Exchange exchange = example();
  const std::string line = to_json(exchange);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Exchange back = exchange_from_json(line);
  EXPECT_EQ(to_json(back), line);
  EXPECT_EQ(back.model, "coder");
  EXPECT_EQ(back.task, (TaskId{1, 19}));
  EXPECT_EQ(back.sample, 3);
  EXPECT_EQ(back.attempt, 2);
  EXPECT_EQ(back.prompt_hash, exchange.prompt_hash);
  EXPECT_EQ(back.seed, 77u);
  EXPECT_EQ(back.answer.text, exchange.answer.text);
  EXPECT_EQ(back.answer.reasoning, "why");
  EXPECT_EQ(back.answer.finish, "stop");
  EXPECT_EQ(back.answer.usage.input, 10);
  EXPECT_EQ(back.answer.usage.cached, 4);
  EXPECT_EQ(back.answer.usage.output, 0);
  EXPECT_FALSE(back.answer.usage.reasoning);
  EXPECT_EQ(back.answer.seconds, 1.5);
  EXPECT_EQ(back.answer.tries, 2);
  EXPECT_THAT(line, HasSubstr(R"("sent":{"max_tokens":8,)"));
}

TEST(Exchange, TakesAnyText) {
  Exchange exchange = example();
  exchange.answer.text = std::string("\xff\0\x1b", 3);
  exchange.answer.sent = "not json";
  const Exchange back = exchange_from_json(to_json(exchange));
  EXPECT_EQ(back.answer.text, std::string("\xef\xbf\xbd\0\x1b", 5));
  EXPECT_EQ(back.answer.sent, "not json");
}

TEST(Exchange, RefusesWhatIsNestedTooDeeplyToCopy) {
  const std::string line = to_json(example());
  const std::string sent = "\"sent\":";
  const auto nested = [&](size_t levels) {
    std::string text = line;
    return text.insert(text.find(sent) + sent.size(),
                       std::string(levels, '[') + std::string(levels, ']') + ",\"was\":");
  };
  EXPECT_EQ(exchange_from_json(nested(100)).answer.sent.size(), 200u);
  EXPECT_THROW(exchange_from_json(nested(101)), Error);
  EXPECT_THROW(exchange_from_json(nested(1'000'000)), Error);
}

TEST(Exchange, WhatItLacksIsAnError) {
  for (const char* line : {"", "{}", "[]", "{\"model\":\"a\"}", "{\"model\":5}"}) {
    EXPECT_THROW(exchange_from_json(line), Error) << line;
  }
  const Exchange least = exchange_from_json(
      R"({"model":"a","task":"1/1","sample":1,"attempt":1,"prompt":"h","answer":"x","finish":"",
          "later":true})");
  EXPECT_FALSE(least.answer.usage.input);
}

TEST(Exchange, HashesTellPromptsApart) {
  const std::vector<std::vector<Message>> prompts = {{{Role::user, "ab"}},
                                                     {{Role::system, "ab"}},
                                                     {{Role::user, "a"}, {Role::user, "b"}},
                                                     {{Role::user, "a"}, {Role::assistant, "b"}},
                                                     {{Role::user, "abuser"}},
                                                     {}};
  std::set<std::string> hashes;
  for (const auto& prompt : prompts) {
    hashes.insert(prompt_hash(prompt));
    EXPECT_EQ(prompt_hash(messages_from_json(messages_json(prompt))), prompt_hash(prompt));
  }
  EXPECT_THAT(hashes, SizeIs(prompts.size()));
  EXPECT_THROW(messages_from_json(R"([{"role":"robot","content":"x"}])"), Error);
}

TEST(Exchange, SeedsAreOf31BitsAndDiffer) {
  std::set<uint64_t> seeds;
  for (const uint64_t run : {1, 2}) {
    for (const char* model : {"a", "b"}) {
      for (const TaskId& task : {TaskId{1, 1}, TaskId{1, 11}}) {
        for (int sample = 1; sample <= 11; ++sample) {
          for (int attempt = 1; attempt <= 2; ++attempt) {
            seeds.insert(request_seed(run, model, task, sample, attempt));
          }
        }
      }
    }
  }
  EXPECT_THAT(seeds, SizeIs(176));
  EXPECT_LT(*seeds.rbegin(), uint64_t{1} << 31);
  EXPECT_EQ(request_seed(1, "a", {1, 1}, 1, 1), request_seed(1, "a", {1, 1}, 1, 1));
}

Ask asking(const std::string& text, TaskId task, int sample, int attempt) {
  return {.messages = {{Role::user, text}}, .purpose = purpose_of(task, sample, attempt)};
}

TEST(Replay, AnswersWhatWasAnswered) {
  Exchange other = example();
  other.model = "another";
  other.answer.text = "not this";
  ReplayModel model("coder", {example(), other});
  EXPECT_EQ(model.name(), "coder");
  const Answer answer = model.ask(asking("hello", {1, 19}, 3, 2), {});
  EXPECT_EQ(answer.text, example().answer.text);
  EXPECT_EQ(answer.usage.input, 10);
  for (const Ask& missing : {asking("hello", {1, 19}, 3, 1), asking("hello", {1, 19}, 2, 2),
                             asking("hello", {1, 20}, 3, 2)}) {
    try {
      model.ask(missing, {});
      FAIL() << "answered";
    } catch (const ModelError& e) {
      EXPECT_EQ(e.reach(), ModelError::Reach::request);
      EXPECT_THAT(e.what(), HasSubstr(missing.purpose));
    }
  }
}

TEST(Replay, AnotherPromptIsRefusedUnlessMeant) {
  ReplayModel strict("coder", {example()});
  EXPECT_THROW(strict.ask(asking("good day", {1, 19}, 3, 2), {}), ModelError);
  ReplayModel open("coder", {example()}, ReplayModel::OtherPrompt::given);
  EXPECT_EQ(open.ask(asking("good day", {1, 19}, 3, 2), {}).finish, "stop");
}

TEST(Transcript, ATornLastLineIsPassedOver) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("kbench_" + std::to_string(::getpid()) + "_transcript.jsonl");
  const std::string line = to_json(example());
  std::ofstream(path) << line << '\n' << line << '\n' << line.substr(0, 40);
  EXPECT_THAT(read_transcript(path.string()), SizeIs(2));
  std::ofstream(path) << line << "\n{\"model\":1}\n" << line << '\n';
  const Error e = error_of([&] { read_transcript(path.string()); });
  EXPECT_THAT(e.what(), HasSubstr("transcript.jsonl:2: "));
  std::filesystem::remove(path);
  EXPECT_THROW(read_transcript(path.string()), Error);
}

}  // namespace
}  // namespace kbench
