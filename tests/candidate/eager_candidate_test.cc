#include "kbench/task.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

bool same_call(const OperatorCall& a, const OperatorCall& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.outputs != b.outputs) return false;
  if (a.attributes.size() != b.attributes.size()) return false;
  for (const auto& [name, value] : a.attributes) {
    const AttributeValue* other = b.attributes.find(name);
    if (other == nullptr || *other != value) return false;
  }
  return true;
}

TEST(EagerCandidate, ResolvesToTheGraphsOwnCallsForEveryTask) {
  ASSERT_FALSE(tasks().empty());
  for (const Task& task : tasks()) {
    for (const Preset preset : kAllPresets) {
      SCOPED_TRACE(to_string(task.id) + " " + std::string(name_of(preset)));
      const auto graph = build_graph(task, preset);
      const std::string yaml = eager_candidate_yaml(task, *graph);
      const Candidate candidate = parse_candidate(yaml, "eager.yaml", ".");
      EXPECT_EQ(candidate.task, task.id);
      const ResolvedCandidate resolved = resolve(candidate, *graph);
      EXPECT_TRUE(resolved.setup.empty());
      size_t step = 0;
      for (const auto& node : graph->nodes()) {
        if (node.call.op->is_view) continue;
        ASSERT_LT(step, resolved.dispatch.size());
        EXPECT_TRUE(same_call(resolved.dispatch[step].call, node.call))
            << node.call.op->name << "\n"
            << yaml;
        ++step;
      }
      EXPECT_EQ(step, resolved.dispatch.size());
    }
  }
}

/// Replays the steps symbolically: every operand must hold the graph value the node asks for.
TEST(EagerCandidate, ReusesNoTemporaryThatIsStillNeeded) {
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_string(task.id));
    const auto graph = build_graph(task, Preset::smoke);
    const Candidate candidate =
        parse_candidate(eager_candidate_yaml(task, *graph), "eager.yaml", ".");
    const ResolvedCandidate resolved = resolve(candidate, *graph);
    std::vector<int> root(graph->values().size());
    std::vector<int> held(resolved.buffers.size(), -1);  // buffer -> the value it holds
    for (size_t i = 0; i < root.size(); ++i) root[i] = static_cast<int>(i);
    for (size_t b = 0; b < held.size(); ++b) {
      const BufferSlot& slot = resolved.buffers[b];
      if (slot.kind != BufferSlot::Kind::output) held[b] = slot.value;
    }
    size_t step = 0;
    for (const auto& node : graph->nodes()) {
      if (node.call.op->is_view) {
        root[static_cast<size_t>(node.outputs[0])] = root[static_cast<size_t>(node.inputs[0])];
        continue;
      }
      const auto& bind = resolved.dispatch[step++].bind;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        EXPECT_EQ(held[static_cast<size_t>(bind[i])], root[static_cast<size_t>(node.inputs[i])]);
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        held[static_cast<size_t>(bind[node.inputs.size() + i])] = node.outputs[i];
      }
    }
    for (size_t b = 0; b < held.size(); ++b) {
      const BufferSlot& slot = resolved.buffers[b];
      if (slot.kind != BufferSlot::Kind::output) continue;
      EXPECT_EQ(held[b], root[static_cast<size_t>(slot.value)]);
    }
  }
}

}  // namespace
}  // namespace kbench
