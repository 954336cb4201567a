// An API key, protected as far as a process can.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kbench::models {

/// The value of an environment variable, stored as the HTTP header line that carries it, in memory
/// that is not swapped, not in core dumps, and cleared at the end. Not protected: the environment
/// itself, and libcurl's send buffers.
class Secret {
 public:
  Secret() = default;
  /// Throws Error, which never quotes the value: kNotFound if the variable is not set or empty,
  /// kInvalidArgument if the value cannot be part of a header.
  explicit Secret(const std::string& variable);
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  bool empty() const { return header_ == nullptr; }
  /// "Authorization: Bearer KEY", null-terminated; null without a key.
  const char* header() const { return header_; }

  /// The text with the key removed, since a server may echo it. Keys shorter than `least`, such as
  /// "none" or "EMPTY", are no secret and are left.
  std::string removed_from(std::string text, size_t least) const;

 private:
  std::string_view key() const;

  char* header_ = nullptr;
  size_t bytes_ = 0;  ///< of the mapping
  size_t key_bytes_ = 0;
};

}  // namespace kbench::models
