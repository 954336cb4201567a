// What the functions of the C interface share: requests, what they say of tasks, sizes and prompts,
// and answers, which are JSON and no exceptions.
#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/c.h"
#include "kbench/prompts.h"
#include "kbench/task.h"
#include "kbench/variables.h"
#include "libkbench/scoring/json_field.h"

namespace kbench::capi {

using nlohmann::json;

/// A parsed request.
class CallRequest {
 public:
  /// `text` may be null. Throws kParse if it is not JSON.
  explicit CallRequest(const char* text);
  /// Also throws if it is not an object, or has other members than these.
  CallRequest(const char* text, std::initializer_list<std::string_view> members);
  JsonField field() const { return {json_, name_, ""}; }
  bool has(const std::string& name) const { return field().has(name); }
  JsonField operator[](const std::string& name) const { return field()[name]; }
  const json& whole() const { return json_; }

 private:
  json json_;
  std::string name_ = "the request";
};

/// Runs `call` and stores its result, or the error that it throws, in `out`.
kbench_status answer(char** out, const std::function<json()>& call);

inline const Task& task_of(const CallRequest& request) {
  return named_task(request["task"].text());
}

/// The default is v0.1, as for `kbench show`.
inline Preset preset_of(const CallRequest& request) {
  return request.has("preset") ? preset_from_name(request["preset"].text()) : Preset::v0_1;
}

inline Variables overrides_of(const CallRequest& request) {
  return request.has("overrides") ? request["overrides"].variables() : Variables();
}

/// The default is f32.
inline DType dtype_of(const CallRequest& request) {
  return request.has("dtype") ? task_dtype_from_name(request["dtype"].text()) : DType::f32;
}

/// The members of a request that say which prompt: the task, its sizes, what the prompt has.
extern const std::vector<std::string_view> kPromptMembers;

PromptContext context_of(const CallRequest& request);
Prompts prompts_of(const CallRequest& request);

}  // namespace kbench::capi
