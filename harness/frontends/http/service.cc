#include "harness/frontends/http/service.h"

#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "harness/evaluate/evaluators/serve_request.h"
#include "harness/frontends/http/http_server.h"
#include "harness/frontends/http/request.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/deadline.h"
#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/version.h"
#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/start_thread.h"
#include "libkbench/question/question_json.h"

namespace kbench::http {
namespace {

using httplib::ContentReader;
using httplib::Request;
using httplib::Response;
using nlohmann::json;

constexpr double kLookSeconds = 1;  ///< how often a stream looks whether its client is there
constexpr double kEndSeconds = 3;   ///< for answers to be sent in the end

/// As the protocol of judges has them, but with UUIDs as results have them.
std::string devices_json(const std::vector<vulkan::DeviceSnapshot>& devices) {
  json document = json::parse(judge::to_json(devices));
  for (size_t i = 0; i < devices.size(); ++i) {
    document["devices"][i]["device_uuid"] = vulkan::to_string(devices[i].device_uuid);
    document["devices"][i]["driver_uuid"] = vulkan::to_string(devices[i].driver_uuid);
  }
  return json_text(document);
}

std::string tasks_json() {
  json list = json::array();
  for (const Task& task : tasks()) {
    list.push_back({{"task", to_string(task.id)},
                    {"level", task.id.level},
                    {"number", task.id.number},
                    {"name", task.name},
                    {"family", task.family}});
  }
  return json_text(json{{"tasks", list}});
}

}  // namespace

class Service::State {
 public:
  State(Pool& pool, const std::vector<vulkan::DeviceSnapshot>& devices, ServiceOptions options)
      : pool_(pool),
        devices_(devices),
        options_(std::move(options)),
        experiments_(pool, options_.experiments, metrics_),
        server_(options_.most_connections) {
    const Address& address = options_.address;
    if (options_.tokens.empty() && !address.loopback()) {
      throw Error(ErrorCode::kInvalidArgument,
                  address.host +
                      " can be reached from other machines, so that clients have to "
                      "have a token: --tokens FILE, or KBENCH_SERVE_TOKEN");
    }
    // httplib's own would let another process listen at the same port.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    add_routes();
    port_ = address.port;
    errno = 0;
    const bool bound = port_ == 0 ? (port_ = server_.bind_to_any_port(address.host)) > 0
                                  : server_.bind_to_port(address.host, port_);
    if (!bound) throw_io("listen at", address.host + ":" + std::to_string(address.port));
  }

  std::string url() const {
    const std::string& host = options_.address.host;
    const bool v6 = host.find(':') != host.npos;
    return "http://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port_);
  }

  void run(const std::stop_token& stop, const std::stop_token& at_once) {
    std::atomic<bool> listening = true;
    std::jthread listener = start_thread<std::jthread>([&] {
      server_.listen_after_bind();
      listening = false;
    });
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    while (!server_.is_running() && listening) pause();  // Before, it cannot be ended.
    while (!stop.stop_requested() && listening) pause();
    draining_ = true;
    while (!at_once.stop_requested() && listening && !experiments_.wait_all(0.02)) {
    }
    if (at_once.stop_requested() || !listening) {
      experiments_.cancel_all();
      experiments_.wait_all(options_.collect_seconds);  // Who waits is answered so.
    }
    process::Deadline deadline(options_.collect_seconds);
    while (!at_once.stop_requested() && !deadline.passed() && listening &&
           (experiments_.untold() > 0 || streams_ > 0)) {
      pause();
    }
    process::Deadline last(kEndSeconds);
    while (at_once.stop_requested() && !last.passed() && server_.connections() > 0) pause();
    experiments_.release_waiters();
    server_.end(kEndSeconds);
  }

 private:
  /// Who asks; without one, the answer is set.
  std::optional<std::string> author_of(const Request& request, Response& response) const {
    if (options_.tokens.empty()) {
      // A page in a browser may have its own name lead to this machine.
      if (names_loopback(request)) return "";
      say_error(response, 403, "the Host header names another machine");
      return std::nullopt;
    }
    const auto author = options_.tokens.author_of(request.get_header_value("Authorization"));
    if (!author) {
      response.set_header("WWW-Authenticate", "Bearer");
      say_error(response, 401, "a token is needed: 'Authorization: Bearer TOKEN'");
    }
    return author;
  }

  using Handler = std::function<void(const Request&, Response&, const std::string& author)>;
  httplib::Server::Handler with_author(Handler handler) const {
    return [this, handler = std::move(handler)](const Request& request, Response& response) {
      if (const auto author = author_of(request, response)) handler(request, response, *author);
    };
  }

  void add_routes() {
    server_.Get("/healthz", [this](const Request&, Response& response) { say_health(response); });
    server_.Get("/openapi.json", [text = openapi_json()](const Request&, Response& response) {
      say(response, 200, text);
    });
    server_.Get("/metrics",
                with_author([this](const Request&, Response& response, const std::string&) {
                  response.set_content(metrics_.text(gauges()), "text/plain; version=0.0.4");
                }));
    server_.Get("/v1/tasks", with_author([text = tasks_json()](const Request&, Response& response,
                                                               const std::string&) {
                  say(response, 200, text);
                }));
    server_.Get("/v1/devices", with_author([text = devices_json(devices_)](
                                               const Request&, Response& response,
                                               const std::string&) { say(response, 200, text); }));
    server_.Get(
        R"(/v1/experiments/([0-9a-f]{32}))",
        with_author([this](const Request& request, Response& response, const std::string& author) {
          if (const auto handle = named_experiment(request, response, author)) {
            say(response, 200, experiments_.wait(handle, wait_of(request)).json);
          }
        }));
    server_.Delete(R"(/v1/experiments/([0-9a-f]{32}))",
                   [this](const Request& request, Response& response, const ContentReader&) {
                     const auto author = author_of(request, response);
                     if (!author) return;
                     if (const auto handle = named_experiment(request, response, *author)) {
                       experiments_.cancel(handle);
                       say(response, 200, experiments_.view(handle).json);
                     }
                   });
    const auto post = [this](const char* path, const char* type, auto evaluate) {
      server_.Post(path, [this, type, evaluate](const Request& request, Response& response,
                                                const ContentReader& reader) {
        const auto author = author_of(request, response);
        if (!author || !takes(request, type, response)) return discard_body(reader);
        if (const auto body =
                body_of(reader, options_.most_body_bytes, options_.body_seconds, response)) {
          (this->*evaluate)(request, *body, *author, response);
        }
      });
    };
    post("/v1/evaluate", kJson, &State::evaluate);
    post("/v1/evaluate/batch", kJsonLines, &State::evaluate_batch);
    // For all other paths: httplib would read and keep the whole body before it answers 404.
    const auto unknown = [](const Request& request, Response& response, const ContentReader&) {
      say_error(response, 404, "there is no " + request.method + " " + request.path);
    };
    server_.Post(".*", unknown);
    server_.Put(".*", unknown);
    server_.Patch(".*", unknown);
    server_.Delete(".*", unknown);
    server_.set_error_handler([](const Request& request, Response& response) {
      if (!response.body.empty()) return;
      say_error(response, response.status,
                response.status == 404 ? "there is no " + request.method + " " + request.path
                                       : "the request cannot be read");
    });
    server_.set_exception_handler([](const Request&, Response& response, std::exception_ptr e) {
      std::string why = "an error of its own";
      try {
        std::rethrow_exception(e);
      } catch (const std::exception& error) {
        why = error.what();
      } catch (...) {
      }
      say_error(response, 500, why);
    });
    // Responses are counted before they are sent, so that a client that has its response and then
    // asks for /metrics finds it there.
    server_.set_post_routing_handler([this](const Request&, const Response& response) {
      metrics_.add_response(response.status);
    });
  }

  void say_health(Response& response) const {
    const size_t devices = pool_.members_left();
    const bool well = !draining_ && devices > 0;
    say(response, well ? 200 : 503,
        json_text(json{{"status", draining_      ? "draining"
                                  : devices == 0 ? "no device is left"
                                                 : "ok"},
                       {"devices", devices}}));
  }

  Gauges gauges() {
    const Pool::Load load = pool_.load();
    return {load.waiting, load.jobs - load.waiting, experiments_.kept(), pool_.members_left(),
            pool_.restarts()};
  }

  Experiments::Handle named_experiment(const Request& request, Response& response,
                                       const std::string& author) {
    const std::string id = request.matches[1];
    auto handle = experiments_.find(author, id);
    if (handle == nullptr) say_error(response, 404, "there is no experiment " + id + " (any more)");
    return handle;
  }

  /// Whether experiments are taken, and this request's kind of body is the right one.
  bool takes(const Request& request, const char* type, Response& response) const {
    if (draining_) {
      response.set_header("Retry-After", "5");
      say_error(response, 503, "the service is stopping");
      return false;
    }
    if (media_type_of(request) == type) return true;
    say_error(response, 415, std::string("the body has to be ") + type);
    return false;
  }

  /// Throws evaluators::BadLine.
  NewExperiment read(std::string_view text, const std::string& author) const {
    NewExperiment wanted{evaluators::parse_serve_line(text, options_.defaults, options_.most,
                                                      devices_, evaluators::Sender::network),
                         std::string(text), ""};
    if (wanted.line.stages) {
      throw evaluators::BadLine{wanted.line.id,
                                Error(ErrorCode::kInvalidArgument,
                                      "'stages' are not sent over HTTP; ask for the experiment")};
    }
    if (!author.empty()) {  // It has no '/', so that this is no other's.
      std::string& name = wanted.line.job.question.candidate.author;
      name = name.empty() ? author : author + "/" + name;
    }
    return wanted;
  }

  void say_busy(Response& response) {
    response.set_header("Retry-After", std::to_string(experiments_.retry_after()));
    say_error(response, 429, "there are too many experiments already; try again later");
  }

  void evaluate(const Request& request, const std::string& body, const std::string& author,
                Response& response) {
    const auto key = key_of(request, response);
    if (!key) return;
    std::vector<NewExperiment> wanted;
    std::vector<Experiments::Added> added;
    try {
      wanted.push_back(read(body, author));
    } catch (const evaluators::BadLine& bad) {
      return say_error(response, 400, bad.error.what());
    }
    wanted.front().key = *key;
    if (!experiments_.add(author, std::move(wanted), added)) return say_busy(response);
    if (!added.front().error.empty()) return say_error(response, 422, added.front().error);
    const Preference preference = preference_of(request);
    const ExperimentView view =
        experiments_.wait(added.front().handle, preference.async ? 0 : preference.wait);
    response.set_header("Location", "/v1/experiments/" + experiments_.id_of(added.front().handle));
    say(response,
        !view.ended()                           ? 202
        : view.state == ExperimentState::failed ? 422
                                                : 200,
        view.json);
  }

  /// The lines of a batch that are to be answered, some of them at once.
  struct Batch {
    std::string ready;  ///< lines to send
    std::vector<Experiments::Handle> waiting;
    bool keyed = false;
  };

  void evaluate_batch(const Request& request, const std::string& body, const std::string& author,
                      Response& response) {
    const auto key = key_of(request, response);
    if (!key) return;
    auto batch = std::make_shared<Batch>();
    batch->keyed = !key->empty();
    const auto bad_line = [&](int line, const std::string& id, const std::string& why) {
      json answer = {{"line", line}, {"error", shown(why, 2000)}};
      if (!id.empty()) answer["id"] = json::parse(id);
      batch->ready += json_text(answer) + "\n";
    };
    std::vector<NewExperiment> wanted;
    std::vector<int> numbers;
    int number = 0;
    for (const std::string_view line : lines_of(body)) {
      ++number;
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      try {
        wanted.push_back(read(line, author));
        if (batch->keyed) wanted.back().key = *key + " " + std::to_string(number);
        numbers.push_back(number);
      } catch (const evaluators::BadLine& bad) {
        bad_line(number, bad.id, bad.error.what());
      }
    }
    if (wanted.size() > options_.experiments.most_experiments) {
      return say_error(response, 413,
                       "a batch has at most " +
                           std::to_string(options_.experiments.most_experiments) + " experiments");
    }
    std::vector<Experiments::Added> added;
    if (!experiments_.add(author, std::move(wanted), added)) return say_busy(response);
    for (size_t i = 0; i < added.size(); ++i) {
      if (added[i].handle == nullptr) {
        bad_line(numbers[i], "", added[i].error);
      } else {
        batch->waiting.push_back(added[i].handle);
      }
    }
    ++streams_;
    response.set_chunked_content_provider(
        kJsonLines,
        [this, batch](size_t, httplib::DataSink& sink) { return send_some(*batch, sink); },
        [this, batch](bool) {
          // Nobody can ask for the rest, unless by the key.
          if (!batch->keyed) {
            for (const auto& each : batch->waiting) experiments_.cancel(each);
          }
          --streams_;
        });
  }

  /// Sends what there is of a batch, or waits a moment. False if the client has gone.
  bool send_some(Batch& batch, httplib::DataSink& sink) {
    if (batch.ready.empty() && !batch.waiting.empty()) {
      for (const ExperimentView& view : experiments_.wait_any(batch.waiting, kLookSeconds)) {
        batch.ready += view.json + "\n";
      }
      if (batch.ready.empty()) {
        if (!HttpServer::client_sends_no_more()) return sink.is_writable();
        batch.ready = "\n";  // Whether the client is there shows in sending something.
      }
    }
    const std::string text = std::exchange(batch.ready, "");
    if (!text.empty() && !sink.write(text.data(), text.size())) return false;
    if (batch.waiting.empty()) sink.done();
    return true;
  }

  Pool& pool_;
  const std::vector<vulkan::DeviceSnapshot>& devices_;
  const ServiceOptions options_;
  Metrics metrics_;
  Experiments experiments_;
  std::atomic<bool> draining_ = false;
  std::atomic<int> streams_ = 0;
  int port_ = 0;
  HttpServer server_;
};

Service::Service(Pool& pool, const std::vector<vulkan::DeviceSnapshot>& devices,
                 ServiceOptions options)
    : state_(std::make_unique<State>(pool, devices, std::move(options))) {}

Service::~Service() = default;

std::string Service::url() const { return state_->url(); }

void Service::run(const std::stop_token& stop, const std::stop_token& at_once) {
  state_->run(stop, at_once);
}

std::string openapi_json() {
  auto document = nlohmann::ordered_json::parse(openapi_text());
  document["info"]["version"] = version();
  document["components"]["schemas"]["Request"]["properties"].update(question_schema());
  document["components"]["schemas"]["Result"] = nlohmann::ordered_json::parse(result_json_schema());
  return document.dump(2);
}

}  // namespace kbench::http
