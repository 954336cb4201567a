// Reading requests, and answering those that are refused.
#pragma once

#include <httplib.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::http {

inline constexpr const char* kJson = "application/json";
inline constexpr const char* kJsonLines = "application/x-ndjson";

void say(httplib::Response& response, int status, const std::string& json);
/// {"error": why}
void say_error(httplib::Response& response, int status, const std::string& why);

/// Reads and forgets the body of a request that is refused, but no long one: a client that is still
/// sending would see its connection reset in place of the answer.
void discard_body(const httplib::ContentReader& reader);
/// The body, of at most `most` bytes, which arrive within so many seconds; else sets the answer.
std::optional<std::string> body_of(const httplib::ContentReader& reader, size_t most,
                                   double seconds, httplib::Response& response);
/// Its lines, without the newlines.
std::vector<std::string_view> lines_of(std::string_view text);

/// In lower case, without parameters.
std::string media_type_of(const httplib::Request& request);
/// Whether the Host header names this machine, with or without a port.
bool names_loopback(const httplib::Request& request);
/// The Idempotency-Key header; empty: none. Sets the answer for one that cannot be used.
std::optional<std::string> key_of(const httplib::Request& request, httplib::Response& response);

/// What a Prefer header asks for (RFC 7240): "respond-async", "wait=10".
struct Preference {
  bool async = false;
  double wait = INFINITY;  ///< seconds
};
Preference preference_of(const httplib::Request& request);
/// Seconds that a GET waits for the end of an experiment, "?wait=10", at most 60.
double wait_of(const httplib::Request& request);

}  // namespace kbench::http
