// Answers of the C interface: JSON, and no exceptions.
#pragma once

#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kbench/c.h"
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

}  // namespace kbench::capi
