// Verdicts, scores and leaderboards.
#include <set>

#include "harness/frontends/capi/answer.h"
#include "kbench/candidate_source.h"
#include "kbench/certificate.h"
#include "kbench/result.h"
#include "kbench/score.h"
#include "kbench/task.h"
#include "kbench/verdict.h"

namespace kbench::capi {
namespace {

std::vector<Result> results_of(const CallRequest& request) {
  std::vector<Result> results;
  if (request.has("results")) {
    for (const JsonField& item : request["results"].items()) {
      if (!item.is_object()) item.fail("must be a result");
      results.push_back(result_from_json(item.json().dump()));
    }
  }
  if (request.has("files")) {
    for (const JsonField& item : request["files"].items()) {
      const std::string path = item.text();
      expect_readable(path);  // read_results() treats an absent file as empty
      const std::vector<ResultLine> lines = read_result_lines(path);
      require_known_tasks(lines);
      for (const ResultLine& line : lines) results.push_back(line.result);
    }
  }
  return results;
}

/// The chosen tasks, or those with results.
std::vector<TaskId> tasks_of(const CallRequest& request, const std::vector<Result>& results) {
  std::set<TaskId> ids;
  if (request.has("tasks")) {
    for (const Task* task : select_tasks(request["tasks"].text())) ids.insert(task->id);
  } else {
    for (const Result& result : results) {
      if (lookup_task(result.task) != nullptr) ids.insert(result.task);
    }
  }
  return {ids.begin(), ids.end()};
}

/// The tasks that no known shortcut passes, at the sizes of their results.
std::vector<TaskId> certified_of(const std::vector<TaskId>& tasks,
                                 const std::vector<Result>& results) {
  std::vector<TaskId> certified;
  for (const TaskId& id : tasks) {
    for (const Result& result : results) {
      if (result.task != id || result.preset.empty()) continue;
      if (is_certified(certification(result))) certified.push_back(id);
      break;
    }
  }
  return certified;
}

}  // namespace
}  // namespace kbench::capi

using namespace kbench;

extern "C" kbench_status kbench_verdicts(const char* text, char** out) {
  return capi::answer(out, [&] {
    const capi::CallRequest request(text, {});
    capi::json list = capi::json::array();
    for (int i = 0; i <= static_cast<int>(Verdict::harness_error); ++i) {
      const auto verdict = static_cast<Verdict>(i);
      list.push_back({{"name", name_of(verdict)},
                      {"candidates_fault", is_candidates_fault(verdict)},
                      {"explanation", explain(verdict)}});
    }
    return capi::json{{"verdicts", std::move(list)}};
  });
}

extern "C" kbench_status kbench_leaderboard(const char* text, char** out) {
  return capi::answer(out, [&] {
    const capi::CallRequest request(text,
                                    {"results", "files", "tasks", "thresholds", "speedup_of"});
    SpeedupOf which = SpeedupOf::own;
    if (request.has("speedup_of")) which = request["speedup_of"].as(speedup_of_from_name);
    const std::vector<Result> results = with_speedup_of(which, capi::results_of(request));
    const std::vector<TaskId> tasks = capi::tasks_of(request, results);
    std::vector<double> thresholds = {1};
    if (request.has("thresholds")) thresholds = request["thresholds"].reals();
    const auto rows = leaderboard(results, tasks, thresholds, capi::certified_of(tasks, results),
                                  collapsing_tasks());
    return capi::json{{"rows", capi::json::parse(leaderboard_json(rows))},
                      {"text", format_leaderboard(rows)},
                      {"notes", format_leaderboard_notes(rows)}};
  });
}
