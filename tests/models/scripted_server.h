// A server that says what a test wrote down, on a port of this machine.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kbench::testing {

/// One reply.
struct Line {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::map<std::string, std::string> headers = {};
  std::vector<std::string> pieces = {};  ///< a chunked body in place of `body`
  enum class End { clean, abrupt, hold };
  End end = End::clean;    ///< behind the pieces; hold: the connection stays open
  bool hold_head = false;  ///< nothing is sent until the server goes
};

/// What a request was.
struct Seen {
  std::string method, path, body;
  std::map<std::string, std::string> headers;
};

class ScriptedServer {
 public:
  /// Each request gets the next line, those behind the last the last.
  explicit ScriptedServer(std::vector<Line> script);
  /// Lines that depend on the request. Called from several threads.
  using Answering = std::function<Line(const Seen&, size_t number)>;
  explicit ScriptedServer(Answering answering);
  /// With a certificate for `localhost` that signs itself, in PEM at certificate().
  static std::unique_ptr<ScriptedServer> with_tls(std::vector<Line> script);
  ~ScriptedServer();

  std::string url() const;  ///< "http://127.0.0.1:PORT/v1"
  std::string certificate() const;
  std::vector<Seen> seen() const;
  size_t count() const { return seen().size(); }

 private:
  class State;
  explicit ScriptedServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Sends these bytes in answer to whatever comes, and closes the connection: for replies that are
/// not HTTP.
class RawServer {
 public:
  explicit RawServer(std::vector<std::string> replies);
  ~RawServer();
  std::string url() const;
  size_t count() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Bodies as servers write them.
std::string chat_body(const std::string& text, const std::string& finish = "stop");
std::string error_body(const std::string& message, const std::string& code = "",
                       const std::string& type = "", const std::string& parameter = "");
std::string event(const std::string& data);                                  ///< of a stream
std::string delta(const std::string& text, const std::string& finish = "");  ///< as an event
Line stream(std::vector<std::string> events);  ///< "[DONE]" is not added

}  // namespace kbench::testing
