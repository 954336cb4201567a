#include "harness/evaluate/from_pytorch/from_pytorch.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/evaluate/from_pytorch/script.h"
#include "kbench/error.h"
#include "kbench/task_file.h"
#include "libkbench/base/text.h"

namespace kbench::from_pytorch {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kStartSeconds = 60;  ///< for importing torch on a busy machine

Traced traced_of(const Json& answer) {
  Traced traced;
  traced.error = answer.value("error", "");
  if (!traced.error.empty()) return traced;
  traced.task = answer.at("task");
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

/// The answers of a process in which the file's code has run: they are read with care.
std::vector<Traced> answers_in(const std::string& text, size_t count) {
  try {
    const Json answers = Json::parse(text);
    std::vector<Traced> all;
    for (const Json& answer : answers) all.push_back(traced_of(answer));
    if (all.size() == count) return all;
  } catch (const nlohmann::json::exception&) {
  }
  throw Error(ErrorCode::kCompile,
              "the process that traces a problem's file gives no answer that "
              "can be read");
}

/// Sizes near smoke's, one constant changed in each: at those where the module can be traced it is
/// seen what follows from which constant.
std::vector<std::string> sizes_around(const Variables& smoke) {
  constexpr size_t kMost = 32;
  std::vector<std::string> all;
  for (const bool doubled : {true, false}) {
    for (const auto& [name, value] : smoke) {
      const auto* own = std::get_if<int64_t>(&value);
      if (own == nullptr || *own < 1 || all.size() >= kMost) continue;
      Variables other = smoke;
      other[name] = doubled ? 2 * *own : *own + 1;
      all.push_back(sizes_text(other));
    }
  }
  return all;
}

/// A graph that was traced at some sizes of the file.
struct TracedGraph {
  const Task* task;
  std::unique_ptr<Graph> graph;
  Variables sizes;
};

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

std::vector<Traced> trace(runner::PythonHelper& python, std::span<const Problem> problems,
                          double seconds) {
  runner::PythonJob job{.package = "torch", .script = trace_script()};
  job.whose = "the problem's";
  job.seconds = kStartSeconds + (seconds + 1) * static_cast<double>(problems.size());
  Json requests = Json::array();
  for (size_t i = 0; i < problems.size(); ++i) {
    const Problem& problem = problems[i];
    const std::string file = "problem_" + std::to_string(i) + ".py";
    job.files[file] = problem.text;
    requests.push_back({{"file", file},
                        {"shown", problem.shown},
                        {"name", problem.name},
                        {"title", problem.title},
                        {"sizes", problem.sizes}});
  }
  job.input = Json({{"seconds", seconds}, {"requests", requests}})
                  .dump(-1, ' ', false, Json::error_handler_t::replace);
  try {
    return answers_in(python.run(job), problems.size());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kTimeout) {
      throw Error(error.code(), "tracing took longer than " + number_text(job.seconds) + " s");
    }
    if (error.code() == ErrorCode::kUnsupported) {
      throw Error(error.code(), "tracing a problem's file: " + error.message());
    }
    throw;
  }
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
    std::vector<Problem> others;
    for (const std::string& sizes : sizes_around(traced.front().sizes)) {
      others.push_back(problem);
      others.back().sizes = sizes;
    }
    for (const Traced& each : trace(python, others, seconds)) {
      if (each.error.empty()) graphs.push_back(graph_of(each, problem));
    }
  }
  std::vector<SizedGraph> built;
  for (const TracedGraph& each : graphs) built.push_back({each.sizes, each.graph.get()});
  return {task_file_text(*graphs.front().task, built), traced.back().notes, traced.back().sizes};
}

}  // namespace kbench::from_pytorch
