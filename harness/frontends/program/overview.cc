#include "harness/frontends/program/overview.h"

#include <algorithm>
#include <set>
#include <vector>

#include "harness/evaluate/client/device_list.h"
#include "harness/frontends/program/candidate_sets.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/plan.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "kbench/version.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

std::string device_line() {
  try {
    vulkan::DeviceSnapshot device = vulkan::choose_device(client::list_snapshots(), "auto");
    vulkan::plan_device(device);
    return "on " + shown(device.name) + (device.software() ? ", a software device" : "");
  } catch (const Error& e) {
    return "on no device yet: " + shown(e.what());
  }
}

std::string sets_table() {
  try {
    std::vector<std::vector<std::string>> rows = {{"set", "tasks", "folder"}};
    std::set<TaskId> tasks;
    size_t evaluations = 0;
    for (const CandidateSet& set : read_candidate_sets({})) {
      rows.push_back({set.name, std::to_string(set.entries.size()), shown(set.folder)});
      evaluations += set.entries.size();
      for (const auto& [task, entry] : set.entries) tasks.insert(task);
    }
    return counted(evaluations, "evaluation") + " of " + counted(tasks.size(), "task") +
           ", from the sets that ship:\n\n" + format_table(rows);
  } catch (const Error& e) {
    return "nothing yet: " + shown(e.what()) + "\n";
  }
}

}  // namespace

std::string overview() {
  return std::string("kbench ") + version() + " judges GPU kernels. Its main job is to run " +
         sets_table() + "\n" + device_line() + R"(.

Start it:
  kbench --fast-p 1.0                              those sets; prints the leaderboard
  kbench --candidates my/ --fast-p 0,0.5,1,2 --output results.jsonl
                                                   your own, over all tasks; resumable

Or begin here:
  kbench list                                      the tasks
  kbench show relu                                 what one asks for
  kbench run my/relu.yaml                          one candidate, in full
  kbench help                                      every flag and verb; kbench help VERB
)";
}

}  // namespace kbench::program
