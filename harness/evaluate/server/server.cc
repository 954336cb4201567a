#include "kbench/server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "harness/evaluate/client/device_list.h"
#include "harness/evaluate/evaluators/serve_request.h"
#include "harness/evaluate/models/secret.h"
#include "harness/evaluate/models/transfer.h"
#include "harness/evaluate/server/served_devices.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/judge_protocol/tries.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/json_text.h"

namespace kbench {
namespace {

using models::HttpEnd;
using models::HttpRequest;
using nlohmann::json;

constexpr double kConnectSeconds = 10, kAnswerSeconds = 60;
constexpr int kPollSeconds = 1;       ///< for which one request waits for an outcome
constexpr double kLongestPause = 10;  ///< seconds between two tries

/// A reply, or why there is none.
struct Reply {
  int status = 0;  ///< 0: the server cannot be reached
  json body;
  std::string trouble;
  double retry_after = 0;  ///< seconds that the server asks to wait
  /// Another try may be answered otherwise.
  bool passing() const { return status == 0 || status == 429 || status >= 500; }
  std::string error() const {
    if (!trouble.empty()) return trouble;
    const std::string said = body.is_object() ? body.value("error", "") : "";
    return "HTTP " + std::to_string(status) + (said.empty() ? "" : ": " + shown(said, 2000));
  }
};

/// Requests to one server, one at a time.
class Connection {
 public:
  explicit Connection(const ServerOptions& options)
      : url_(models::parse_url(options.url)), ca_file_(options.ca_file) {
    const char* const token = std::getenv(options.token_env.c_str());
    if (token != nullptr && *token != '\0') token_.emplace(options.token_env);
  }

  // `key`: of the experiment that it is about, by which a proxy can find the server that has it.

  Reply get(const std::string& path) {
    return send({.method = "GET", .url = models::with_path(url_, path)}, {});
  }
  Reply wait(const std::string& path, const std::string& key, const std::stop_token& stop) {
    const std::string url = models::with_path(url_, path) + "?wait=" + std::to_string(kPollSeconds);
    return send({.method = "GET", .url = url, .headers = keyed(key)}, stop);
  }
  Reply remove(const std::string& path, const std::string& key) {
    return send({.method = "DELETE", .url = models::with_path(url_, path), .headers = keyed(key)},
                {});
  }
  Reply post(const std::string& path, const std::string& body, const std::string& key) {
    HttpRequest request = {.method = "POST",
                           .url = models::with_path(url_, path),
                           .body = body,
                           .headers = keyed(key)};
    request.headers.push_back("Prefer: respond-async");
    return send(std::move(request), {});
  }
  const std::string& url() const { return url_.text; }

 private:
  static std::vector<std::string> keyed(const std::string& key) {
    return {"Idempotency-Key: " + key};
  }

  Reply send(HttpRequest request, const std::stop_token& stop) {
    if (token_) request.key = &*token_;
    request.ca_file = ca_file_;
    request.connect_timeout = kConnectSeconds;
    request.first_timeout = request.silence_timeout = kAnswerSeconds;
    std::string body;
    const HttpEnd end = transfer_.run(request, stop, [&](int, std::string_view bytes) {
      body += bytes;
      return true;
    });
    Reply reply;
    if (end.how != HttpEnd::How::whole) {
      reply.trouble = "cannot reach " + url() + ": " + end.message;
      return reply;
    }
    reply.status = end.status;
    reply.body = json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (const auto after = end.headers.find("retry-after"); after != end.headers.end()) {
      reply.retry_after = std::atof(after->second.c_str());
    }
    if (reply.status / 100 == 2 && !reply.body.is_object()) {
      reply.status = 0;
      reply.trouble = url() + " does not answer as kbench serve does";
    }
    return reply;
  }

  models::Url url_;
  std::string ca_file_;
  std::optional<models::Secret> token_;
  models::Transfer transfer_;
};

Result harness_error(const Question& question, const std::string& why) {
  Result result;
  result.candidate = shown(question.candidate.path);
  result.verdict = Verdict::harness_error;
  result.message = why;
  return result;
}

/// Nothing of an experiment that has not ended.
std::optional<Result> outcome_of(const json& body, const Question& question) {
  const std::string state = body.value("state", "");
  if (state == "done" && body.contains("result")) {
    return result_from_json(json_text(body["result"]));
  }
  if (state == "failed") {
    throw Error(ErrorCode::kInvalidArgument, body.value("error", "the experiment failed"));
  }
  if (state == "cancelled") return harness_error(question, "the server cancelled the experiment");
  return std::nullopt;
}

void sleep(double seconds, const std::stop_token& stop) {
  process::Deadline deadline(seconds);
  while (!deadline.passed() && !stop.stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::vector<vulkan::DeviceSnapshot> devices_over(Connection& connection) {
  Reply answer = connection.get("/v1/devices");
  if (answer.status != 200) {
    throw Error(answer.passing() ? ErrorCode::kIo : ErrorCode::kInvalidArgument,
                answer.status == 0 ? answer.error() : connection.url() + " says " + answer.error());
  }
  for (json& device : answer.body["devices"]) {
    for (const char* name : {"device_uuid", "driver_uuid"}) {
      std::string digits = device.value(name, "");
      std::erase(digits, '-');
      device[name] = bytes_of_hex(digits).value_or(std::vector<uint8_t>());
    }
  }
  return judge::snapshots_from_json(json_text(answer.body));
}

}  // namespace

class Server::State {
 public:
  explicit State(ServerOptions options)
      : options_(std::move(options)), connection_(options_), devices_(options_.devices) {}

  Result evaluate(const Question& question, const Observer& observer, const std::stop_token& stop);
  std::vector<DeviceSummary> devices();
  std::string trouble() {
    const std::lock_guard lock(mutex_);
    const Reply answer = connection_.get("/healthz");
    return answer.passing() ? answer.error() : "";
  }

 private:
  const ServerOptions options_;
  std::mutex mutex_;
  Connection connection_;
  std::vector<DeviceSummary> devices_;
};

Result Server::State::evaluate(const Question& question, const Observer& observer,
                               const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  const std::string body = evaluators::serve_line_of(question, options_.device);
  const std::string key = random_id();
  process::Deadline patience(judge::kServerPatienceSeconds);
  std::string place, stage;
  int lost = 0;
  for (double pause = 0.1;; pause = std::min(2 * pause, kLongestPause)) {
    const Reply answer = place.empty() ? connection_.post("/v1/evaluate", body, key)
                                       : connection_.wait(place, key, stop);
    const bool taken = answer.status / 100 == 2;
    if (taken) place = "/v1/experiments/" + answer.body.value("experiment", "");
    if (stop.stop_requested()) {
      if (!place.empty()) connection_.remove(place, key);
      throw Cancelled();
    }
    if (taken) {
      pause = 0.1;
      patience = process::Deadline(judge::kServerPatienceSeconds);
      if (auto result = outcome_of(answer.body, question)) return *std::move(result);
      const std::string now = answer.body.value("stage", "");
      if (now != std::exchange(stage, now) && !now.empty() && observer.on_stage) {
        observer.on_stage(now.c_str());
      }
      continue;
    }
    // A server that was started again knows nothing of it. One that forgets it time and again is
    // several behind one address.
    if (answer.status == 404 && !std::exchange(place, "").empty()) {
      if (++lost <= judge::kMostForgotten) continue;
      return harness_error(question,
                           connection_.url() + " forgets its experiments: " + answer.error());
    }
    if (!answer.passing()) throw Error(ErrorCode::kInvalidArgument, answer.error());
    if (patience.passed()) return harness_error(question, answer.error());
    sleep(std::max(pause, std::min(answer.retry_after, kLongestPause)), stop);
  }
}

std::vector<DeviceSummary> Server::State::devices() {
  const std::lock_guard lock(mutex_);
  if (!devices_.empty()) return devices_;
  std::vector<vulkan::DeviceSnapshot> served = devices_over(connection_);
  if (options_.device != "auto") served = {vulkan::choose_device(served, options_.device)};
  for (const vulkan::DeviceSnapshot& each : served) devices_.push_back(client::summary_of(each));
  return devices_;
}

Server::Server(ServerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Server::~Server() = default;

Result Server::evaluate(const Question& question, const Observer& observer, std::stop_token stop) {
  return state_->evaluate(question, observer, stop);
}
std::vector<DeviceSummary> Server::devices() { return state_->devices(); }
std::string Server::trouble() { return state_->trouble(); }

std::vector<vulkan::DeviceSnapshot> served_devices(const ServerOptions& options) {
  Connection connection(options);
  return devices_over(connection);
}

}  // namespace kbench
