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

/// A graph that was traced at some sizes of the file.
struct TracedGraph {
  const Task* task;
  std::unique_ptr<Graph> graph;
  Variables sizes;
};

/// A problem at sizes at which its module and its task can be run.
struct Comparable {
  Problem problem;
  Given given;
  const Task* task = nullptr;
  const Graph* graph = nullptr;
  std::string sizes = {};  ///< in words: "preset smoke"
};

constexpr char kNotCompared[] = "not compared with it: ";

/// Compares the task with the module; returns what there is to say of it. Throws kInvalidArgument
/// where they differ.
std::string compared(runner::PythonHelper& python, const Comparable& with, double seconds) {
  const Agreement found =
      compare_with_module(python, with.problem, with.given, *with.task, *with.graph, seconds);
  if (!found.not_compared.empty()) return kNotCompared + found.not_compared;
  if (!found.difference.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                with.problem.shown +
                    ": kbench mistranslates it, and writes no task: in float64, at " + with.sizes +
                    ", " + found.difference);
  }
  char worst[32];
  std::snprintf(worst, sizeof worst, "%.1e", found.worst_error);
  return "computes the same on two draws in float64, at " + with.sizes + ": worst error " + worst;
}

/// The same at the first of the file's sizes, divided by 2, 4, 8, ..., at which it can be traced
/// and run and is small enough; `why` where there are none.
std::string compared_at_smaller_sizes(runner::PythonHelper& python, const Problem& problem,
                                      double seconds, const std::string& why) {
  std::vector<Problem> smaller;
  for (const int divisor : {2, 4, 8, 16, 32, 64, 128, 256}) {
    smaller.push_back(problem);
    smaller.back().divisor = divisor;
  }
  const std::vector<Traced> traced = trace(python, smaller, seconds);
  for (size_t i = 0; i < traced.size(); ++i) {
    if (!traced[i].error.empty()) continue;
    Comparable with{.problem = smaller[i], .given = traced[i].given};
    std::unique_ptr<Graph> graph;
    try {
      with.task = &add_task_file(traced[i].task, problem.shown + " at smaller sizes");
      graph = build_graph(*with.task, Preset::smoke);
    } catch (const Error& error) {  // At such sizes its shapes make no sense.
      if (error.code() != ErrorCode::kParse && error.code() != ErrorCode::kShape) throw;
      continue;
    }
    if (!why_not_compared(*graph).empty()) continue;
    with.graph = graph.get();
    with.sizes = "its sizes divided by " + std::to_string(smaller[i].divisor);
    const std::string found = compared(python, with, seconds);
    if (!found.starts_with(kNotCompared)) return found;
  }
  return kNotCompared + why;
}

TracedGraph graph_of(const Traced& traced, const Problem& problem) {
  const Task& task = add_task_file(traced.task, problem.shown + " as it was traced");
  return {&task, build_graph(task, Preset::smoke), traced.sizes};  // Its sizes are numbers.
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
                        {"divisor", problem.divisor}});
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
                    const std::vector<PresetSizes>& presets, double seconds) {
  std::map<Preset, std::string> at = {{Preset::v0_1, problem.sizes}};
  for (const PresetSizes& each : presets) at[each.preset] = each.sizes;
  std::vector<Problem> problems;
  for (const auto& [preset, sizes] : at) {
    problems.push_back(problem);
    problems.back().sizes = sizes;
  }
  const std::vector<Traced> traced = trace(python, problems, seconds);
  size_t place = 0;
  for (const auto& [preset, sizes] : at) {
    const std::string& error = traced[place++].error;
    if (error.empty()) continue;
    const std::string where = at.size() > 1 && preset != Preset::v0_1
                                  ? "at preset " + std::string(name_of(preset)) + ": "
                                  : "";
    throw Error(ErrorCode::kInvalidArgument, where + error);
  }
  std::vector<TracedGraph> graphs;
  if (at.size() == 1) {
    graphs.push_back(graph_of(traced.front(), problem));
  } else {
    for (const Preset preset : kAllPresets) {  // Where one is not given, the next larger one's.
      const auto number = std::distance(at.begin(), at.lower_bound(preset));
      graphs.push_back(graph_of(traced[static_cast<size_t>(number)], problem));
    }
  }
  std::vector<SizedGraph> built;
  for (const TracedGraph& each : graphs) built.push_back({each.sizes, each.graph.get()});
  WrittenTask written{task_file_text(*graphs.front().task, built), traced.back().notes,
                      traced.back().sizes};
  const Preset smallest = at.begin()->first;
  const Task& task = add_task_file(written.text, problem.shown + " as it is written");
  const auto graph = build_graph(task, smallest);
  const std::string too_large = why_not_compared(*graph);
  if (too_large.empty()) {
    const auto faults = reference::faults_of_values(*graph, task.id);
    written.notes.insert(written.notes.end(), faults.suspicious.begin(), faults.suspicious.end());
    if (!faults.not_a_number.empty()) {
      written.notes.push_back("no candidate can be right: " + faults.not_a_number);
    }
  }
  written.compared =
      too_large.empty()
          ? compared(python,
                     {problems.front(), traced.front().given, &task, graph.get(),
                      at.size() > 1 ? "preset " + std::string(name_of(smallest)) : "its sizes"},
                     seconds)
          : compared_at_smaller_sizes(python, problems.front(), seconds, too_large);
  written.text += "module: " + Json(problem.shown + ": " + written.compared).dump() + "\n";
  return written;
}

}  // namespace kbench::from_pytorch
