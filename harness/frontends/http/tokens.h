// Who may use the HTTP service: tokens, each of which is one author's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::http {

/// Tokens by their SHA-256, so that neither a message nor a core file holds one.
class Tokens {
 public:
  /// A file of lines "AUTHOR TOKEN"; empty lines and lines that begin with '#' are skipped. Throws
  /// kIo, and kParse, with the line, for a token of fewer than 16 characters, an author with a '/',
  /// and an author or a token that is there twice.
  static Tokens from_file(const std::string& path);
  /// One token, whose author is "default". Throws kInvalidArgument where it is too short.
  static Tokens of(std::string_view token);

  bool empty() const { return known_.empty(); }
  /// The author whose token an Authorization header's value has: "Bearer TOKEN". The time taken
  /// depends neither on the token nor on which it is.
  std::optional<std::string> author_of(std::string_view authorization) const;

 private:
  struct Known {
    std::string author, digest;
  };
  std::vector<Known> known_;
};

}  // namespace kbench::http
