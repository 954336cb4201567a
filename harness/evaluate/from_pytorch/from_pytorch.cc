#include "harness/evaluate/from_pytorch/from_pytorch.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/evaluate/from_pytorch/compare.h"
#include "kbench/error.h"
#include "kbench/task_file.h"
#include "libkbench/base/text.h"
#include "reference/faults.h"

namespace kbench::from_pytorch {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kNoAnswer[] =
    "the process that traces a problem's file gives no answer that can be read";
constexpr double kStartSeconds = 60;  ///< for importing torch on a busy machine
constexpr int kMostDivisor = 4096;
constexpr int64_t kMostSmokeBytes = int64_t{1} << 20;  ///< of inputs, parameters and outputs
constexpr double kMostSmokeFlops = 1e8;

Traced traced_of(const Json& answer) {
  Traced traced;
  traced.error = answer.value("error", "");
  if (!traced.error.empty()) return traced;
  traced.task = answer.at("task");
  traced.given.inputs = answer.at("given").at("inputs");
  traced.given.parameters = answer.at("given").at("parameters");
  for (const auto& [name, value] : answer.at("sizes").items()) {
    if (value.is_array()) {
      traced.sizes[name] = value.get<std::vector<int64_t>>();
    } else {
      traced.sizes[name] = value.get<int64_t>();
    }
  }
  for (const Json& note : answer.at("notes")) traced.notes.push_back(note);
  return traced;
}

/// A problem that was traced at some sizes.
struct Sized {
  Preset preset;
  Problem problem;
  Traced traced;
  const Task* task = nullptr;
  std::shared_ptr<const Graph> graph = {};
};

/// Throws what add_task_file() and build_graph() do.
Sized sized(Preset preset, const Problem& problem, const Traced& traced) {
  const Task& task = add_task_file(traced.task, problem.shown + " as it was traced");
  return {preset, problem, traced, &task, build_graph(task, Preset::smoke)};
}

constexpr char kNotCompared[] = "not compared with it: ";

/// Compares the task with the module; returns what there is to say of it. Throws kInvalidArgument
/// where they differ.
std::string compared(runner::PythonHelper& python, const Sized& with, const std::string& sizes,
                     double seconds) {
  const Agreement found = compare_with_module(python, with.problem, with.traced.given, *with.task,
                                              *with.graph, seconds);
  if (!found.not_compared.empty()) return kNotCompared + found.not_compared;
  if (!found.difference.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                with.problem.shown +
                    ": kbench mistranslates it, and writes no task: in float64, at " + sizes +
                    ", " + found.difference);
  }
  char worst[32];
  std::snprintf(worst, sizeof worst, "%.1e", found.worst_error);
  return "computes the same on two draws in float64, at " + sizes + ": worst error " + worst;
}

std::string sizes_of(const Problem& problem) {
  const std::string sizes = problem.divides_sizes ? "its sizes" : "";
  const std::string classes = problem.divides_classes ? "its classes' numbers" : "";
  return sizes + (sizes.empty() || classes.empty() ? "" : " and ") + classes + " divided by " +
         std::to_string(problem.divisor);
}

/// Whether preset smoke can have these sizes.
bool is_small(const Graph& graph) {
  return bytes_compared(graph) <= kMostSmokeBytes && graph.flops() <= kMostSmokeFlops;
}

/// The problem at its sizes divided by powers of two, where it can be traced and compared: first
/// the largest of the small ones, last the largest of all.
std::vector<Sized> at_divided_sizes(runner::PythonHelper& python, const Problem& problem,
                                    double seconds) {
  std::vector<Problem> divided;
  for (int divisor = 2; divisor <= kMostDivisor; divisor *= 2) {
    divided.push_back(problem);
    divided.back().divisor = divisor;
  }
  const std::vector<Traced> traced = trace(python, divided, seconds);
  std::vector<Sized> small, larger;
  for (size_t i = 0; i < traced.size(); ++i) {
    if (!traced[i].error.empty()) continue;
    try {
      Sized each = sized(Preset::smoke, divided[i], traced[i]);
      if (!why_not_compared(*each.graph).empty()) continue;
      (is_small(*each.graph) ? small : larger).push_back(std::move(each));
    } catch (const Error& error) {  // At such sizes its shapes make no sense.
      if (error.code() != ErrorCode::kParse && error.code() != ErrorCode::kShape) throw;
    }
  }
  small.insert(small.end(), larger.rbegin(), larger.rend());
  return small;
}

/// The same; where there are none, its classes' numbers are divided too, or these alone.
std::vector<Sized> at_smaller_sizes(runner::PythonHelper& python, Problem problem, double seconds) {
  std::vector<Sized> found;
  for (const auto& [sizes, classes] : {std::pair(true, false), {true, true}, {false, true}}) {
    problem.divides_sizes = sizes;
    problem.divides_classes = classes;
    if (found.empty()) found = at_divided_sizes(python, problem, seconds);
  }
  return found;
}

/// The task's file of the presets that there are.
std::string text_of(const std::vector<Sized>& presets) {
  std::vector<SizedGraph> built;
  for (const Preset preset : kAllPresets) {  // Where one is not given, the next larger one's.
    const auto at =
        std::ranges::find_if(presets, [&](const Sized& each) { return each.preset >= preset; });
    built.push_back({at->traced.sizes, at->graph.get()});
  }
  if (presets.size() == 1) built.resize(1);
  return task_file_text(*presets.back().task, built);
}

}  // namespace

std::string sizes_text(const Variables& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    text += (text.empty() ? "" : ",") + name + "=";
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    if (list == nullptr) {
      text += to_string(value);
      continue;
    }
    std::string items;
    for (const int64_t item : *list) items += std::to_string(item) + ",";
    text += "(" + items + ")";
  }
  return text;
}

Json ask_about(runner::PythonHelper& python, std::span<const Problem> problems,
               const std::vector<Json>& given, double seconds) {
  runner::PythonJob job{.package = "torch", .script = trace_script()};
  job.whose = "the problem's";
  const size_t answers = problems.size() * std::max<size_t>(given.size(), 1);
  job.seconds = kStartSeconds + (seconds + 1) * static_cast<double>(answers);
  Json requests = Json::array();
  for (size_t i = 0; i < problems.size(); ++i) {
    const Problem& problem = problems[i];
    const std::string file = "problem_" + std::to_string(i) + ".py";
    job.files[file] = problem.text;
    requests.push_back({{"file", file},
                        {"shown", problem.shown},
                        {"name", problem.name},
                        {"title", problem.title},
                        {"sizes", problem.sizes},
                        {"divisor", problem.divisor},
                        {"divides_sizes", problem.divides_sizes},
                        {"divides_classes", problem.divides_classes},
                        {"class", problem.module_class},
                        {"init", problem.init},
                        {"list", problem.list},
                        {"beside", problem.beside}});
    if (!given.empty()) requests.back()["given"] = given;
  }
  job.input = Json({{"seconds", seconds}, {"requests", requests}})
                  .dump(-1, ' ', false, Json::error_handler_t::replace);
  // The file's code has run in the process that answers: its answers are read with care.
  try {
    Json all = Json::parse(python.run(job), nullptr, /*allow_exceptions=*/false);
    if (all.is_array() && all.size() == answers) return all;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kTimeout) {
      throw Error(error.code(), "tracing took longer than " + number_text(job.seconds) + " s");
    }
    if (error.code() == ErrorCode::kUnsupported) {
      throw Error(error.code(), "tracing a problem's file: " + error.message());
    }
    throw;
  }
  throw Error(ErrorCode::kCompile, kNoAnswer);
}

std::vector<Traced> trace(runner::PythonHelper& python, std::span<const Problem> problems,
                          double seconds) {
  std::vector<Traced> all;
  try {
    for (const Json& answer : ask_about(python, problems, {}, seconds)) {
      all.push_back(traced_of(answer));
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kCompile, kNoAnswer);
  }
  return all;
}

WrittenTask task_of(runner::PythonHelper& python, const Problem& problem,
                    const std::vector<PresetSizes>& given, double seconds) {
  std::map<Preset, std::string> at = {{Preset::v0_1, problem.sizes}};
  for (const PresetSizes& each : given) at[each.preset] = each.sizes;
  std::vector<Problem> problems;
  for (const auto& [preset, sizes] : at) {
    problems.push_back(problem);
    problems.back().sizes = sizes;
  }
  const std::vector<Traced> traced = trace(python, problems, seconds);
  std::vector<Sized> presets;
  for (const auto& [preset, sizes] : at) {
    const size_t place = presets.size();
    const std::string& error = traced[place].error;
    if (!error.empty()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          (preset == Preset::v0_1 ? "" : "at preset " + std::string(name_of(preset)) + ": ") +
              error);
    }
    presets.push_back(sized(preset, problems[place], traced[place]));
  }
  WrittenTask written{"", traced.back().notes, traced.back().sizes};
  std::vector<Sized> smaller;
  if (!at.contains(Preset::smoke) && !is_small(*presets.front().graph)) {
    smaller = at_smaller_sizes(python, problems.front(), seconds);
  }
  for (const Sized& smoke : smaller) {
    try {
      std::vector<Sized> with = presets;
      with.insert(with.begin(), smoke);
      written.text = text_of(with);
      presets = with;
      written.smoke = sizes_of(smoke.problem);
      break;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
    }
  }
  if (written.text.empty()) written.text = text_of(presets);
  Sized smallest = presets.front();
  smallest.task = &add_task_file(written.text, problem.shown + " as it is written");
  smallest.graph = build_graph(*smallest.task, smallest.preset);
  const std::string too_large = why_not_compared(*smallest.graph);
  if (too_large.empty()) {
    const auto faults = reference::faults_of_values(*smallest.graph, smallest.task->id);
    written.notes.insert(written.notes.end(), faults.suspicious.begin(), faults.suspicious.end());
    if (!faults.not_a_number.empty()) {
      written.notes.push_back("no candidate can be right: " + faults.not_a_number);
    }
    const std::string preset = "preset " + std::string(name_of(smallest.preset));
    written.compared =
        compared(python, smallest, presets.size() > 1 ? preset : "its sizes", seconds);
  } else if (!smaller.empty()) {
    const Sized& divided = smaller.front();
    written.compared = compared(python, divided, sizes_of(divided.problem), seconds);
  } else {
    written.compared = kNotCompared + too_large;
  }
  written.text += "module: " + Json(problem.shown + ": " + written.compared).dump() + "\n";
  return written;
}

}  // namespace kbench::from_pytorch
