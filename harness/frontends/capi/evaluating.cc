// Evaluations, cancellation, and devices.
#include <new>
#include <stop_token>
#include <utility>

#include "harness/evaluate/client/device_json.h"
#include "harness/frontends/capi/answer.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/task_file.h"
#include "libkbench/base/json_text.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/question/question_json.h"

struct kbench_stop {
  std::stop_source source;
};

struct kbench_evaluator {
  kbench::JudgeProcess judge;
  kbench::Question asked;  ///< of each candidate
  kbench::Observer observer;
};

namespace kbench::capi {
namespace {

std::stop_token token_of(const kbench_stop* stop) {
  return stop != nullptr ? stop->source.get_token() : std::stop_token();
}

json value_of(const Result& result) { return json::parse(to_json(result)); }

/// Calls the caller's event function, for both callbacks of an evaluation.
void tell(kbench_on_event on_event, void* user, const json& event) {
  const std::string text = json_text(event);
  if (on_event(user, text.c_str()) != 0) throw Cancelled();
}

/// What all candidates are asked, and on which device: {"device": .., "program": ..} and the
/// members of read_question().
struct Asked {
  JudgeOptions judge;
  Question question;
};

Asked asked_of(const JsonField& options) {
  Asked asked;
  read_question(options, {"device", "program"}, kAnyLimits, asked.question);
  if (options.has("device")) asked.judge.device = options["device"].text();
  if (options.has("program")) asked.judge.program = options["program"].text();
  return asked;
}

kbench_status evaluated(kbench_evaluator* evaluator, const char* candidate, kbench_stop* stop,
                        char** out, bool check) {
  return answer(out, [&] {
    if (evaluator == nullptr) throw Error(ErrorCode::kInvalidArgument, "evaluator is NULL");
    const CallRequest request(candidate, {"path", "files", "manifest", "name", "author"});
    Question question = evaluator->asked;
    question.candidate = source_from_json(request.whole());
    question.check = question.check || check;
    return value_of(evaluator->judge.evaluate(question, evaluator->observer, token_of(stop)));
  });
}

kbench_status evaluated(const char* text, kbench_stop* stop, char** out, bool check) {
  return answer(out, [&] {
    const CallRequest request(text, {"candidate", "options"});
    Asked asked = request.has("options") ? asked_of(request["options"]) : Asked();
    asked.question.candidate = source_from_json(request["candidate"].json());
    asked.question.check = asked.question.check || check;
    return value_of(evaluate(asked.question, asked.judge, {}, token_of(stop)));
  });
}

}  // namespace
}  // namespace kbench::capi

using namespace kbench;
using capi::answer;
using capi::json;

extern "C" {

kbench_stop* kbench_stop_new(void) {
  try {
    return new kbench_stop;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void kbench_stop_request(kbench_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}

void kbench_stop_free(kbench_stop* stop) { delete stop; }

kbench_status kbench_evaluator_new(const char* options, kbench_on_event on_event, void* user,
                                   kbench_evaluator** evaluator, char** out) {
  if (evaluator != nullptr) *evaluator = nullptr;
  return answer(out, [&] {
    if (evaluator == nullptr) throw Error(ErrorCode::kInvalidArgument, "evaluator is NULL");
    const capi::CallRequest request(options);
    capi::Asked asked = capi::asked_of(request.field());
    Observer observer;
    if (on_event != nullptr) {
      observer.on_stage = [=](const char* stage) {
        capi::tell(on_event, user, {{"stage", stage}});
      };
      observer.on_progress = [=](const Progress& progress) {
        capi::tell(on_event, user, {{"progress", json::parse(judge::to_json(progress))}});
      };
    }
    *evaluator = new kbench_evaluator{JudgeProcess(std::move(asked.judge)),
                                      std::move(asked.question), std::move(observer)};
    return json::object();
  });
}

kbench_status kbench_evaluator_evaluate(kbench_evaluator* evaluator, const char* candidate,
                                        kbench_stop* stop, char** out) {
  return capi::evaluated(evaluator, candidate, stop, out, /*check=*/false);
}

kbench_status kbench_evaluator_check(kbench_evaluator* evaluator, const char* candidate,
                                     kbench_stop* stop, char** out) {
  return capi::evaluated(evaluator, candidate, stop, out, /*check=*/true);
}

void kbench_evaluator_free(kbench_evaluator* evaluator) { delete evaluator; }

kbench_status kbench_evaluate(const char* request, kbench_stop* stop, char** out) {
  return capi::evaluated(request, stop, out, /*check=*/false);
}

kbench_status kbench_check(const char* request, kbench_stop* stop, char** out) {
  return capi::evaluated(request, stop, out, /*check=*/true);
}

kbench_status kbench_question_schema(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {});
    return json{{"properties", json::parse(question_schema().dump())}};
  });
}

kbench_status kbench_candidate_files(const char* candidate, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(candidate, {"path"});
    const CandidateSource source = for_another_machine(source_from_json(request.whole()));
    json files = source_json<json>(source);
    files["manifest"] = source.manifest;
    return files;
  });
}

kbench_status kbench_devices(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {"program"});
    json devices = json::array();
    for (const DeviceSummary& device :
         list_devices(request.has("program") ? request["program"].text() : "")) {
      devices.push_back(client::to_value(device));
    }
    return json{{"devices", std::move(devices)}};
  });
}

}  // extern "C"
