#include "harness/evaluate/from_pytorch/from_pytorch.h"

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

/// What was traced for a preset, and the sizes that the file had then.
struct TracedPreset {
  Preset preset;
  const Task* task;
  Variables sizes;
};

/// The one place where the graphs of several presets become a file: at present that of v0.1 stands
/// for all, as a file's shapes are numbers.
std::string file_of(const std::vector<TracedPreset>& presets) {
  const TracedPreset& last = presets.back();
  const auto graph = build_graph(*last.task, last.preset);
  return task_file_text(*last.task, *graph, last.preset);
}

}  // namespace

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
  std::vector<Problem> problems;
  for (const PresetSizes& each : presets) {
    problems.push_back(problem);
    problems.back().sizes = each.sizes;
  }
  problems.push_back(problem);
  const std::vector<Traced> traced = trace(python, problems, seconds);
  std::vector<TracedPreset> graphs;
  for (size_t i = 0; i < traced.size(); ++i) {
    const Preset preset = i < presets.size() ? presets[i].preset : Preset::v0_1;
    if (!traced[i].error.empty()) {
      const std::string at =
          i < presets.size() ? "at preset " + std::string(name_of(preset)) + ": " : "";
      throw Error(ErrorCode::kInvalidArgument, at + traced[i].error);
    }
    graphs.push_back({preset, &add_task_file(traced[i].task, problem.shown + " as it was traced"),
                      traced[i].sizes});
  }
  return {file_of(graphs), traced.back().notes, traced.back().sizes};
}

}  // namespace kbench::from_pytorch
