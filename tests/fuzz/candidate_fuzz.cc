// Candidate files: parsed, and worked out against small tasks.
#include <map>

#include "kbench/candidate.h"
#include "kbench/task.h"
#include "tests/fuzz/fuzz.h"

namespace kbench::fuzz {
namespace {

/// The graph a candidate is held against: its own task's where that is small, else ReLU's.
const Graph& graph_for(TaskId id) {
  static const TaskId small[] = {{1, 19}, {1, 1}, {1, 23}, {1, 50}, {2, 1}};
  static std::map<TaskId, std::unique_ptr<Graph>> graphs;
  TaskId chosen = small[0];
  for (const TaskId& each : small) {
    if (each == id) chosen = each;
  }
  auto& graph = graphs[chosen];
  if (!graph) graph = build_graph(find_task(chosen), Preset::smoke);
  return *graph;
}

}  // namespace
}  // namespace kbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  fuzz::succeeds([&] {
    const Candidate candidate =
        parse_candidate(fuzz::text_of(data, size), "candidate.yaml", "/nonexistent");
    DeviceNumbers device;
    for (const std::string& name : device_number_names()) device[name] = 64;
    resolve(candidate, fuzz::graph_for(candidate.task), device);
  });
  return 0;
}
