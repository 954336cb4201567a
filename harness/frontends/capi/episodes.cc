// Episodes whose caller does the judging: a step says what has to be judged until it has all
// results.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/frontends/capi/answer.h"
#include "kbench/attempt.h"
#include "kbench/episode.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/result.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/json_fields.h"

namespace {

kbench::EpisodeOptions options_of(const kbench::capi::CallRequest& request) {
  kbench::EpisodeOptions options;
  options.prompt = kbench::capi::context_of(request);
  options.reward = {};  // the caller's own
  if (request.has("attempts")) options.attempts = request["attempts"].small_integer();
  if (request.has("goal")) options.goal = request["goal"].as(kbench::goal_from_name);
  if (request.has("shown")) options.shown = request["shown"].as(kbench::shown_from_name);
  if (request.has("smoke")) options.smoke = request["smoke"].as(kbench::smoke_from_name);
  const auto read = [&](const char* name, size_t& characters) {
    if (!request.has(name)) return;
    const int most = request[name].small_integer();
    if (most < 1) request[name].fail("must be positive");
    characters = static_cast<size_t>(most);
  };
  read("max_characters", options.feedback.max_characters);
  read("history_characters", options.history_characters);
  return options;
}

}  // namespace

struct kbench_episode {
  explicit kbench_episode(const kbench::capi::CallRequest& request)
      : task(kbench::capi::task_of(request)),
        episode(task, kbench::capi::prompts_of(request), options_of(request)) {}
  std::mutex mutex;  ///< an Episode is one thread's
  const kbench::Task& task;
  kbench::Episode episode;
};

namespace kbench::capi {
namespace {

/// Thrown out of a step that lacks a result; nothing has happened to the episode then.
struct Wanted {
  json request;
};

json observation_of(const Episode& episode) {
  return {{"messages", json::parse(messages_json(episode.observation()))},
          {"hash", episode.prompt_hash()},
          {"next_attempt", episode.next_attempt()},
          {"done", episode.done()},
          {"ending", episode.ending() ? json(name_of(*episode.ending())) : json(nullptr)}};
}

void expect_result_of(const TaskAt& at, const Result& result) {
  const auto differs = [&](const auto& one) {
    const auto found = result.variables.find(one.first);
    return found != result.variables.end() && !(found->second == one.second);
  };
  if (result.task == at.task && result.preset == at.preset && result.dtype == at.dtype &&
      std::ranges::none_of(at.variables, differs)) {
    return;
  }
  const auto words = [](const TaskAt& of) { return json_text(json_of<json>(of)); };
  throw Error(ErrorCode::kInvalidArgument, "the result is of " +
                                               words(static_cast<const TaskAt&>(result)) +
                                               ", to be judged was " + words(at));
}

/// The caller, who judges: has the results that were handed in, in the order of the questions.
class Caller : public Evaluator {
 public:
  Caller(const Task& task, std::vector<Result> results)
      : task_(task), results_(std::move(results)) {}

  using Evaluator::evaluate;
  Result evaluate(const Question& question, const Observer&, std::stop_token) override {
    const TaskAt at{task_.id, question.preset, question.overrides, question.dtype};
    if (taken_ < results_.size()) {
      expect_result_of(at, results_[taken_]);
      return results_[taken_++];
    }
    json value = json_of<json>(at);
    value["task"] = to_string(at.task);
    value["files"] = *question.candidate.files;
    value["quick"] = question.plan.looks();
    throw Wanted{std::move(value)};
  }
  std::vector<DeviceSummary> devices() override { return {}; }

 private:
  const Task& task_;
  std::vector<Result> results_;
  size_t taken_ = 0;
};

json value_of(const EpisodeStep& step) {
  const auto result = [](const std::optional<Result>& one) {
    return one ? json::parse(to_json(*one)) : json(nullptr);
  };
  return {{"attempt", json::parse(to_json(step.attempt))},
          {"files", step.files},
          {"result", result(step.result)},
          {"reduced", result(step.reduced)},
          {"feedback", step.feedback.text},
          {"counted", step.counted}};
}

}  // namespace
}  // namespace kbench::capi

using namespace kbench;
using capi::answer;
using capi::json;

extern "C" {

kbench_status kbench_episode_new(const char* text, kbench_episode** episode, char** out) {
  if (episode != nullptr) *episode = nullptr;
  return answer(out, [&] {
    if (episode == nullptr) throw Error(ErrorCode::kInvalidArgument, "episode is NULL");
    const capi::CallRequest request(text);
    std::vector<std::string_view> members = capi::kPromptMembers;
    members.insert(members.end(),
                   {"attempts", "goal", "shown", "smoke", "max_characters", "history_characters"});
    expect_only(request.field(), members);
    auto made = std::make_unique<kbench_episode>(request);
    json observation = capi::observation_of(made->episode);
    *episode = made.release();
    return observation;
  });
}

kbench_status kbench_episode_step(kbench_episode* episode, const char* text, char** out) {
  return answer(out, [&] {
    if (episode == nullptr) throw Error(ErrorCode::kInvalidArgument, "episode is NULL");
    const capi::CallRequest request(text, {"text", "finish", "results"});
    Answer given;
    given.text = request["text"].text();
    given.finish = request.has("finish") ? request["finish"].text() : "stop";
    std::vector<Result> results;
    if (request.has("results")) {
      for (const JsonField& item : request["results"].items()) {
        results.push_back(result_from_json(item.json().dump()));
      }
    }
    capi::Caller judge(episode->task, std::move(results));
    const std::lock_guard lock(episode->mutex);
    try {
      const EpisodeStep step = episode->episode.step(given, episode->episode.read(given), &judge);
      json value = capi::observation_of(episode->episode);
      value["step"] = capi::value_of(step);
      return value;
    } catch (const capi::Wanted& wanted) {
      return json{{"judge", wanted.request}};
    }
  });
}

void kbench_episode_free(kbench_episode* episode) { delete episode; }

}  // extern "C"
