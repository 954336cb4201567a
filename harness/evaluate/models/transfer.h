// One HTTP request and its reply, sent by libcurl.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/models/reply.h"
#include "harness/evaluate/models/secret.h"

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

struct HttpRequest {
  std::string method = {};  ///< empty: POST where there is a body, else GET
  std::string url = {};
  std::string body = {};
  std::vector<std::string> headers = {};  ///< more lines, "Name: value"
  const Secret* key = nullptr;
  std::string ca_file = {};
  // In seconds; 0: no limit.
  double connect_timeout = 0;
  double first_timeout = 0;    ///< to the body's first byte
  double silence_timeout = 0;  ///< between two of its pieces
  double total_timeout = 0;
};

struct HttpEnd {
  enum class How {
    whole,    ///< the reply is complete, or the sink returned false
    broken,   ///< a connection or time limit failed
    refused,  ///< repeating it cannot help: certificates, addresses
    stopped,  ///< stop was requested
  };
  How how = How::whole;
  int status = 0;  ///< 0: there was no reply
  Headers headers;
  std::string message;  ///< why the reply is not complete
};

/// A connection that is reused. Redirects are not followed, cookies and .netrc are not read;
/// proxies are taken from the environment. Not thread-safe.
class Transfer {
 public:
  /// Throws Error.
  Transfer();
  ~Transfer();

  /// `sink` is called with the status and each piece of the body; it returns false to end the
  /// transfer.
  using Sink = std::function<bool(int status, std::string_view bytes)>;
  HttpEnd run(const HttpRequest& request, std::stop_token stop, const Sink& sink);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench::models
