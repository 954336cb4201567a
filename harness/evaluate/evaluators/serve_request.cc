#include "harness/evaluate/evaluators/serve_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/measure/vulkan/plan.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/task_file.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/core/own_tasks.h"
#include "libkbench/core/variables_json.h"
#include "libkbench/question/question_json.h"
#include "libkbench/task_file/task_file.h"

namespace kbench::evaluators {
namespace {

using nlohmann::json;

/// What a line has beside the members of a question.
const std::vector<std::string_view> kLineMembers = {
    "id", "candidate", "files", "manifest", "name", "author", "stages", "device", "task_file"};
/// Deeper than any valid line.
constexpr int kDepth = 8;
constexpr size_t kIdBytes = 1000;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::kInvalidArgument, why); }

json parse(std::string_view line) {
  const auto shallow = [](int depth, json::parse_event_t, json&) {
    if (depth > kDepth) refuse("is nested too deeply");
    return true;
  };
  json value;
  try {
    value = json::parse(line, shallow);
  } catch (const json::parse_error& e) {
    refuse("is not JSON from character " + std::to_string(e.byte) + " on");
  } catch (const json::out_of_range&) {
    refuse("holds a number out of range");
  }
  if (!value.is_object()) refuse("is not a JSON object");
  return value;
}

std::string id_of(const json& value) {
  if (value.is_object() || value.is_array())
    refuse("an id is a string, a number, a boolean or null");
  std::string text = json_text(value);
  if (text.size() > kIdBytes) refuse("an id of more than " + std::to_string(kIdBytes) + " bytes");
  return text;
}

CandidateSource read_candidate(const JsonField& line, Sender sender) {
  if (line.has("candidate") && sender == Sender::network) {
    refuse("a path on the server ('candidate') cannot be named from elsewhere; send 'files'");
  }
  if (line.has("candidate") == line.has("files")) {
    refuse("wants one of 'candidate' (a path) and 'files' (path: text)");
  }
  if (line.has("candidate")) {
    if (!line["candidate"].json().is_string()) refuse("'candidate' must be a path");
    if (line.has("manifest") || line.has("name")) refuse("'manifest' and 'name' go with 'files'");
    return line["candidate"].text();
  }
  json source;
  for (const char* member : {"files", "manifest", "name"}) {
    if (line.has(member)) source[member] = line[member].json();
  }
  return source_from_json(source);
}

/// Questions of one group are judged in a row: those of one task at the same sizes.
std::string group_of(const Question& question) {
  const std::optional<Candidate> candidate = candidate_if_readable(question.candidate);
  if (!candidate) return "";
  const std::string& task_file = question.candidate.task_file;
  return (task_file.empty() ? exact_name(candidate->task) : task_file) + " " + question.preset +
         " " + std::string(name_of(question.dtype)) + " " +
         variables_json<json>(question.overrides).dump();
}

/// The rest of a question, for which the line has what is not as in `question`.
void read_rest(const JsonField& object, const Limits& most, Question& question) {
  const double before = question.limits.total_seconds;
  const bool validate = question.rule.validate;
  if (object.has("recorded")) refuse("there is no 'recorded': times are a server's own");
  read_question(object, kLineMembers, most, question);
  if (question.rule.validate != validate) {
    refuse("'validate' is a server's own choice, from its start");
  }
  // As on the command line: a long measurement is given more time.
  double& total = question.limits.total_seconds;
  if (total == before && before == Limits{}.total_seconds) {
    total = std::max(before, std::min(before + 4 * question.plan.max_seconds, most.total_seconds));
  }
}

void read_line(const JsonField& object, const Question& defaults, const Limits& most,
               const std::vector<vulkan::DeviceSnapshot>& devices, Sender sender, ServeLine& line) {
  line.job.yields = true;
  Question& question = line.job.question = defaults;
  CandidateSource& candidate = question.candidate = read_candidate(object, sender);
  if (object.has("task_file")) {
    // It is not made known here: another sender may mean something else by its name, and such
    // files would add up while the server runs.
    candidate.task_file = object["task_file"].text();
    read_task_file(candidate.task_file, "task_file");
  }
  if (object.has("author")) candidate.author = object["author"].text();
  read_rest(object, most, question);
  if (object.has("stages")) line.stages = object["stages"].boolean();
  if (object.has("device")) {
    const json& device = object["device"].json();
    if (!device.is_string() && !device.is_number_unsigned()) {
      refuse("'device' must be an index, a UUID or part of a name");
    }
    const std::string selector = device.is_string() ? device.get<std::string>() : device.dump();
    line.job.member =
        static_cast<size_t>(&vulkan::choose_device(devices, selector) - devices.data());
  }
  expect_readable(candidate);
  line.job.group = group_of(question);
}

}  // namespace

ServeLine parse_serve_line(std::string_view text, const Question& defaults, const Limits& most,
                           const std::vector<vulkan::DeviceSnapshot>& devices, Sender sender) {
  ServeLine line;
  try {
    const json object = parse(text);
    if (const auto id = object.find("id"); id != object.end()) line.id = id_of(*id);
    if (const auto cancel = object.find("cancel");
        cancel != object.end() && sender == Sender::this_user) {
      if (object.size() != 1) refuse("'cancel' stands alone: {\"cancel\": id}");
      line.id = id_of(*cancel);
      line.cancel = true;
      return line;
    }
    if (line.id.empty() && sender == Sender::this_user) refuse("has no 'id'");
    static const std::string kNoFile;
    read_line({object, kNoFile, ""}, defaults, most, devices, sender, line);
    return line;
  } catch (const Error& e) {
    throw BadLine{line.id, e};
  } catch (const json::exception& e) {
    throw BadLine{line.id, Error(ErrorCode::kInvalidArgument, e.what())};
  }
}

std::string serve_line_of(const Question& question, const std::string& device) {
  if (question.recorded) {
    throw Error(ErrorCode::kUnsupported, "a server elsewhere takes no recorded times as baseline");
  }
  if (question.rule.validate) {
    throw Error(ErrorCode::kUnsupported,
                "the validation layer is a server's own choice, from its start");
  }
  // The server's own limits hold where no other was asked for: it may have lower ones.
  Question usual;
  usual.limits.total_seconds += 4 * question.plan.max_seconds;
  json line = question_json(question, usual);
  line.update(source_json<json>(for_another_machine(question.candidate)));
  if (device != "auto") line["device"] = device;
  return json_text(line);
}

}  // namespace kbench::evaluators
