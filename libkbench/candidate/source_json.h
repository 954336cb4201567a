// A CandidateSource as JSON: a path is a string, a candidate in memory an object
// {"files": {"candidate.yaml": "...", "k.spv": {"base64": "..."}}, "manifest": "...", "name":
// "...", "author": "...", "task_file": "..."}. A path with an author or a task's file is an object,
// too: {"path": "...", "author": "..."}.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kbench/candidate_source.h"
#include "kbench/error.h"

namespace kbench {

bool is_utf8(std::string_view text);
std::string to_base64(std::string_view bytes);
/// Throws kParse.
std::string from_base64(std::string_view text);

/// The form that source_from_json() reads. Bytes that are not UTF-8, or hold a zero, are in base64.
template <class Json>
Json source_json(const CandidateSource& source) {
  const auto plain = [](const std::string& bytes) {
    return is_utf8(bytes) && bytes.find('\0') == std::string::npos;
  };
  // A path may hold any bytes; a judge would not find it if invalid UTF-8 were replaced.
  const bool bare = source.author.empty() && source.task_file.empty();
  if (!source.files && bare && plain(source.path)) return source.path;
  Json object = Json::object();
  if (!source.author.empty()) object["author"] = source.author;
  if (!source.task_file.empty()) object["task_file"] = source.task_file;
  if (!source.files) {
    object["path"] =
        plain(source.path) ? Json(source.path) : Json{{"base64", to_base64(source.path)}};
    return object;
  }
  Json& files = object["files"] = Json::object();
  for (const auto& [path, bytes] : *source.files) {
    files[path] = plain(bytes) ? Json(bytes) : Json{{"base64", to_base64(bytes)}};
  }
  if (source.manifest != CandidateSource().manifest) object["manifest"] = source.manifest;
  if (!source.path.empty()) object["name"] = source.path;
  return object;
}

/// Throws kParse, with what is wrong and no place.
CandidateSource source_from_json(const nlohmann::json& json);

}  // namespace kbench
