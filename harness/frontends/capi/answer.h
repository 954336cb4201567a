// How the C interface answers: JSON out, and no exception.
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

/// A request as it came, read once.
class Request {
 public:
  /// `text` may be null. Throws kParse for what is no JSON.
  explicit Request(const char* text);
  /// And for what is no object, or has other members than these.
  Request(const char* text, std::initializer_list<std::string_view> members);
  JsonField field() const { return {json_, name_, ""}; }
  bool has(const std::string& name) const { return field().has(name); }
  JsonField operator[](const std::string& name) const { return field()[name]; }
  const json& whole() const { return json_; }

 private:
  json json_;
  std::string name_ = "the request";
};

/// Runs the call and answers with what it returns, or with what it throws.
kbench_status answer(char** out, const std::function<json()>& call);

}  // namespace kbench::capi
