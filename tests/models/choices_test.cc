// Several answers to one request.
#include <nlohmann/json.hpp>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using Json = nlohmann::json;

/// A server that gives at most so many answers to a request, and says what it was asked.
ScriptedServer::Answering giving_at_most(int most) {
  return [most](const Seen& seen, size_t) {
    const Json asked = Json::parse(seen.body);
    const int count = std::min(asked.value("n", 1), most);
    Json choices = Json::array();
    for (int i = 0; i < count; ++i) {
      const std::string text = std::to_string(asked["seed"].get<int>()) + "." + std::to_string(i);
      choices.push_back(
          {{"index", i}, {"message", {{"content", text}}}, {"finish_reason", "stop"}});
    }
    return Line{.body = Json{{"choices", choices},
                             {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5 * count}}}}
                            .dump()};
  };
}

const Ask kAsk = {.messages = {{Role::user, "u"}}, .seed = 100};

std::vector<std::string> texts(const std::vector<Answer>& answers) {
  std::vector<std::string> all;
  for (const Answer& answer : answers) all.push_back(answer.text);
  return all;
}

TEST(Choices, OneRequestASampleUnlessAskedFor) {
  ScriptedServer server(giving_at_most(8));
  Asked asked(server.url());
  EXPECT_THAT(texts(asked.model().ask_several(kAsk, 3, {})),
              ElementsAre("100.0", "101.0", "102.0"));
  EXPECT_EQ(server.count(), 3u);
}

TEST(Choices, InOneRequest) {
  ScriptedServer server(giving_at_most(8));
  Asked asked(server.url(), {.choices = 4});
  const std::vector<Answer> answers = asked.model().ask_several(kAsk, 6, {});
  EXPECT_THAT(texts(answers), ElementsAre("100.0", "100.1", "100.2", "100.3", "104.0", "104.1"));
  EXPECT_EQ(server.count(), 2u);
  // Tokens are counted once.
  int64_t input = 0, output = 0;
  for (const Answer& answer : answers) {
    input += answer.usage.input.value();
    output += answer.usage.output.value();
  }
  EXPECT_EQ(input, 20);
  EXPECT_EQ(output, 30);
}

TEST(Choices, WhatAServerHoldsBackIsAskedForAgain) {
  ScriptedServer server(giving_at_most(1));
  Asked asked(server.url(), {.choices = 3});
  EXPECT_THAT(texts(asked.model().ask_several(kAsk, 3, {})),
              ElementsAre("100.0", "101.0", "102.0"));
}

TEST(Choices, AnswersBeforeAFailureAreKept) {
  ScriptedServer server({{.body = chat_body("first")}, {.status = 400}});
  Asked asked(server.url());
  std::vector<Answer> partial;
  EXPECT_THROW(asked.model().ask_several(kAsk, 3, {}, &partial), ModelError);
  EXPECT_THAT(texts(partial), ElementsAre("first"));
}

}  // namespace
}  // namespace kbench::testing
