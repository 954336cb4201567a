// models.yaml: what it may say, and what is said of what it may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "kbench/openai_model.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// The complaint about a file whose one model has these further keys.
std::string complaint(const std::string& keys) {
  try {
    parse_models("models:\n  - url: http://127.0.0.1:8000/v1\n    model: m\n    " + keys + "\n",
                 "models.yaml");
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    return e.what();
  }
}

TEST(ModelsFile, TheLeast) {
  const auto models =
      parse_models("models:\n- {url: 'http://127.0.0.1:8000/v1', model: a/b-1.5}\n", "f");
  ASSERT_EQ(models.size(), 1u);
  const ModelConfig& config = models[0];
  EXPECT_EQ(config.name, "b-1.5");
  EXPECT_EQ(config.model, "a/b-1.5");
  EXPECT_EQ(config.key_env, "");
  EXPECT_EQ(config.sampling.temperature, 1.0);
  EXPECT_EQ(config.sampling.top_p, 1.0);
  EXPECT_EQ(config.sampling.max_tokens, 8192);
  EXPECT_EQ(config.connections, 8);
  EXPECT_TRUE(config.stream && config.send_seed && config.system);
  EXPECT_FALSE(config.price);
  EXPECT_EQ(config.tries, 6);
}

constexpr const char* kAll = R"(models:
  - name: coder
    url: "https://models.invalid/v1"
    model: some/model-id
    key_env: CODER_KEY
    api: completions
    connections: 3
    sampling: {temperature: 0.6, top_p: null, max_tokens: 100, extra: {top_k: 0, min_p: 0.05, a: "1", b: [true, null], c: {d: e}}}
    send: {seed: false, stream: false, token_field: max_completion_tokens, system: false}
    thinking: {tags: [think, ponder], effort: medium}
    timeout: {connect: 1, first: 2.5, silence: 3, total: 4}
    retry: {tries: 2, seconds: 30}
    price: {input: 0.5, cached: 0.1, output: 1.5}
    ca_file: /etc/ca.pem
)";

void expect_all(const ModelConfig& config) {
  EXPECT_EQ(config.name, "coder");
  EXPECT_EQ(config.url, "https://models.invalid/v1");
  EXPECT_EQ(config.key_env, "CODER_KEY");
  EXPECT_EQ(config.api, ModelApi::completions);
  EXPECT_EQ(config.connections, 3);
  EXPECT_EQ(config.sampling.temperature, 0.6);
  EXPECT_FALSE(config.sampling.top_p);
  EXPECT_EQ(config.sampling.max_tokens, 100);
  EXPECT_EQ(config.extra, R"({"top_k":0,"min_p":0.05,"a":"1","b":[true,null],"c":{"d":"e"}})");
  EXPECT_FALSE(config.stream || config.send_seed || config.system);
  EXPECT_EQ(config.token_field, TokenField::max_completion_tokens);
  EXPECT_THAT(config.thinking_tags, ElementsAre("think", "ponder"));
  EXPECT_EQ(config.thinking_effort, "medium");
  EXPECT_EQ(config.connect_timeout, 1);
  EXPECT_EQ(config.first_timeout, 2.5);
  EXPECT_EQ(config.silence_timeout, 3);
  EXPECT_EQ(config.total_timeout, 4);
  EXPECT_EQ(config.tries, 2);
  EXPECT_EQ(config.retry_seconds, 30);
  ASSERT_TRUE(config.price);
  EXPECT_EQ(config.price->input, 0.5);
  EXPECT_EQ(config.price->cached, 0.1);
  EXPECT_EQ(config.price->output, 1.5);
  EXPECT_EQ(config.ca_file, "/etc/ca.pem");
}

TEST(ModelsFile, EverythingReadsBackFromTheResolvedForm) {
  const ModelConfig all = parse_models(kAll, "f").at(0);
  expect_all(all);
  const std::string json = to_json(all);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  expect_all(parse_models("models: [" + json + "]", "f").at(0));
  const ModelConfig plain = parse_models("models: [{url: 'http://h/v1', model: m}]", "f").at(0);
  EXPECT_EQ(to_json(parse_models("models: [" + to_json(plain) + "]", "f").at(0)), to_json(plain));
}

TEST(ModelsFile, ComplaintsHaveAPlace) {
  EXPECT_THAT(complaint("temperture: 1"), HasSubstr("models.yaml:4:5: unknown key 'temperture'"));
  EXPECT_THAT(complaint("sampling: {temprature: 1}"),
              HasSubstr("models.yaml:4:16: unknown key 'temprature' in sampling; did you mean "
                        "'temperature'?"));
  EXPECT_THAT(complaint("sampling: {temperature: warm}"), HasSubstr("models.yaml:4:29: "));
  EXPECT_THAT(complaint("send: {stream: yes}"),
              HasSubstr("models.yaml:4:20: stream: expected true or"));
  EXPECT_THAT(complaint("model: m"), HasSubstr("duplicate key 'model'"));
  EXPECT_THAT(complaint("url: x"), HasSubstr("duplicate key 'url'"));
}

TEST(ModelsFile, ValuesOutOfRange) {
  for (const char* keys : {"connections: 0",
                           "connections: 1e3",
                           "sampling: {temperature: -1}",
                           "sampling: {top_p: 1.5}",
                           "sampling: {top_p: nan}",
                           "sampling: {max_tokens: 0}",
                           "sampling: [1]",
                           "send: {token_field: both}",
                           "api: responses",
                           "timeout: {connect: 0}",
                           "timeout: {total: inf}",
                           "retry: {tries: 0}",
                           "price: {input: 1}",
                           "price: {input: -1, output: 1}",
                           "thinking: {tags: think}",
                           "thinking: {tags: ['<think>']}",
                           "name: ''",
                           "name: a/b",
                           "name: ..",
                           "name: -x",
                           "key_env: ''",
                           "ca_file: {}",
                           "sampling: {extra: [1]}",
                           "model_2: x"}) {
    EXPECT_THAT(complaint(keys), HasSubstr("models.yaml:4:")) << keys;
  }
}

TEST(ModelsFile, KeysAreNeverInIt) {
  const std::string found = complaint("key_env: sk-secret-key");
  EXPECT_THAT(found, HasSubstr("never the key itself"));
  EXPECT_EQ(found.find("sk-secret"), std::string::npos);
  EXPECT_THAT(complaint("key: sk"), HasSubstr("unknown key 'key'"));
}

TEST(ModelsFile, ExtraIsForWhatKbenchDoesNotSend) {
  for (const char* own : {"messages", "stream", "n", "seed", "temperature", "max_tokens"}) {
    EXPECT_THAT(complaint("sampling: {extra: {" + std::string(own) + ": 1}}"),
                HasSubstr("'" + std::string(own) + "' does not go into extra"));
  }
}

/// What is said of a whole file.
std::string whole(const std::string& text) {
  return error_of([&] { parse_models(text, "models.yaml"); }).what();
}

TEST(ModelsFile, AsAWhole) {
  EXPECT_THAT(whole(""), HasSubstr("expected a models file"));
  EXPECT_THAT(whole("models: []"), HasSubstr("there is none"));
  EXPECT_THAT(whole("models: 5"), HasSubstr("expected a list"));
  EXPECT_THAT(whole("- a"), HasSubstr("expected a map"));
  EXPECT_THAT(whole("models: [{model: m}]"), HasSubstr("missing key 'url'"));
  EXPECT_THAT(whole("models: [{url: 'http://h'}]"), HasSubstr("missing key 'model'"));
  EXPECT_THAT(whole("models: [{url: 'ftp://h', model: m}]"), HasSubstr("models.yaml:1:16: url:"));
  EXPECT_THAT(whole("models: [{url: 'http://a:b@h', model: m}]"), HasSubstr("no name or password"));
  EXPECT_THAT(whole("models:\n- {url: 'http://h', model: m}\n- {url: 'http://g', model: m}\n"),
              HasSubstr("models.yaml:3:3: two models are called 'm'"));
  EXPECT_THAT(whole("models: [{\n"), HasSubstr("not valid YAML"));
  EXPECT_THROW(read_models("/nonexistent/models.yaml"), Error);
}

TEST(ModelsFile, BytesThatAreNoTextAreNamedByTheirLine) {
  for (const std::string key : {"extra: {stop: \"\xff\"}", "extra: {\"\xe9\": 1}"}) {
    EXPECT_THAT(whole("models:\n- {url: 'http://h', model: m, sampling: {" + key + "}}\n"),
                HasSubstr("models.yaml:2: not a text in UTF-8"));
  }
}

TEST(ModelsFile, TheDocumentsExampleIsOne) {
  std::ifstream in(KBENCH_MODELS_DOC);
  const std::string doc((std::istreambuf_iterator<char>(in)), {});
  const size_t begin = doc.find("\n```yaml\n");  // the one before is in a list
  ASSERT_NE(begin, std::string::npos);
  const size_t end = doc.find("```", begin + 9);
  EXPECT_THAT(parse_models(doc.substr(begin + 9, end - begin - 9), "docs"), SizeIs(2));
}

TEST(Cost, OfKnownTokens) {
  const ModelPrice price{.input = 2, .cached = 0.5, .output = 10};
  EXPECT_DOUBLE_EQ(cost_of({.input = 1000000, .output = 100000}, price).value(), 3);
  EXPECT_DOUBLE_EQ(cost_of({.input = 1000000, .cached = 400000, .output = 0}, price).value(), 1.4);
  EXPECT_DOUBLE_EQ(
      cost_of({.input = 10, .cached = 10, .output = 0}, {.input = 1, .output = 1}).value(), 1e-5);
}

TEST(Cost, OfUnknownTokensIsUnknown) {
  const ModelPrice price{.input = 2, .output = 10};
  EXPECT_FALSE(cost_of({}, price));
  EXPECT_FALSE(cost_of({.input = 5}, price));
  EXPECT_FALSE(cost_of({.output = 5}, price));
  EXPECT_EQ(cost_of({}, {.input = 0, .output = 0}), 0);
}

}  // namespace
}  // namespace kbench
