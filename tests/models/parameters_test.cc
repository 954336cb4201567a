// What is sent, and what is learnt of servers that take it otherwise.
#include <nlohmann/json.hpp>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Json = nlohmann::json;

std::vector<Json> bodies(const ScriptedServer& server) {
  std::vector<Json> all;
  for (const Seen& seen : server.seen()) all.push_back(Json::parse(seen.body));
  return all;
}

TEST(Parameters, AreSentAlways) {
  ScriptedServer server({{.body = chat_body("x")}});
  Asked asked(server.url());
  const Answer answer = asked.ask(
      {.messages = {{Role::system, "s"}, {Role::user, "u"}}, .seed = (uint64_t{1} << 31) + 5});
  const Json sent = bodies(server).at(0);
  EXPECT_EQ(sent["model"], "some/model");
  EXPECT_EQ(sent["temperature"], 1.0);
  EXPECT_EQ(sent["top_p"], 1.0);
  EXPECT_EQ(sent["max_tokens"], 8192);
  EXPECT_EQ(sent["seed"], 5);  // 31 bits
  EXPECT_FALSE(sent.contains("n"));
  EXPECT_EQ(sent["messages"], Json::parse(R"([{"role":"system","content":"s"},
                                              {"role":"user","content":"u"}])"));
  // And recorded, without the messages.
  Json recorded = sent;
  recorded.erase("messages");
  EXPECT_EQ(Json::parse(answer.sent), recorded);
}

TEST(Parameters, OfTheConfigAndOfTheRequest) {
  ScriptedServer server({{.body = chat_body("x")}});
  ModelConfig config;
  config.sampling = {.temperature = 0.2, .top_p = std::nullopt, .max_tokens = 100};
  config.extra = R"({"top_k":0,"chat_template_kwargs":{"thinking":true}})";
  config.send_seed = false;
  config.thinking_effort = "medium";
  Asked asked(server.url(), config);
  asked.ask({.messages = {{Role::user, "u"}}, .sampling = {.max_tokens = 7}});
  const Json sent = bodies(server).at(0);
  EXPECT_EQ(sent["temperature"], 0.2);
  EXPECT_FALSE(sent.contains("top_p"));
  EXPECT_EQ(sent["max_tokens"], 7);
  EXPECT_EQ(sent["top_k"], 0);
  EXPECT_EQ(sent["chat_template_kwargs"]["thinking"], true);
  EXPECT_FALSE(sent.contains("seed"));
  EXPECT_EQ(sent["reasoning_effort"], "medium");
}

TEST(Parameters, SystemMessageJoinsTheUsersIfUnsupported) {
  ScriptedServer server({{.body = chat_body("x")}});
  Asked asked(server.url(), {.system = false});
  asked.ask(
      {.messages = {
           {Role::system, "s"}, {Role::user, "u"}, {Role::assistant, "a"}, {Role::user, "v"}}});
  EXPECT_EQ(bodies(server).at(0)["messages"],
            Json::parse(R"([{"role":"user","content":"s\n\nu"},{"role":"assistant","content":"a"},
                            {"role":"user","content":"v"}])"));
}

TEST(Parameters, TextThatIsNotUtf8IsSentAllTheSame) {
  ScriptedServer server({{.body = chat_body("x")}});
  Asked(server.url()).ask({.messages = {{Role::user, "a\xff"}}});
  EXPECT_EQ(bodies(server).at(0)["messages"][0]["content"], "a\xef\xbf\xbd");
}

const std::string kNoMaxTokens = error_body(
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "unsupported_parameter", "invalid_request_error", "max_tokens");

TEST(Parameters, TheTokenFieldIsRenamedOnceAndRemembered) {
  ScriptedServer server({{.status = 400, .body = kNoMaxTokens}, {.body = chat_body("x")}});
  Asked asked(server.url());
  const Answer answer = asked.ask();
  EXPECT_EQ(answer.tries, 2);
  EXPECT_EQ(Json::parse(answer.sent)["max_completion_tokens"], 8192);
  asked.ask();
  const std::vector<Json> sent = bodies(server);
  ASSERT_THAT(sent, SizeIs(3));
  EXPECT_TRUE(sent[0].contains("max_tokens"));
  for (int i : {1, 2}) {
    EXPECT_FALSE(sent[i].contains("max_tokens"));
    EXPECT_EQ(sent[i]["max_completion_tokens"], 8192);
  }
  ASSERT_THAT(asked.events(), SizeIs(1));
  EXPECT_EQ(asked.events()[0].kind, ModelEvent::Kind::parameter);
  EXPECT_THAT(asked.events()[0].text, HasSubstr("max_tokens is sent as max_completion_tokens"));
  EXPECT_THAT(asked.sleeps(), IsEmpty());
}

TEST(Parameters, TheOtherTokenFieldMayBeRefusedToo) {
  ScriptedServer server(
      {{.status = 400, .body = kNoMaxTokens},
       {.status = 422, .body = R"({"detail":[{"loc":["body","max_completion_tokens"],
                                   "msg":"extra fields not permitted"}]})"}});
  Asked asked(server.url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), ModelError::Reach::request);
  EXPECT_EQ(server.count(), 2u);
}

TEST(Parameters, ATokenFieldThatWasChosenStays) {
  ScriptedServer server({{.status = 400, .body = kNoMaxTokens}});
  Asked asked(server.url(), {.token_field = TokenField::max_tokens});
  EXPECT_TRUE(asked.error());
  EXPECT_EQ(server.count(), 1u);
  ScriptedServer other({{.body = chat_body("x")}});
  Asked(other.url(), {.token_field = TokenField::max_completion_tokens}).ask();
  EXPECT_TRUE(bodies(other).at(0).contains("max_completion_tokens"));
}

TEST(Parameters, ThoseThatAModelRefusesAreLeftOut) {
  ScriptedServer server(
      {{.status = 400,
        .body = error_body("Unsupported value: 'temperature' does not support 1 with this model.",
                           "unsupported_value", "", "temperature")},
       {.status = 400, .body = error_body("`top_p` is not supported", "", "", "top_p")},
       {.status = 422, .body = R"({"detail":[{"loc":["body","seed"],"msg":"Extra inputs are not
                               permitted"}]})"},
       {.status = 400, .body = error_body("unknown field: stream_options")},
       {.body = chat_body("x")}});
  Asked asked(server.url());
  EXPECT_EQ(asked.ask().tries, 5);
  asked.ask();
  for (const Json& sent : {bodies(server).at(4), bodies(server).at(5)}) {
    for (const char* name : {"temperature", "top_p", "seed", "stream_options"}) {
      EXPECT_FALSE(sent.contains(name)) << name;
    }
    EXPECT_TRUE(sent.contains("max_tokens"));
  }
  std::vector<std::string> texts;
  for (const ModelEvent& event : asked.events(ModelEvent::Kind::parameter)) {
    texts.push_back(event.text.substr(0, event.text.find(" from")));
  }
  EXPECT_THAT(texts, ElementsAre("temperature is left out", "top_p is left out", "seed is left out",
                                 "stream_options is left out"));
}

TEST(Parameters, ABadRequestIsGivenUpAtOnce) {
  ScriptedServer server({{.status = 400, .body = error_body("max_tokens is too large: 8192")}});
  Asked asked(server.url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), ModelError::Reach::request);
  EXPECT_THAT(error->what(), HasSubstr("400: max_tokens is too large: 8192"));
  EXPECT_EQ(server.count(), 1u);
  EXPECT_EQ(asked.events().at(0).kind, ModelEvent::Kind::given_up);
}

}  // namespace
}  // namespace kbench::testing
