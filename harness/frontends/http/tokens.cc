#include "harness/frontends/http/tokens.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <sstream>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/hash.h"

namespace kbench::http {
namespace {

constexpr size_t kLeastBytes = 16;

std::string digest_of(std::string_view token) { return Sha256().add(token).hex(); }

}  // namespace

Tokens Tokens::from_file(const std::string& path) {
  Tokens tokens;
  std::istringstream lines(read_file(path));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string author, token, more;
    words >> author >> token >> more;
    if (author.empty() || author.starts_with('#')) continue;
    const auto fail = [&](const std::string& why) {
      throw Error(ErrorCode::kParse, Location{path, number, 1}, why);
    };
    if (token.empty() || !more.empty()) fail("a line is an author and a token");
    if (token.size() < kLeastBytes) {
      fail("the token of " + shown(author) + " has fewer than " + std::to_string(kLeastBytes) +
           " characters");
    }
    if (author.find('/') != author.npos) {
      fail("an author has no '/': " + shown(author) + " could be a part of another's");
    }
    Known known{author, digest_of(token)};
    for (const Known& other : tokens.known_) {
      if (other.author == author) fail(shown(author) + " is there twice");
      if (other.digest == known.digest) fail("the token of " + shown(author) + " is another's");
    }
    tokens.known_.push_back(std::move(known));
  }
  if (tokens.empty()) throw Error(ErrorCode::kParse, Location{path, 1, 1}, "there is no token");
  return tokens;
}

Tokens Tokens::of(std::string_view token) {
  if (token.size() < kLeastBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                "a token has at least " + std::to_string(kLeastBytes) + " characters");
  }
  Tokens tokens;
  tokens.known_.push_back({"default", digest_of(token)});
  return tokens;
}

std::optional<std::string> Tokens::author_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  const bool is_bearer = authorization.starts_with(kScheme);
  const std::string digest = digest_of(is_bearer ? authorization.substr(kScheme.size()) : "");
  const Known* found = nullptr;
  for (const Known& known : known_) {
    if (CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) found = &known;
  }
  if (found == nullptr || !is_bearer) return std::nullopt;
  return found->author;
}

}  // namespace kbench::http
