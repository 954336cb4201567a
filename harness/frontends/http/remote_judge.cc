#include "harness/frontends/http/remote_judge.h"

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "harness/evaluate/queue/serve_request.h"
#include "harness/frontends/http/experiments.h"
#include "harness/frontends/http/request.h"
#include "harness/measure/process/deadline.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/json_text.h"

namespace kbench::http {
namespace {

using nlohmann::json;

constexpr int kConnectSeconds = 10, kAnswerSeconds = 60;
constexpr int kPollSeconds = 1;       ///< for which one request waits for an outcome
constexpr double kPatience = 120;     ///< seconds for a server to come back, or to have room
constexpr double kLongestPause = 10;  ///< seconds between two tries
constexpr int kMostLost = 5;          ///< how often one experiment is sent again to a new server

/// An answer, or why there is none.
struct Answer {
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
  explicit Connection(const RemoteServer& server) : url_(server.url) {
    const size_t scheme = url_.find("://");
    const size_t path = scheme == url_.npos ? url_.npos : url_.find('/', scheme + 3);
    if (!(url_.starts_with("http://") || url_.starts_with("https://")) ||
        url_.find('@') != url_.npos) {
      throw Error(ErrorCode::kInvalidArgument,
                  "'" + shown(url_) + "' is no server: write http://HOST:PORT or https://HOST");
    }
    if (path != url_.npos) base_ = url_.substr(path);
    while (base_.ends_with('/')) base_.pop_back();
    client_ = std::make_unique<httplib::Client>(url_.substr(0, path));
    client_->set_connection_timeout(kConnectSeconds);
    client_->set_read_timeout(kAnswerSeconds);
    client_->set_write_timeout(kAnswerSeconds);
    if (!server.token.empty()) {
      client_->set_default_headers({{"Authorization", "Bearer " + server.token}});
    }
  }

  /// `key`: of the experiment that it is about, by which a proxy can find the server that has it.
  Answer get(const std::string& path, const std::string& key = {}) {
    return answer_of(client_->Get(base_ + path, with_key(key)));
  }
  Answer remove(const std::string& path, const std::string& key) {
    return answer_of(client_->Delete(base_ + path, with_key(key)));
  }
  Answer post(const std::string& path, const std::string& body, const std::string& key) {
    httplib::Headers headers = with_key(key);
    headers.emplace("Prefer", "respond-async");
    return answer_of(client_->Post(base_ + path, headers, body, kJson));
  }
  const std::string& url() const { return url_; }

 private:
  static httplib::Headers with_key(const std::string& key) {
    return key.empty() ? httplib::Headers() : httplib::Headers{{"Idempotency-Key", key}};
  }

  Answer answer_of(const httplib::Result& result) const {
    Answer answer;
    if (!result) {
      answer.trouble = "cannot reach " + url_ + ": " + httplib::to_string(result.error());
      return answer;
    }
    answer.status = result->status;
    answer.body = json::parse(result->body, nullptr, /*allow_exceptions=*/false);
    answer.retry_after = std::atof(result->get_header_value("Retry-After").c_str());
    if (answer.status / 100 == 2 && !answer.body.is_object()) {
      answer.status = 0;
      answer.trouble = url_ + " does not answer as kbench serve does";
    }
    return answer;
  }

  std::string url_, base_;
  std::unique_ptr<httplib::Client> client_;
};

Result harness_error(const judge::EvaluateRequest& request, const std::string& why) {
  Result result;
  result.candidate = shown(request.question.candidate.path);
  result.verdict = Verdict::harness_error;
  result.message = why;
  return result;
}

class RemoteJudge : public queue::QueueJudge {
 public:
  RemoteJudge(const RemoteServer& server, std::string device, vulkan::DeviceSnapshot snapshot)
      : connection_(server), device_(std::move(device)), snapshot_(std::move(snapshot)) {}

  Result run(const judge::EvaluateRequest& request,
             const std::function<void(const char*)>& on_stage,
             const std::stop_token& stop) override {
    const std::string body = queue::serve_line_of(request, device_), key = random_id();
    process::Deadline patience(kPatience);
    std::string place, stage;
    int lost = 0;
    for (double pause = 0.1;; pause = std::min(2 * pause, kLongestPause)) {
      const Answer answer =
          place.empty() ? connection_.post("/v1/evaluate", body, key)
                        : connection_.get(place + "?wait=" + std::to_string(kPollSeconds), key);
      const bool taken = answer.status / 100 == 2;
      if (taken) place = "/v1/experiments/" + answer.body.value("experiment", "");
      if (stop.stop_requested()) {
        if (!place.empty()) connection_.remove(place, key);
        throw Cancelled();
      }
      if (taken) {
        pause = 0.1;
        patience = process::Deadline(kPatience);
        if (const auto result = outcome_of(answer.body, request)) return *result;
        const std::string now = answer.body.value("stage", "");
        if (now != std::exchange(stage, now) && !now.empty() && on_stage) on_stage(now.c_str());
        continue;
      }
      // A server that was started again knows nothing of it. One that forgets it time and again is
      // several behind one address.
      if (answer.status == 404 && !std::exchange(place, "").empty()) {
        if (++lost <= kMostLost) continue;
        return harness_error(request,
                             connection_.url() + " forgets its experiments: " + answer.error());
      }
      if (!answer.passing()) throw Error(ErrorCode::kInvalidArgument, answer.error());
      if (patience.passed()) return harness_error(request, answer.error());
      sleep(std::max(pause, std::min(answer.retry_after, kLongestPause)), stop);
    }
  }

  std::string trouble() override {
    const Answer answer = connection_.get("/healthz");
    return answer.passing() ? answer.error() : "";
  }
  const vulkan::DeviceSnapshot& snapshot() override { return snapshot_; }

 private:
  /// Nothing of an experiment that has not ended.
  static std::optional<Result> outcome_of(const json& body, const judge::EvaluateRequest& request) {
    const std::string state = body.value("state", "");
    if (state == "done" && body.contains("result")) {
      return result_from_json(json_text(body["result"]));
    }
    if (state == "failed") {
      throw Error(ErrorCode::kInvalidArgument, body.value("error", "the experiment failed"));
    }
    if (state == "cancelled") return harness_error(request, "the server cancelled the experiment");
    return std::nullopt;
  }

  static void sleep(double seconds, const std::stop_token& stop) {
    process::Deadline deadline(seconds);
    while (!deadline.passed() && !stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Connection connection_;
  const std::string device_;
  const vulkan::DeviceSnapshot snapshot_;
};

}  // namespace

std::vector<vulkan::DeviceSnapshot> devices_of(const RemoteServer& server) {
  Answer answer = Connection(server).get("/v1/devices");
  if (answer.status == 200) {
    for (json& device : answer.body["devices"]) {
      for (const char* name : {"device_uuid", "driver_uuid"}) {
        std::string digits = device.value(name, "");
        std::erase(digits, '-');
        device[name] = bytes_of_hex(digits).value_or(std::vector<uint8_t>());
      }
    }
    return judge::snapshots_from_json(json_text(answer.body));
  }
  throw Error(answer.passing() ? ErrorCode::kIo : ErrorCode::kInvalidArgument,
              answer.status == 0 ? answer.error() : server.url + " says " + answer.error());
}

std::unique_ptr<queue::QueueJudge> remote_judge(const RemoteServer& server,
                                                const std::string& device,
                                                const vulkan::DeviceSnapshot& snapshot) {
  return std::make_unique<RemoteJudge>(server, device, snapshot);
}

}  // namespace kbench::http
