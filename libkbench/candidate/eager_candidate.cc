// A task's graph written out as a candidate of built-in steps.
#include "kbench/candidate.h"
#include "libkbench/candidate/eager_steps.h"

namespace kbench {

std::string eager_candidate_yaml(const Task& task, const Graph& graph) {
  EagerSteps written(task, graph,
                     {[](const Shape& shape) { return to_string(shape); },
                      [](const AttributeValue& value) { return to_string(value); }});
  written.write();
  return "# The eager baseline of " + to_string(task.id) + " (" + task.name +
         ") as a candidate: one built-in operator a step.\n# Shapes are those of " +
         sizes_read(graph) + ".\nkbench: 1\ntask: " + to_string(task.id) + "\n" +
         dtype_line(graph) + "name: eager\n" +
         (written.temps().empty() ? "" : "temps:\n" + written.temps()) + "dispatch:\n" +
         written.steps();
}

}  // namespace kbench
