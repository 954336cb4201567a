#include "harness/measure/runner/torch/torch_channel.h"

#include <string>
#include <utility>

#include "harness/measure/runner/write_fault.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostMessage = 600;

/// The candidate's fault, by what its process says it is: any of these it may also claim.
Refused refused_as(const std::string& kind, const std::string& said) {
  const std::string text = shown(said, kMostMessage);
  if (kind == "module") return {Verdict::compile_error, "its module cannot be loaded: " + text, {}};
  if (kind == "init") return {Verdict::invalid_candidate, "ModelNew cannot be made: " + text, {}};
  if (kind == "parameters") return {Verdict::invalid_candidate, text, {}};
  if (kind == "unsupported") return {Verdict::unsupported, text, {}};
  if (kind == "outputs") return {Verdict::invalid_candidate, text, {}};
  if (kind == "given") return {Verdict::input_modified, text + kWrittenTo, {}};
  if (said.find("out of memory") != std::string::npos) {
    return {Verdict::out_of_memory, "its forward fails: " + text, {}};
  }
  for (const char* error : {"CompilationError", "UnsupportedLanguageConstruct"}) {  // Triton's
    if (said.starts_with(error)) {
      return {Verdict::compile_error, "a kernel of its module does not compile: " + text, {}};
    }
  }
  return {Verdict::crashed, "its forward fails: " + text, {}};
}

/// A text of an answer; empty where there is none.
std::string text_of(const Json& answer, const char* key) {
  const bool there = answer.is_object() && answer.contains(key) && answer.at(key).is_string();
  return there ? answer.at(key).get<std::string>() : "";
}

}  // namespace

Json read_answer(const TorchAnswer& said) {
  if (!said.text && said.late) {
    throw Error(ErrorCode::kTimeout, "PyTorch's process is not done");
  }
  if (!said.text) {
    const std::string why = shown(said.last_words, kMostMessage);
    throw Refused{
        Verdict::crashed, "its Python process ended" + (why.empty() ? "" : ": " + why), {}};
  }
  Json answer = Json::parse(*said.text, nullptr, /*allow_exceptions=*/false);
  if (const std::string kind = text_of(answer, "refused"); !kind.empty()) {
    throw refused_as(kind, text_of(answer, "message"));
  }
  if (const std::string failed = text_of(answer, "failed"); !failed.empty()) {
    throw Refused{Verdict::crashed, "its Python process fails: " + shown(failed, kMostMessage), {}};
  }
  return answer.is_object() ? answer : Json::object();
}

TorchChannel::Reply TorchChannel::ask(Json question, double seconds,
                                      std::span<const int> descriptors) {
  const uint64_t id = secret_.next();
  question["id"] = id;
  const TorchAnswer said =
      python_.ask_torch({.text = question.dump(-1, ' ', false, Json::error_handler_t::replace),
                         .seconds = seconds,
                         .held = true,
                         .spin = spin_},
                        descriptors);
  Reply reply{read_answer(said), said.ns};
  if (reply.answer.value("id", Json()) != Json(id)) {
    throw Refused{Verdict::crashed, "its Python process answers what it was not asked", {}};
  }
  return reply;
}

}  // namespace kbench::runner
