#include "harness/frontends/http/request.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/frontends/http/http_server.h"
#include "harness/frontends/http/service.h"
#include "kbench/error.h"
#include "libkbench/base/json_text.h"

namespace kbench::http {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;
using nlohmann::json;

/// Of a body that is refused, so much is still read.
constexpr size_t kDiscardedBytes = size_t{1} << 20;
constexpr double kDiscardSeconds = 1;

/// Seconds of wall time from when this was made. Not a process::Deadline, which counts 2 s at most
/// between two looks: a client that sends a byte every 9 s would have minutes.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds)
      : end_(Clock::now() + std::chrono::duration<double>(seconds)) {}
  bool passed() const { return Clock::now() > end_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
};

}  // namespace

void say(Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text, kJson);
}

void say_error(Response& response, int status, const std::string& why) {
  say(response, status, json_text(json{{"error", shown(why, 2000)}}));
}

void discard_body(const ContentReader& reader) {
  const TimeLimit limit(kDiscardSeconds);
  size_t bytes = 0;
  reader([&](const char*, size_t size) {
    bytes += size;
    return bytes < kDiscardedBytes && !limit.passed();
  });
}

std::optional<std::string> body_of(const ContentReader& reader, size_t most, double seconds,
                                   Response& response) {
  const TimeLimit limit(seconds);
  std::string body;
  size_t bytes = 0;
  const bool whole = reader([&](const char* data, size_t size) {
    bytes += size;
    if (bytes <= most) body.append(data, size);
    return bytes < most + kDiscardedBytes && !limit.passed();
  });
  if (bytes > most) {
    say_error(response, 413, "a body has at most " + std::to_string(most) + " bytes");
  } else if (!whole && HttpServer::client_sends_no_more()) {
    say_error(response, 400, "the body ends after " + std::to_string(bytes) + " bytes, too soon");
  } else if (!whole) {
    say_error(
        response, 408,
        "the body did not arrive, whole, within " + std::to_string(std::llround(seconds)) + " s");
  } else {
    return body;
  }
  return std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string media_type_of(const Request& request) {
  std::string type = request.get_header_value("Content-Type");
  type = type.substr(0, type.find_first_of("; "));
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type;
}

bool names_loopback(const Request& request) {
  std::string host = request.get_header_value("Host");
  const size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) host.erase(colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Address{host, 0}.loopback();
}

std::optional<std::string> key_of(const Request& request, Response& response) {
  constexpr size_t kMost = 200;
  std::string key = request.get_header_value("Idempotency-Key");
  const auto printable = [](unsigned char c) { return c > ' ' && c < 127; };
  if (key.size() <= kMost && std::ranges::all_of(key, printable)) return key;
  say_error(response, 400,
            "an Idempotency-Key has at most " + std::to_string(kMost) +
                " characters, none of them a blank");
  return std::nullopt;
}

Preference preference_of(const Request& request) {
  constexpr double kLongest = 1e6;
  Preference preference;
  std::istringstream items(request.get_header_value("Prefer"));
  for (std::string item; std::getline(items, item, ',');) {
    std::erase(item, ' ');
    if (item == "respond-async") preference.async = true;
    if (item.starts_with("wait=")) {
      preference.wait = std::clamp(std::atof(item.c_str() + 5), 0.0, kLongest);
    }
  }
  return preference;
}

double wait_of(const Request& request) {
  constexpr double kLongest = 60;
  return std::clamp(std::atof(request.get_param_value("wait").c_str()), 0.0, kLongest);
}

Address address_from_text(const std::string& text) {
  Address address;
  std::string port = text;
  if (const size_t colon = text.rfind(':'); colon != text.npos) {
    address.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else if (address.host.find(':') != text.npos) {
      address.host.clear();  // an IPv6 address without brackets: where does its port begin?
    }
  }
  const char* const end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, address.port);
  if (address.host.empty() || port.empty() || stop != end || error != std::errc() ||
      address.port < 0 || address.port > 65535) {
    throw Error(ErrorCode::kInvalidArgument,
                "'" + shown(text) + "' is no address: write 8000, 127.0.0.1:8000 or [::1]:8000");
  }
  return address;
}

bool Address::loopback() const {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

}  // namespace kbench::http
