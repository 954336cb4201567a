#include "harness/measure/cuda/triton.h"

#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/base/json_text.h"

namespace kbench::cuda {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostScriptMessageBytes = 1000;
constexpr uint32_t kMostWarps = 32;

[[noreturn]] void malformed(const std::string& what) {
  throw Error(ErrorCode::kParse,
              "the process that translates Triton kernels answered with " + what);
}

template <class T>
T field(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) malformed(std::string("no '") + name + "'");
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    malformed(std::string("a strange '") + name + "'");
  }
}

uint32_t count(const Json& object, const char* name, int64_t most) {
  const auto value = field<int64_t>(object, name);
  if (value < 0 || value > most) malformed(std::string("a strange '") + name + "'");
  return static_cast<uint32_t>(value);
}

/// A constant's literal as JSON has it: a number where it is one.
Json literal(const std::string& text) {
  std::string plain = text;
  while (!plain.empty() &&
         std::string_view("uUlLfF").find(plain.back()) != std::string_view::npos) {
    plain.pop_back();
  }
  if (plain.starts_with('(') && plain.ends_with(')')) plain = plain.substr(1, plain.size() - 2);
  const Json value = Json::parse(plain, nullptr, /*allow_exceptions=*/false);
  if (value.is_number()) return value;
  return text;
}

}  // namespace

std::string encode(const TritonRequest& request) {
  Json arguments = Json::array(), constants = Json::object();
  for (const TritonArgument& each : request.arguments) {
    arguments.push_back({{"type", each.type}, {"by16", each.by16}, {"one", each.one}});
  }
  for (const auto& [name, value] : request.constants) constants[name] = literal(value);
  return json_text(Json{{"path", request.path},
                        {"entry", request.entry},
                        {"arguments", std::move(arguments)},
                        {"constants", std::move(constants)},
                        {"num_warps", request.num_warps},
                        {"num_stages", request.num_stages},
                        {"capability", request.device.major * 10 + request.device.minor}});
}

TritonAnswer decode_triton_answer(std::string_view json, const TritonRequest& request) {
  const Json all = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) malformed("no JSON object");
  TritonAnswer answer;
  if (all.contains("verdict")) {
    const auto verdict = field<std::string>(all, "verdict");
    answer.unsupported = verdict == "unsupported";
    answer.invalid = verdict == "invalid_candidate";
    answer.message = shown(field<std::string>(all, "message"), kMostScriptMessageBytes);
    answer.line = static_cast<int>(count(all, "line", 1 << 30));
    return answer;
  }
  answer.ptx = field<std::string>(all, "ptx");
  answer.entry = field<std::string>(all, "entry");
  answer.shared_bytes = count(all, "shared", int64_t{1} << 30);
  answer.num_warps = count(all, "num_warps", kMostWarps);
  answer.kept = field<std::vector<bool>>(all, "kept");
  if (answer.kept.size() != request.arguments.size()) malformed("a strange 'kept'");
  if (answer.num_warps == 0) malformed("a strange 'num_warps'");
  if (answer.ptx.empty()) malformed("no PTX");
  if (count(all, "scratch", int64_t{1} << 40) > 0) {
    answer.unsupported = true;
    answer.ptx.clear();
    answer.message = "needs scratch memory in device memory, which it is not given";
  }
  return answer;
}

}  // namespace kbench::cuda
