// What comes over the line: redirects, certificates, sizes, replies that are no HTTP.
#include <cstdlib>

#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Reach = ModelError::Reach;

const Line kServed = {.body = chat_body("x")};

TEST(Transport, RedirectsAreNotFollowed) {
  ScriptedServer target({kServed});
  for (const int status : {301, 302, 307, 308}) {
    ScriptedServer server({{.status = status, .headers = {{"Location", target.url()}}}});
    Asked asked(server.url());
    const auto error = asked.error();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->reach(), Reach::model);
    EXPECT_THAT(error->what(), HasSubstr("redirected to " + target.url()));
  }
  EXPECT_EQ(target.count(), 0u);
}

TEST(Transport, OnlyHttp) {
  for (const char* url : {"file:///etc/passwd", "ftp://127.0.0.1/v1", "gopher://127.0.0.1/", "",
                          "http://", "http://user:word@127.0.0.1/v1", "http://127.0.0.1/v1#x"}) {
    EXPECT_THROW(Asked{url}, Error) << url;
  }
  try {
    Asked asked("http://me:hidden@127.0.0.1/v1");
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("hidden"), std::string::npos);
  }
}

TEST(Transport, UrlsAreCompleted) {
  ScriptedServer server({kServed});
  Asked(server.url() + "/").ask();
  Asked(server.url() + "?api-version=1").ask();
  EXPECT_EQ(server.seen().at(0).path, "/v1/chat/completions");
  EXPECT_EQ(server.seen().at(1).path, "/v1/chat/completions?api-version=1");
}

TEST(Transport, LargeRepliesAreGivenUp) {
  ScriptedServer server({{.body = "{\"a\": \"" + std::string(17 << 20, 'x') + "\"}"}});
  Asked asked(server.url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), Reach::request);
  EXPECT_THAT(error->what(), HasSubstr("larger than 16 MiB"));
  EXPECT_EQ(server.count(), 1u);
}

TEST(Transport, RepliesThatAreNoHttpAreTriedAgain) {
  const std::string good = chat_body("x");
  RawServer server({"", "SSH-2.0-OpenSSH_9.2\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                    std::string("HTTP/1.1 200 OK\r\n") + std::string(400000, 'x') + ": y\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(good.size()) +
                        "\r\nConnection: close\r\n\r\n" + good});
  Asked asked(server.url(), {.tries = 6});
  EXPECT_EQ(asked.ask().tries, 6);
  EXPECT_THAT(asked.events(ModelEvent::Kind::retry), SizeIs(5));
  EXPECT_EQ(server.count(), 6u);
}

TEST(Transport, CertificatesAreVerified) {
  const auto server = ScriptedServer::with_tls({kServed});
  Asked asked(server->url());
  const auto error = asked.error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reach(), Reach::model);
  EXPECT_THAT(error->what(), HasSubstr("certificate"));
  EXPECT_EQ(server->count(), 0u);

  Asked trusting(server->url(), {.ca_file = server->certificate()});
  EXPECT_EQ(trusting.ask().text, "x");

  Asked missing(server->url(), {.ca_file = "/nonexistent.pem"});
  EXPECT_EQ(missing.error()->reach(), Reach::model);
}

TEST(Transport, ProxiesComeFromTheEnvironment) {
  ScriptedServer proxy({kServed});
  const std::string address = proxy.url().substr(0, proxy.url().rfind('/'));
  setenv("http_proxy", address.c_str(), 1);
  Asked asked("http://models.invalid/v1");
  const Answer answer = asked.ask();
  unsetenv("http_proxy");
  EXPECT_EQ(answer.text, "x");
  EXPECT_THAT(proxy.seen().at(0).path, HasSubstr("models.invalid/v1/chat/completions"));
}

TEST(Transport, ConnectionsAreUsedAgain) {
  ScriptedServer server({stream({delta("x", "stop"), event("[DONE]")})});
  Asked asked(server.url());
  std::set<std::string> ports;
  for (int i = 0; i < 3; ++i) asked.ask();
  for (const Seen& seen : server.seen()) ports.insert(seen.headers.at("REMOTE_PORT"));
  EXPECT_THAT(ports, SizeIs(1));
}

}  // namespace
}  // namespace kbench::testing
