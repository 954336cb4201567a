// A key, kept out of reach as far as a process can.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kbench::models {

/// The value of an environment variable, as the line of HTTP that carries it. It lies in memory of
/// its own that is not swapped, not part of a core dump and cleared at the end. What cannot be
/// helped: the environment itself, and the buffers that libcurl sends from.
class Secret {
 public:
  Secret() = default;
  /// Throws Error, which never quotes the value: kNotFound where the variable is not set or empty,
  /// kInvalidArgument where the value cannot stand in a header.
  explicit Secret(const std::string& variable);
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  bool empty() const { return header_ == nullptr; }
  /// "Authorization: Bearer KEY", ended by a zero; null without a key.
  const char* header() const { return header_; }

  /// A text from outside without the key, which a server may echo. Keys shorter than `least` are
  /// left: words as "none" or "EMPTY" are no secret, and may stand in an answer.
  std::string removed_from(std::string text, size_t least) const;

 private:
  std::string_view key() const;

  char* header_ = nullptr;
  size_t bytes_ = 0;  ///< of the mapping
  size_t key_bytes_ = 0;
};

}  // namespace kbench::models
