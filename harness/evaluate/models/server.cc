#include "harness/evaluate/models/server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "kbench/error.h"
#include "kbench/openai_model.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"

namespace kbench::models {
namespace {

using Kind = ModelEvent::Kind;
using Reach = ModelError::Reach;

constexpr double kLongWait = 10;
constexpr int kLikeAnswers = 5;
/// Shorter keys are removed from messages but not from answers: see Secret.
constexpr size_t kLeastKeyInMessage = 4, kLeastKeyInAnswer = 16;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double uniform() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

void sleep_for(double seconds, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  const auto whole = std::chrono::nanoseconds(static_cast<int64_t>(std::min(seconds, 1e9) * 1e9));
  never.wait_for(lock, stop, whole, [] { return false; });
}

ModelHooks with_defaults(ModelHooks hooks) {
  if (!hooks.clock) hooks.clock = steady_seconds;
  if (!hooks.unix_time) hooks.unix_time = [] { return static_cast<int64_t>(std::time(nullptr)); };
  if (!hooks.uniform) hooks.uniform = uniform;
  if (!hooks.sleep) hooks.sleep = sleep_for;
  return hooks;
}

void check(const ModelConfig& config) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::kInvalidArgument, "a model's settings: " + what);
  };
  if (config.name.empty()) refuse("there is no name");
  if (config.model.empty()) refuse("there is no model");
  if (config.connections < 1) refuse("connections must be at least 1");
  if (config.tries < 1) refuse("tries must be at least 1");
  for (const double limit : {config.connect_timeout, config.first_timeout, config.silence_timeout,
                             config.total_timeout}) {
    if (!(limit > 0)) refuse("a time limit must be above 0");
  }
  if (!config.extra.empty() &&
      !nlohmann::json::parse(config.extra, nullptr, /*allow_exceptions=*/false).is_object()) {
    refuse("extra must be a JSON object");
  }
}

}  // namespace

Server::Server(ModelConfig config, ModelHooks hooks)
    : config_(std::move(config)),
      hooks_(with_defaults(std::move(hooks))),
      limit_(config_.connections),
      dialect_(first_dialect(config_)) {
  check(config_);
  url_ = parse_url(config_.url);
  if (config_.key_env.empty()) return;
  key_.emplace(config_.key_env);
  if (!url_.secure && !url_.loopback) {
    tell(Kind::insecure, "", "the key goes over plain http to another host, " + shown(url_.text));
  }
}

Answer Server::ask(const Ask& ask, const std::stop_token& stop) {
  const double began = hooks_.clock();
  const uint64_t successes = successes_;
  std::string last;  // the server's last message, and how often it came in a row
  int like = 0, failures = 0;
  for (int tries = 1;; ++tries) {
    check_not_lost();
    const Dialect dialect = current_dialect();
    const ChatRequest request = make_request(config_, dialect, ask);
    Try one = attempt(request, stop);
    const auto with_circumstances = [&](Answer answer) {
      answer.seconds = one.seconds;
      answer.tries = tries;
      answer.sent = request.sent;
      return answer;
    };
    if (one.stopped) throw ModelError(Reach::request, about("the request was cancelled"));
    if (one.reply != nullptr) {
      ++successes_;
      return with_circumstances(answer_of(*one.reply));
    }
    switch (one.failure.remedy) {
      case Remedy::too_long:
        return with_circumstances({.finish = "context_length"});
      case Remedy::filtered:
        return with_circumstances({.finish = "content_filter"});
      case Remedy::parameter:
        if (learnt(dialect, one, ask)) continue;
        give_up(ask, one);
      case Remedy::request:
        give_up(ask, one);
      case Remedy::model:
        lose(one);
      case Remedy::retry:
        break;
    }
    like = one.message == last ? like + 1 : 1;
    last = one.message;
    if (++failures >= config_.tries) give_up(ask, one, failures);
    if (like >= kLikeAnswers && successes_ > successes) {
      one.message += " (" + std::to_string(like) + " times, while other requests succeed)";
      give_up(ask, one);
    }
    const double wait = std::max(one.wait.value_or(0), backoff(failures + 1, hooks_.uniform()));
    if (hooks_.clock() + wait - began > config_.retry_seconds) {
      one.message += "; the next try would be later than " +
                     std::to_string(std::lround(config_.retry_seconds)) + " s after the first";
      give_up(ask, one);
    }
    tell(wait > kLongWait ? Kind::wait : Kind::retry, ask.purpose, one.message, wait, one.status);
    hooks_.sleep(wait, stop);
  }
}

Answer Server::answer_of(Reply& reply) const {
  Choice& from = *reply.choice;
  Answer answer;
  answer.text = clean(std::move(from.text));
  answer.reasoning = clean(std::move(from.reasoning));
  answer.finish = clean(std::move(from.finish));
  if (!from.refusal.empty()) {
    if (answer.text.empty()) answer.text = clean(std::move(from.refusal));
    answer.finish = "refusal";
  }
  answer.served_by = clean(reply.served_by);
  answer.fingerprint = clean(reply.fingerprint);
  answer.usage = reply.usage;
  return answer;
}

std::vector<std::string> Server::served(const std::stop_token& stop) {
  HttpRequest request = http("/models");
  std::string body;
  const HttpEnd end = run(request, stop, [&](int, std::string_view bytes) {
    body += bytes;
    return body.size() <= kReplyBytes;
  });
  if (end.how != HttpEnd::How::whole) throw ModelError(Reach::request, about(message(end.message)));
  if (end.status != 200) {
    throw ModelError(Reach::request, about(said(read_error(end.status, body))));
  }
  const auto json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> names;
  if (json.is_object() && json.contains("data") && json["data"].is_array()) {
    for (const auto& item : json["data"]) {
      if (item.is_object() && item.contains("id") && item["id"].is_string()) {
        names.push_back(item["id"].get<std::string>());
      }
    }
    return names;
  }
  throw ModelError(Reach::request, about("the list of models is not one"));
}

std::string Server::about(const std::string& what) const {
  return "model '" + config_.name + "' at " + shown(url_.text) + ": " + what;
}
std::string Server::message(const std::string& text) const {
  const std::string without = key_ ? key_->removed_from(text, kLeastKeyInMessage) : text;
  return shown(without, 400);
}
std::string Server::clean(std::string text) const {
  return key_ ? key_->removed_from(std::move(text), kLeastKeyInAnswer) : text;
}
std::string Server::said(const ServerError& error) const {
  std::string what = std::to_string(error.status);
  if (!error.message.empty()) what += ": " + message(error.message);
  return what;
}

void Server::tell(ModelEvent::Kind kind, const std::string& purpose, const std::string& text,
                  double seconds, int status) {
  if (!hooks_.event) return;
  const std::lock_guard lock(event_mutex_);
  hooks_.event({kind, config_.name, purpose, text, seconds, status});
}

void Server::check_not_lost() {
  const std::lock_guard lock(mutex_);
  if (lost_) throw ModelError(Reach::model, *lost_);
}
Dialect Server::current_dialect() {
  const std::lock_guard lock(mutex_);
  return dialect_;
}

void Server::give_up(const Ask& ask, const Try& one, int tries) {
  std::string what = one.message;
  if (tries > 1) what += " (after " + std::to_string(tries) + " tries)";
  tell(Kind::given_up, ask.purpose, what, 0, one.status);
  throw ModelError(Reach::request, about(what));
}
void Server::lose(const Try& one) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_) throw ModelError(Reach::model, *lost_);
    lost_ = about(one.message);
  }
  tell(Kind::model_lost, "", one.message, 0, one.status);
  throw ModelError(Reach::model, about(one.message));
}

bool Server::learnt(const Dialect& used, const Try& one, const Ask& ask) {
  const std::string& parameter = one.failure.parameter;
  std::string now;
  {
    const std::lock_guard lock(mutex_);
    if (dialect_ != used) return true;  // another request has changed it meanwhile
    if (!learn(dialect_, parameter)) return false;
    now = dialect_.takes(parameter) ? "is sent as " + dialect_.token_field : "is left out";
  }
  tell(Kind::parameter, ask.purpose, parameter + " " + now + " from now on: " + one.message, 0,
       one.status);
  return true;
}

HttpRequest Server::http(const std::string& path) const {
  HttpRequest request;
  request.url = with_path(url_, path);
  request.key = key_ ? &*key_ : nullptr;
  request.ca_file = config_.ca_file;
  request.connect_timeout = config_.connect_timeout;
  request.total_timeout = config_.total_timeout;
  return request;
}

HttpEnd Server::run(const HttpRequest& request, const std::stop_token& stop,
                    const Transfer::Sink& sink) {
  std::unique_ptr<Transfer> transfer;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      transfer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!transfer) transfer = std::make_unique<Transfer>();
  HttpEnd end = transfer->run(request, stop, sink);
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(transfer));
  return end;
}

Server::Try Server::attempt(const ChatRequest& request, const std::stop_token& stop) {
  Try one;
  if (stop.stop_requested() || !limit_.take(stop)) {
    one.stopped = true;
    return one;
  }
  const uint64_t round = limit_.round();
  auto ended = ConnectionLimit::Ended::otherwise;
  const auto give_back = [&] {
    if (const int now = limit_.give_back(ended, round)) {
      tell(Kind::connections, "", "at most " + std::to_string(now) + " requests at once");
    }
  };
  try {
    one = sent(request, stop);
  } catch (...) {
    give_back();
    throw;
  }
  if (one.reply != nullptr) ended = ConnectionLimit::Ended::well;
  if (one.failure.limited) ended = ConnectionLimit::Ended::limited;
  give_back();
  return one;
}

Server::Try Server::sent(const ChatRequest& request, const std::stop_token& stop) {
  HttpRequest post = http(request.path);
  post.body = request.body;
  if (config_.stream) {  // otherwise the body arrives at once
    post.first_timeout = config_.first_timeout;
    post.silence_timeout = config_.silence_timeout;
  }
  std::unique_ptr<Reply> reply;
  const double began = hooks_.clock();
  const HttpEnd end = run(post, stop, [&](int status, std::string_view bytes) {
    if (!reply) reply = std::make_unique<Reply>(status);
    return reply->feed(bytes);
  });
  if (!reply) reply = std::make_unique<Reply>(end.status);
  Try one;
  one.status = end.status;
  one.seconds = hooks_.clock() - began;
  one.wait = requested_wait(end.headers, hooks_.unix_time());
  one.stopped = end.how == HttpEnd::How::stopped;
  if (one.stopped) return one;
  if (end.how == HttpEnd::How::refused) {
    one.failure.remedy = Remedy::model;
    one.message = message(end.message);
    return one;
  }
  const bool cut = end.how == HttpEnd::How::broken;
  if (cut && end.status == 0) {
    one.message = message(end.message);
    return one;
  }
  reply->finish(cut);
  judge(std::move(reply), request, end, one);
  return one;
}

void Server::judge(std::unique_ptr<Reply> reply, const ChatRequest& request, const HttpEnd& end,
                   Try& one) const {
  if (reply->error) {
    one.failure = understood(*reply->error, request.optional);
    one.status = reply->error->status;
    one.message = said(*reply->error);
    const auto location = end.headers.find("location");
    if (one.status >= 300 && one.status < 400 && location != end.headers.end()) {
      one.message = std::to_string(one.status) + ": redirected to " + message(location->second) +
                    ", which is not followed; give that address";
    }
  } else if (!reply->broken.empty()) {
    one.message = message(reply->broken);
    if (end.how == HttpEnd::How::broken) one.message += ": " + message(end.message);
    if (reply->too_large) one.failure.remedy = Remedy::request;
  } else {
    one.reply = std::move(reply);
  }
}

bool ConnectionLimit::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (!freed_.wait(lock, stop, [&] { return taken_ < limit_; })) return false;
  ++taken_;
  return true;
}

int ConnectionLimit::give_back(Ended ended, uint64_t round) {
  const std::lock_guard lock(mutex_);
  --taken_;
  const int before = limit_;
  if (ended == Ended::limited) {
    well_ = 0;
    if (round == round_) {
      limit_ = std::max(1, limit_ / 2);
      ++round_;
    }
  } else if (ended == Ended::well && ++well_ >= limit_) {
    well_ = 0;
    limit_ = std::min(most_, limit_ + 1);
  }
  freed_.notify_all();
  return limit_ == before ? 0 : limit_;
}

uint64_t ConnectionLimit::round() const {
  const std::lock_guard lock(mutex_);
  return round_;
}

int ConnectionLimit::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

}  // namespace kbench::models

namespace kbench {

std::string_view name_of(ModelEvent::Kind kind) {
  return name_in<ModelEvent::Kind::model_lost>(
      {"retry", "wait", "parameter", "connections", "insecure", "given_up", "model_lost"}, kind);
}

std::string to_json(const ModelEvent& event) {
  nlohmann::ordered_json json = {{"event", std::string(name_of(event.kind))},
                                 {"model", event.model}};
  if (!event.purpose.empty()) json["purpose"] = event.purpose;
  json["text"] = event.text;
  if (event.seconds > 0) json["seconds"] = event.seconds;
  if (event.status > 0) json["status"] = event.status;
  return json_text(json);
}

class OpenAiModel::State : public models::Server {
 public:
  using Server::Server;
};

OpenAiModel::OpenAiModel(ModelConfig config, ModelHooks hooks)
    : state_(std::make_unique<State>(std::move(config), std::move(hooks))) {}
OpenAiModel::~OpenAiModel() = default;

std::string OpenAiModel::name() const { return state_->config().name; }
const ModelConfig& OpenAiModel::config() const { return state_->config(); }
int OpenAiModel::connections() const { return state_->connections(); }

Answer OpenAiModel::ask(const Ask& ask, std::stop_token stop) { return state_->ask(ask, stop); }

std::vector<std::string> OpenAiModel::served(std::stop_token stop) { return state_->served(stop); }

}  // namespace kbench
