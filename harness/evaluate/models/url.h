// The addresses of servers.
#pragma once

#include <string>

namespace kbench::models {

struct Url {
  std::string text;       ///< as libcurl writes it
  bool secure = false;    ///< https
  bool loopback = false;  ///< this machine
};

/// A server's base URL. Throws kInvalidArgument for one that is not http or https, and for one that
/// holds a name or password: those would be shown and written down.
Url parse_url(const std::string& text);

/// The base URL with a path behind its own; a query stays.
std::string with_path(const Url& base, const std::string& path);

}  // namespace kbench::models
