// Every task at smoke in every precision: no shortcut passes that its certificate does not list,
// declared dead parts are dead, and honest variants pass with a factor of two to spare.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/measure/audit/audit.h"
#include "kbench/certificate.h"
#include "kbench/task.h"

namespace kbench::audit {
namespace {

class AuditedTask : public ::testing::TestWithParam<Task> {};

struct TaskInType {
  Task task;
  DType dtype;
};
class TaskInEveryType : public ::testing::TestWithParam<TaskInType> {};

std::vector<TaskInType> tasks_in_every_type() {
  std::vector<TaskInType> all;
  for (const DType dtype : kTaskDTypes) {
    for (const Task& task : tasks()) all.push_back({task, dtype});
  }
  return all;
}

std::set<std::string> recorded(const Certificate& certificate, VariantKind kind) {
  std::set<std::string> left;
  const auto found = certificate.kinds.find(kind);
  if (found == certificate.kinds.end()) return left;
  for (const Margin& each : found->second.left) left.insert(each.description);
  return left;
}

/// Has thousands of variants, some of them slow.
bool is_large(const Graph& graph) {
  constexpr size_t kLargeGraph = 60;
  constexpr double kMuchWork = 1e8;  // FLOPs
  return graph.nodes().size() > kLargeGraph || graph.flops() >= kMuchWork;
}

/// Of a large graph, and in halves, only nulls and the variants nearest to the limit are tried.
AuditOptions options_for(const Graph& graph, const Certificate& certificate) {
  AuditOptions options;
  if (!is_large(graph) && !is_half(graph.dtype())) return options;
  for (const auto& [kind, tally] : certificate.kinds) {
    if (tally.nearest) options.descriptions.insert(tally.nearest->description);
  }
  return options;
}

/// Of networks that differ only in depth the smallest is audited here, as the others take as long
/// as all other tasks. `kbench-dev audit` makes their certificates.
bool is_a_deeper_one(const Task& task) {
  const TaskId kVgg19{3, 12}, kDenseNet201{3, 16};
  return task.id == kVgg19 || task.id == kDenseNet201;
}

TEST_P(TaskInEveryType, LetsNothingPassButWhatItsCertificateSays) {
  const auto& [task, dtype] = GetParam();
  if (is_a_deeper_one(task)) GTEST_SKIP() << "its shallower sibling is audited";
  if (is_half(dtype)) {
    ASSERT_TRUE(task.honest.contains(dtype)) << "no honest error: kbench-dev audit --tolerances";
  }
  if (!is_defined(task, dtype)) return;
  const auto graph = build_graph(task, Preset::smoke, {}, dtype);
  if (is_half(dtype) && is_large(*graph)) GTEST_SKIP() << "audited in float32";
  const Certificate* certificate = lookup_certificate(task_at(task.id, Preset::smoke, {}, dtype));
  ASSERT_NE(certificate, nullptr)
      << "make one: kbench-dev audit --out levels/certificates/FILE --dtype " << name_of(dtype);
  EXPECT_EQ(certificate->tolerance, bounds_of(task, dtype).relative) << "make it again";
  const auto evaluator = make_host_evaluator(task, *graph);
  const TaskAudit audit = audit_task(task, *graph, *evaluator, options_for(*graph, *certificate));
  for (const Tried& tried : audit.tried) {
    if (!tried.not_tried.empty()) continue;
    const bool honest = tried.kind == VariantKind::honest;
    const std::string what =
        std::string(name_of(tried.kind)) + " '" + tried.margin.description + "'";
    if (tried.dead != nullptr) {
      EXPECT_TRUE(tried.identical || tried.margin.margin > 1)
          << what << " passes and is called dead, but is not the task in float64";
      continue;
    }
    if (!task.trivial.empty() && !honest) continue;
    const bool left = honest ? tried.margin.margin > 0.5 && std::isfinite(tried.margin.margin)
                             : tried.margin.margin <= 1;
    if (!left) continue;
    EXPECT_TRUE(recorded(*certificate, tried.kind).contains(tried.margin.description))
        << what << (honest ? " needs " : " passes with ") << tried.margin.margin
        << " of the tolerance";
  }
}

TEST_P(AuditedTask, SaysWhichParametersNothingReads) {
  const Task& task = GetParam();
  const auto graph = build_graph(task, Preset::smoke);
  std::set<int> read(graph->outputs().begin(), graph->outputs().end());
  for (const Graph::Node& node : graph->nodes()) {
    read.insert(node.inputs.begin(), node.inputs.end());
  }
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph->values_of(kind)) {
      const std::string& name = graph->values()[static_cast<size_t>(id)].name;
      EXPECT_EQ(find_dead(task, "parameter " + name) != nullptr, !read.contains(id)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, TaskInEveryType, ::testing::ValuesIn(tasks_in_every_type()),
                         [](const auto& info) {
                           const TaskId id = info.param.task.id;
                           return "level" + std::to_string(id.level) + "_" +
                                  std::to_string(id.number) + "_" +
                                  std::string(name_of(info.param.dtype));
                         });
INSTANTIATE_TEST_SUITE_P(Suite, AuditedTask, ::testing::ValuesIn(tasks()), [](const auto& info) {
  return "level" + std::to_string(info.param.id.level) + "_" + std::to_string(info.param.id.number);
});

}  // namespace
}  // namespace kbench::audit
