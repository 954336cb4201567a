// Prompts for language models, and candidates in their answers.
#include <optional>

#include "harness/evaluate/client/device_json.h"
#include "harness/frontends/capi/answer.h"
#include "kbench/candidate.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/extract.h"
#include "kbench/feedback.h"
#include "kbench/prompts.h"
#include "kbench/result.h"
#include "libkbench/candidate/source_json.h"

namespace kbench::capi {

const std::vector<std::string_view> kPromptMembers = {
    "task",      "preset", "overrides", "dtype",    "set",      "shots",
    "precision", "code",   "reference", "builtins", "language", "device"};

PromptContext context_of(const CallRequest& request) {
  PromptContext context;
  context.preset = preset_of(request);
  context.overrides = overrides_of(request);
  context.dtype = dtype_of(request);
  if (request.has("shots")) context.shots = request["shots"].small_integer();
  if (request.has("precision")) context.precision = request["precision"].boolean();
  if (request.has("code")) context.code = request["code"].boolean();
  if (request.has("reference")) context.reference = request["reference"].boolean();
  if (request.has("builtins")) context.builtins = request["builtins"].as(builtins_from_name);
  if (request.has("language")) {
    context.language = request["language"].as(prompt_language_from_name);
  }
  if (request.has("device")) context.device = client::device_from_json(request["device"]);
  return context;
}

Prompts prompts_of(const CallRequest& request) {
  return Prompts::shipped(request.has("set") ? request["set"].text() : "default");
}

namespace {

ShownAttempt attempt_from(const JsonField& field) {
  expect_only(field, {"files", "answer", "feedback", "outcome"});
  ShownAttempt attempt;
  if (field.has("files")) {
    for (const auto& [path, text] : field["files"].members()) attempt.files[path] = text.text();
  }
  if (field.has("answer")) attempt.answer = field["answer"].text();
  if (field.has("feedback")) attempt.feedback = field["feedback"].text();
  if (field.has("outcome")) attempt.outcome = field["outcome"].text();
  return attempt;
}

}  // namespace
}  // namespace kbench::capi

using namespace kbench;
using capi::answer;
using capi::json;

extern "C" {

kbench_status kbench_prompt(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text);
    std::vector<std::string_view> members = capi::kPromptMembers;
    members.push_back("attempts");
    expect_only(request.field(), members);
    const Prompts prompts = capi::prompts_of(request);
    const Task& task = capi::task_of(request);
    const PromptContext context = capi::context_of(request);
    std::vector<ShownAttempt> attempts;
    if (request.has("attempts")) {
      for (const JsonField& item : request["attempts"].items()) {
        attempts.push_back(capi::attempt_from(item));
      }
    }
    const std::vector<Message> messages =
        attempts.empty() ? prompts.first(task, context) : prompts.repair(task, context, attempts);
    return json{{"messages", json::parse(messages_json(messages))},
                {"hash", prompt_hash(messages)}};
  });
}

kbench_status kbench_extract(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {"text", "finish", "task"});
    Answer given;
    given.text = request["text"].text();
    given.finish = request.has("finish") ? request["finish"].text() : "stop";
    const Extraction found = extract(given, capi::task_of(request).id);
    return json{{"outcome", name_of(found.outcome)},
                {"files", found.files},
                {"leniencies", found.leniencies},
                {"explanation", found.explanation}};
  });
}

kbench_status kbench_feedback(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {"result", "candidate", "max_characters"});
    const Result result = result_from_json(request["result"].json().dump());
    std::optional<Candidate> candidate;
    if (request.has("candidate")) {
      const CandidateSource source = source_from_json(request["candidate"].json());
      expect_readable(source);
      candidate = candidate_if_readable(source);
    }
    FeedbackOptions options;
    if (request.has("max_characters")) {
      const int most = request["max_characters"].small_integer();
      if (most < 1) request["max_characters"].fail("must be positive");
      options.max_characters = static_cast<size_t>(most);
    }
    const Feedback said = feedback(result, candidate ? &*candidate : nullptr, {}, options);
    return json{{"text", said.text}, {"hash", said.hash}};
  });
}

}  // extern "C"
