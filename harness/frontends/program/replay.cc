#include "harness/frontends/program/replay.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/task.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "--replay " + message);
}

constexpr std::string_view kSeed = "seed=", kFewest = "min_samples=";

std::vector<std::string> settings_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The settings without those that a replay makes itself.
std::vector<std::string> settings_given(const Result& result) {
  std::vector<std::string> given = settings_in(result.settings);
  std::erase_if(given, [](const std::string& each) {
    return each.starts_with(kSeed) || each.starts_with(kFewest);
  });
  return given;
}

/// What is not as it was, in words.
std::vector<std::string> differences(const Result& before, const Result& now) {
  std::vector<std::string> all;
  const auto compare = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was != is) all.push_back(what + " is " + shown(is) + ", was " + shown(was));
  };
  if (before.candidate_hash != now.candidate_hash) all.push_back("the candidate has been changed");
  compare("the device", before.device, now.device);
  if (before.device == now.device && before.device_uuid != now.device_uuid) {
    all.push_back("the device is another one of its kind");
  }
  compare("the driver", before.driver, now.driver);
  compare("kbench", before.version, now.version);
  compare("the baseline", before.baseline, now.baseline);
  if (settings_given(before) != settings_given(now)) {
    all.push_back("the settings are others; they were: " + shown(before.settings));
  }
  return all;
}

std::string place_of(const ResultLine& line) {
  return shown(line.file) + ":" + std::to_string(line.line);
}

struct ReplayDocument {
  Result replay_of, result;
  bool repeated = false;
  std::vector<std::string> differs;
};
KBENCH_FIELDS(ReplayDocument, replay_of, result, repeated, differs)

}  // namespace

ResultLine result_to_replay(const std::string& where, const std::string& candidate) {
  const auto [file, part] = file_and_part(where);
  if (!fs::exists(file)) throw Error(ErrorCode::kNotFound, "there is no file " + quoted(file));
  int line = 0;
  if (!part.empty() && (!read_number(part, line) || line < 1)) {
    refuse(shown(where) + ": " + quoted(part) + " is no line; they are counted from 1");
  }
  const std::string name = fs::path(candidate).filename();
  const auto is_named = [&](const ResultLine& each) {
    return line > 0 ? each.line == line : fs::path(each.result.candidate).filename() == name;
  };
  const std::vector<ResultLine> lines = read_result_lines(file);
  const auto found = std::find_if(lines.rbegin(), lines.rend(), is_named);
  if (found == lines.rend()) {
    refuse(shown(file) + (line > 0 ? " has no result in line " + std::to_string(line)
                                   : " has no result of a candidate " + quoted(name) +
                                         "; RESULTS:LINE names one by its line"));
  }
  if (!found->result.seed) {
    refuse(place_of(*found) + " has no seed: nothing was drawn for it (" +
           std::string(name_of(found->result.verdict)) + "), or the kbench that made it kept none");
  }
  return *found;
}

void ask_at_sizes_of(const Result& before, SizeOptions& size) {
  if (size.preset != "auto" || !size.assignments.empty() || !size.dtype_name.empty()) {
    refuse("has the result's sizes and type; leave --preset, --set and --dtype out");
  }
  size.preset = before.preset;
  size.dtype_name = name_of(before.dtype);
  const Variables usual =
      build_graph(find_task(before.task), preset_from_name(before.preset))->variables();
  for (const auto& [name, value] : before.variables) {
    const auto preset = usual.find(name);
    if (preset != usual.end() && preset->second == value) continue;
    size.assignments.push_back(name + "=" + to_string(value));
  }
}

void ask_for_values_of(const Result& before, Question& question) {
  constexpr int kTakenAnyway = 4;
  question.plan.seed = before.seed;
  question.plan.min_samples = 0;
  for (const std::string& each : settings_in(before.settings)) {
    if (each.starts_with(kFewest)) {
      read_number(each.substr(kFewest.size()), question.plan.min_samples);
    }
  }
  // Fewer would be taken, as times are sharp, or more warm-ups, as fewer samples were asked for.
  if (before.failed_sample > std::max(question.plan.min_samples, kTakenAnyway)) {
    question.plan.min_samples = before.failed_sample;
  }
}

bool is_repeated(const Result& before, const Result& now) {
  return before.candidate_hash == now.candidate_hash && before.verdict == now.verdict &&
         before.message == now.message;
}

std::string format_replay(const ResultLine& before, const Result& now) {
  const Result& was = before.result;
  std::string text = "  replay      of " + place_of(before) + ": ";
  if (is_repeated(was, now)) {
    text += was.correct() ? "right on the same values" : "the same verdict, in the same words";
  } else {
    text += "not the same; it was " + std::string(name_of(was.verdict));
    if (!was.message.empty()) text += ": " + shown_message(was.message);
  }
  text += "\n";
  for (const std::string& each : differences(was, now)) text += "              " + each + "\n";
  return text;
}

std::string replay_json(const ResultLine& before, const Result& now) {
  return json_document(ReplayDocument{before.result, now, is_repeated(before.result, now),
                                      differences(before.result, now)});
}

}  // namespace kbench::program
