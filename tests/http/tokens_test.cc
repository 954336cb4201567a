#include "harness/frontends/http/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::http {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& text) {
  const std::string path = ::testing::TempDir() + "tokens";
  std::ofstream(path) << text;
  return path;
}

std::string complaint_about(const std::string& text) {
  return error_of([&] { Tokens::from_file(file_of(text)); }).what();
}

TEST(Tokens, OfAFileAreTheirAuthors) {
  const Tokens tokens = Tokens::from_file(
      file_of("# trainers\n\nalice 0123456789abcdef\n  bob   fedcba9876543210  \n"));
  EXPECT_EQ(tokens.author_of("Bearer 0123456789abcdef"), "alice");
  EXPECT_EQ(tokens.author_of("Bearer fedcba9876543210"), "bob");
}

TEST(Tokens, ThatAreNotKnownHaveNoAuthor) {
  const Tokens tokens = Tokens::of("0123456789abcdef");
  EXPECT_EQ(tokens.author_of("Bearer 0123456789abcdef"), "default");
  for (const char* header : {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "0123456789abcdef",
                             "Basic 0123456789abcdef", "Bearer 0123456789abcdef0"}) {
    EXPECT_EQ(tokens.author_of(header), std::nullopt) << header;
  }
}

TEST(Tokens, ThatCannotBeUsedAreNamedByTheirLineAndNotShown) {
  EXPECT_THAT(complaint_about("alice short\n"), HasSubstr("tokens:1:1: the token of alice has"));
  EXPECT_THAT(complaint_about("\nalice\n"), HasSubstr(":2:1: a line is an author and a token"));
  EXPECT_THAT(complaint_about("a 0123456789abcdef x\n"), HasSubstr("a line is an author"));
  EXPECT_THAT(complaint_about("a 0123456789abcdef\na 0123456789abcdeg\n"),
              HasSubstr(":2:1: a is there twice"));
  EXPECT_THAT(complaint_about("a 0123456789abcdef\nb 0123456789abcdef\n"),
              HasSubstr(":2:1: the token of b is another's"));
  // "alice" with a line's author "x" is "alice/x".
  EXPECT_THAT(complaint_about("alice 0123456789abcdef\nalice/x 1123456789abcdef\n"),
              HasSubstr(":2:1: an author has no '/'"));
  EXPECT_THAT(complaint_about("# nothing\n"), HasSubstr("there is no token"));
  EXPECT_EQ(complaint_about("alice secretsecret\n").find("secretsecret"), std::string::npos);
  EXPECT_THROW(Tokens::of("short"), Error);
}

}  // namespace
}  // namespace kbench::http
