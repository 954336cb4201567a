// Keys: where they come from, where they go, and where they must not.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/evaluate/models/secret.h"
#include "tests/error_of.h"
#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kVariable = "KBENCH_TEST_KEY";
const std::string kKey = "sk-0123456789abcdefghijklmnop";

class Key : public ::testing::Test {
 protected:
  void SetUp() override { setenv(kVariable, kKey.c_str(), 1); }
  void TearDown() override { unsetenv(kVariable); }
  static ModelConfig config() { return {.key_env = kVariable}; }
};

TEST_F(Key, IsSentAndStaysOutOfEverythingElse) {
  // A server that repeats the key wherever it can.
  const auto body =
      nlohmann::json{{"model", "m " + kKey},
                     {"system_fingerprint", kKey},
                     {"choices",
                      {{{"message", {{"content", "a " + kKey + " b"}, {"reasoning", kKey}}},
                        {"finish_reason", "stop"}}}}};
  ScriptedServer server({{.status = 500, .body = error_body("key " + kKey + " crashed")},
                         {.body = body.dump()},
                         {.status = 302, .headers = {{"Location", "http://x/?k=" + kKey}}}});
  Asked asked(server.url(), config());
  const Answer answer = asked.ask();
  EXPECT_EQ(server.seen().at(0).headers.at("Authorization"), "Bearer " + kKey);
  EXPECT_EQ(answer.text, "a [key] b");
  for (const std::string& text : {answer.text, answer.reasoning, answer.served_by,
                                  answer.fingerprint, answer.sent, answer.finish}) {
    EXPECT_THAT(text, Not(HasSubstr(kKey)));
  }
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), Not(HasSubstr(kKey)));
  for (const ModelEvent& event : asked.events()) {
    EXPECT_THAT(to_json(event), Not(HasSubstr(kKey)));
  }
  EXPECT_THAT(to_json(asked.model().config()), Not(HasSubstr(kKey)));
  EXPECT_THAT(asked.events(ModelEvent::Kind::insecure), IsEmpty());  // loopback
}

TEST_F(Key, AShortOneMayBeAWord) {
  setenv(kVariable, "EMPTY", 1);
  ScriptedServer server({{.body = chat_body("The list is EMPTY.")},
                         {.status = 401, .body = error_body("wrong key EMPTY")}});
  Asked asked(server.url(), config());
  EXPECT_EQ(asked.ask().text, "The list is EMPTY.");
  EXPECT_THAT(asked.error()->what(), HasSubstr("wrong key [key]"));
}

TEST_F(Key, NoneIsSentUnlessAskedFor) {
  ScriptedServer server({{.body = chat_body("x")}});
  Asked(server.url()).ask();
  EXPECT_FALSE(server.seen().at(0).headers.contains("Authorization"));
}

TEST_F(Key, MustBeThere) {
  unsetenv(kVariable);
  const Error e = error_of([&] { Asked asked("http://127.0.0.1:1/v1", config()); });
  EXPECT_EQ(e.code(), ErrorCode::kNotFound);
  EXPECT_THAT(e.what(), HasSubstr("KBENCH_TEST_KEY"));
}

TEST_F(Key, CannotSmuggleHeaders) {
  for (const std::string value : {"a\r\nX-Evil: 1", "a b", "a\n", "\x01"}) {
    setenv(kVariable, value.c_str(), 1);
    const Error e = error_of([&] { Asked asked("http://127.0.0.1:1/v1", config()); });
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(e.what(), Not(HasSubstr(value)));
  }
}

TEST_F(Key, OverPlainHttpToAnotherHostIsWarnedOf) {
  const Asked other("http://models.invalid:8000/v1", config());
  ASSERT_THAT(other.events(), SizeIs(1));
  EXPECT_EQ(other.events()[0].kind, ModelEvent::Kind::insecure);
  EXPECT_THAT(other.events()[0].text, HasSubstr("plain http to another host"));
  for (const char* url : {"https://models.invalid/v1", "http://localhost:1/v1", "http://[::1]:1/v1",
                          "http://127.0.0.1:1/v1"}) {
    EXPECT_THAT(Asked(url, config()).events(), IsEmpty()) << url;
  }
  EXPECT_THAT(Asked("http://models.invalid:8000/v1").events(), IsEmpty());  // no key
}

TEST_F(Key, LiesInMemoryThatIsNotDumped) {
  const models::Secret secret(kVariable);
  EXPECT_EQ(std::string(secret.header()), "Authorization: Bearer " + kKey);
  const auto address = reinterpret_cast<uintptr_t>(secret.header());
  std::ifstream maps("/proc/self/smaps");
  bool inside = false, found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= address && address < end;
    }
    if (!inside || !line.starts_with("VmFlags:")) continue;
    found = true;
    EXPECT_THAT(line + " ", HasSubstr(" dd "));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace kbench::testing
