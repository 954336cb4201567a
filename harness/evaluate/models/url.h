// Server addresses.
#pragma once

#include <string>

namespace kbench::models {

struct Url {
  std::string text;       ///< as libcurl normalises it
  bool secure = false;    ///< https
  bool loopback = false;  ///< this machine
};

/// A server's base URL. Throws kInvalidArgument if it is not http or https, or contains a user name
/// or password, which would be shown in messages and files.
Url parse_url(const std::string& text);

/// The base URL with `path` appended to its path; a query stays at the end.
std::string with_path(const Url& base, const std::string& path);

}  // namespace kbench::models
