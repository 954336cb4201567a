// JSON documents of the program, of structs whose fields are listed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/exchange.h"
#include "kbench/result.h"
#include "kbench/score.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

inline void write_field(nlohmann::ordered_json& json, const Result& result) {
  json = nlohmann::ordered_json::parse(to_json(result));
}
inline void write_field(nlohmann::ordered_json& json, const std::vector<LeaderboardRow>& rows) {
  json = nlohmann::ordered_json::parse(leaderboard_json(rows));
}
inline void write_field(nlohmann::ordered_json& json, const std::vector<Message>& messages) {
  json = nlohmann::ordered_json::parse(messages_json(messages));
}

}  // namespace kbench

namespace kbench::program {

/// The value as JSON in several lines; an optional that is unset is null.
template <class T>
std::string json_document(const T& value) {
  return json_text(json_of<nlohmann::ordered_json>(value, Unset::null), 2) + "\n";
}

}  // namespace kbench::program
