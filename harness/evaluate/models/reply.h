// What a server answers, read as it comes.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/models/server_events.h"
#include "kbench/model.h"

namespace kbench::models {

/// Most bytes of a body, of one event of a stream, and of a stream's answers taken together.
inline constexpr size_t kReplyBytes = size_t{16} << 20;
/// Most bytes of a stream: its events say about as much about themselves as each token has room
/// for.
inline constexpr size_t kStreamBytes = 16 * kReplyBytes;
/// What is kept of the body of an error.
inline constexpr size_t kErrorBytes = size_t{64} << 10;

/// An error as servers report it; what they do not say is empty.
struct ServerError {
  int status = 0;  ///< of HTTP, or the like inside the body
  std::string code, type, parameter, message;
};

/// One of the answers to a request.
struct Choice {
  std::string text, reasoning, refusal, finish;
};

/// The body of one reply: an error, one JSON document, or a stream of them. Never throws on what it
/// reads.
class Reply {
 public:
  explicit Reply(int status)
      : status_(status), events_(kReplyBytes, [this](auto d) { event(d); }) {}
  Reply(const Reply&) = delete;

  /// False when nothing further is wanted: the stream has said that it is done, or too much came.
  bool feed(std::string_view bytes);
  /// The end of the body. `cut`: the connection broke first.
  void finish(bool cut);

  std::vector<Choice> choices;
  Usage usage;
  std::string served_by, fingerprint;

  std::optional<ServerError> error;
  /// Why this is no answer, where it is none and no error either; for messages.
  std::string broken;
  bool too_large = false;

 private:
  enum class Form { unknown, error, document, stream };

  void event(std::string_view data);
  void take(const nlohmann::json& json, const char* part);
  void take_choice(const nlohmann::json& json, const char* part);
  void finish_document();
  void take_error();
  bool stop_too_large();

  int status_;
  Form form_ = Form::unknown;
  std::string body_;
  ServerEvents events_;
  size_t stream_bytes_ = 0, answer_bytes_ = 0;
  bool done_ = false;  ///< "[DONE]"
};

/// An error out of the body of a reply with that status.
ServerError read_error(int status, std::string_view body);

}  // namespace kbench::models
