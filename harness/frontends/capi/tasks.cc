// The list of tasks, and one task.
#include "harness/frontends/capi/answer.h"
#include "kbench/candidate.h"
#include "kbench/certificate.h"
#include "kbench/listing.h"
#include "kbench/prompts.h"
#include "kbench/task.h"
#include "kbench/task_file.h"

using namespace kbench;
using capi::answer;
using capi::json;

extern "C" {

kbench_status kbench_tasks(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {"select"});
    std::vector<const Task*> chosen;
    if (request.has("select")) {
      chosen = select_tasks_and_files(request["select"].text());
    } else {
      for (const Task& task : tasks()) chosen.push_back(&task);
    }
    json list = json::array();
    for (const Task* task : chosen) {
      list.push_back({{"task", to_string(task->id)},
                      {"name", task->name},
                      {"family", task->family},
                      {"tolerance", task->tolerance.relative},
                      {"trivial", task->trivial},
                      {"collapses", collapses(task->id)}});
    }
    return json{{"tasks", std::move(list)}};
  });
}

kbench_status kbench_show(const char* text, char** out) {
  return answer(out, [&] {
    const capi::CallRequest request(text, {"task", "preset", "overrides", "dtype", "candidate"});
    const Task& task = capi::task_of(request);
    const auto graph = build_graph(task_at(task.id, capi::preset_of(request),
                                           capi::overrides_of(request), capi::dtype_of(request)));
    json shown = {{"facts", json::parse(facts_json(task, *graph))},
                  {"text", folded_listing(task, *graph)}};
    if (request.has("candidate") && request["candidate"].boolean()) {
      shown["candidate"] = eager_candidate_yaml(task, *graph);
    }
    return shown;
  });
}

}  // extern "C"
