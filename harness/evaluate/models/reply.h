// A server's reply, parsed as it arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "kbench/model.h"

namespace kbench::models {

/// Server-sent events, in which answers are streamed.
/// Parses a stream that arrives in pieces of any size, and calls `event` with the data of each
/// event. Lines end with \n, \r or both; comments and other fields are skipped; data of several
/// lines are joined with \n.
class ServerEvents {
 public:
  /// A line, or an event's data, of more than `most` bytes ends the parse.
  ServerEvents(size_t most, std::function<void(std::string_view data)> event)
      : most_(most), event_(std::move(event)) {}

  /// False if the limit was exceeded.
  bool feed(std::string_view bytes);
  /// The end of the stream. An event without its final blank line is delivered too.
  void finish();

 private:
  void end_line();

  size_t most_;
  std::function<void(std::string_view)> event_;
  std::string line_, data_;
  bool has_data_ = false;
  bool after_return_ = false;  ///< a following \n belongs to the \r before it
  bool first_line_ = true;
};

/// Most bytes of a body, of one event of a stream, and of all answers of a stream together.
inline constexpr size_t kReplyBytes = size_t{16} << 20;
/// Most bytes of a stream, whose events have several times as much metadata as text.
inline constexpr size_t kStreamBytes = 16 * kReplyBytes;
/// Most bytes kept of an error's body.
inline constexpr size_t kErrorBytes = size_t{64} << 10;

/// An error as the server reports it; fields that it leaves out are empty.
struct ServerError {
  int status = 0;  ///< of HTTP, or as the body has it
  std::string code, type, parameter, message;
};

/// The answer to a request.
struct Choice {
  std::string text, reasoning, refusal, finish;
};

/// The body of one reply: an error, one JSON document, or a stream of them. Does not throw on
/// malformed input.
class Reply {
 public:
  explicit Reply(int status)
      : status_(status), events_(kReplyBytes, [this](auto d) { event(d); }) {}
  Reply(const Reply&) = delete;

  /// False if no more is wanted: the stream is complete, or too long.
  bool feed(std::string_view bytes);
  /// The end of the body. `cut`: the connection broke.
  void finish(bool cut);

  std::optional<Choice> choice;
  Usage usage;
  std::string served_by, fingerprint;

  std::optional<ServerError> error;
  /// Why this is neither an answer nor an error, for messages.
  std::string broken;
  bool too_large = false;

 private:
  enum class Form { unknown, error, document, stream };

  void event(std::string_view data);
  void take(const nlohmann::json& json, const char* part);
  void take_choice(const nlohmann::json& json, const char* part);
  void finish_document();
  bool stop_too_large();

  int status_;
  Form form_ = Form::unknown;
  std::string body_;
  ServerEvents events_;
  size_t stream_bytes_ = 0, answer_bytes_ = 0;
  bool done_ = false;  ///< "[DONE]"
};

/// The error in the body of a reply with this status.
ServerError read_error(int status, std::string_view body);

// What to do about a failed request, and how long to wait before it is sent again.

enum class Remedy {
  retry,      ///< the error may be temporary
  parameter,  ///< send it again without, or with another name for, Failure::parameter
  too_long,   ///< the answer's outcome: the prompt does not fit
  filtered,   ///< the answer's outcome: a content filter
  request,    ///< this request cannot succeed
  model,      ///< no request to this model can succeed
};

struct Failure {
  Remedy remedy = Remedy::retry;
  std::string parameter = {};
  bool limited = false;  ///< the server asks for fewer requests
};

/// Interprets an error. `sent`: the optional parameters of the request.
Failure understood(const ServerError& error, const std::vector<std::string>& sent);

/// Names in lower case.
using Headers = std::map<std::string, std::string>;

/// The seconds a server asks to wait: retry-after-ms, or Retry-After in seconds or as a date.
/// `now`: seconds since 1970.
std::optional<double> requested_wait(const Headers& headers, int64_t now);
/// Seconds to wait before try number `next` (from 2 on): a random share of 2^(next - 2) s, at most
/// 60 s.
double backoff(int next, double uniform);

}  // namespace kbench::models
