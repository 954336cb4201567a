// Audits of small tasks with known faults.
#include "harness/measure/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kbench/ops.h"

namespace kbench::audit {
namespace {

using ::testing::Contains;
using ::testing::Not;

/// Sums of a thousand numbers, similar in all rows: the mean of other inputs passes.
void sum_of_alike(Graph& g) {
  g.output(sum(g.input("x", {4, 4096}, uniform(0.9999, 1.0001)), {.axis = 1}));
}
void plain_softmax(Graph& g) { g.output(softmax(g.input("x", {4, 64}), 1)); }
void relu_twice(Graph& g) { g.output(relu(relu(g.input("x", {4, 64})))); }
void cancelling(Graph& g) {
  auto x = g.input("x", {4, 64}, normal(1000, 1));
  g.output(x - mean(x, {.axis = 1, .keepdim = true}));
}

Task task_of(void (*build)(Graph&)) {
  Task task;
  task.id = {9, 1};
  task.name = "Small";
  task.build = build;
  return task;
}

TaskAudit audited(const Task& task) {
  Graph graph;
  task.build(graph);
  const auto evaluator = make_host_evaluator(task, graph);
  return audit_task(task, graph, *evaluator);
}

std::vector<std::string> left(const Certificate& certificate, VariantKind kind) {
  std::vector<std::string> names;
  const auto found = certificate.kinds.find(kind);
  if (found == certificate.kinds.end()) return names;
  for (const Margin& each : found->second.left) names.push_back(each.description);
  return names;
}

TEST(Audit, FindsThatAConstantPasses) {
  const Task task = task_of(sum_of_alike);
  const Certificate certificate = certificate_of(audited(task));
  EXPECT_THAT(left(certificate, VariantKind::null), Contains("the outputs for other inputs"));
  EXPECT_THAT(left(certificate, VariantKind::null), Not(Contains("zeros")));
  EXPECT_FALSE(certificate.values());
  EXPECT_EQ(certification(task, certificate), kNotCertified);
}

TEST(Audit, CertifiesATaskThatNothingPasses) {
  const Task task = task_of(plain_softmax);
  const Certificate certificate = certificate_of(audited(task));
  EXPECT_TRUE(certificate.precision());
  for (const VariantKind kind : {VariantKind::null, VariantKind::mutant, VariantKind::precision}) {
    ASSERT_TRUE(certificate.kinds.at(kind).nearest);
    EXPECT_GT(certificate.kinds.at(kind).nearest->margin, 1);
  }
  EXPECT_LT(certificate.kinds.at(VariantKind::honest).nearest->margin, 0.5);
  EXPECT_EQ(certification(task, certificate), kCertifiedPrecision);
}

TEST(Audit, ADeadOperatorIsExcusedByItsProofAndIsTheTaskInFloat64) {
  Task task = task_of(relu_twice);
  const TaskAudit without = audited(task);
  EXPECT_THAT(left(certificate_of(without), VariantKind::mutant),
              Contains("without relu (number 2 of 2)"));
  for (const Tried& tried : without.tried) {
    if (tried.margin.description == "without relu (number 2 of 2)") {
      EXPECT_TRUE(tried.identical);
    }
  }
  task.dead = {{{"without relu (number ?*"}, "relu(relu(x)) = relu(x)"}};
  const Certificate certificate = certificate_of(audited(task));
  EXPECT_TRUE(certificate.values());
  EXPECT_GT(certificate.kinds.at(VariantKind::mutant).dead, 0);
}

TEST(Audit, ASumOverMostTermsThatPassesIsASubsetWithinNoise) {
  const Certificate alike = certificate_of(audited(task_of(sum_of_alike)));
  EXPECT_THAT(left(alike, VariantKind::subset),
              Contains("sum over all but every 32nd element, scaled to all"));
  EXPECT_TRUE(alike.subset_within_noise());
  const Certificate telling = certificate_of(audited(task_of(plain_softmax)));
  EXPECT_GT(telling.kinds.at(VariantKind::subset).nearest->margin, 1);
  EXPECT_FALSE(telling.subset_within_noise());
}

/// Honest, and measured with a kernel that adds 16,384 partial results by atomicAdd.
TEST(Audit, TheToleranceOfLongSumsPassesAtomicsTwofold) {
  EXPECT_GE(find_task({2, 55}).tolerance.relative, 2 * 7.8e-6);
}

/// On the CPU reference, one term after another.
void expect_twofold_in_one_float(TaskId id, Preset preset, const Variables& overrides = {}) {
  const Task& task = find_task(id);
  const auto graph = build_graph(task, preset, overrides);
  const auto evaluator = make_host_evaluator(task, *graph);
  AuditOptions options;
  options.only = "in one float";
  const TaskAudit audit = audit_task(task, *graph, *evaluator, options);
  EXPECT_FALSE(audit.tried.empty()) << to_string(id);
  for (const Tried& tried : audit.tried) {
    EXPECT_LE(tried.margin.margin, 0.5) << to_string(id) << " " << tried.margin.description;
  }
}

TEST(Audit, SumsInOneFloatPassTwofoldAtV0) {
  for (const TaskId& id : {TaskId{1, 39}, TaskId{1, 100}, TaskId{2, 44}}) {
    expect_twofold_in_one_float(id, Preset::v0);
  }
}

/// Two samples of v0.1, whose sums are the longest: 393,216 terms, and 258,064.
TEST(Audit, SumsInOneFloatPassTwofoldAtV01) {
  for (const TaskId& id : {TaskId{1, 23}, TaskId{1, 24}, TaskId{2, 21}}) {
    expect_twofold_in_one_float(id, Preset::v0_1, {{"batch_size", int64_t{2}}});
  }
}

TEST(Audit, ATrivialTaskIsNeverCertified) {
  Task task = task_of(plain_softmax);
  task.trivial = "said so";
  EXPECT_EQ(certification(task, certificate_of(audited(task))), kTrivialTask);
}

TEST(Audit, AnHonestVariantThatNeedsTheToleranceIsLeft) {
  Task task = task_of(cancelling);
  task.tolerance.relative = 1e-6;  // float32 at 1000 knows its numbers to 6e-5
  const Certificate certificate = certificate_of(audited(task));
  EXPECT_FALSE(left(certificate, VariantKind::honest).empty());
  EXPECT_FALSE(certificate.values());
}

TEST(Audit, TriesOnlyTheKindsAskedFor) {
  const Task task = task_of(plain_softmax);
  Graph graph;
  task.build(graph);
  const auto evaluator = make_host_evaluator(task, graph);
  AuditOptions options;
  options.kinds = {VariantKind::null};
  for (const Tried& tried : audit_task(task, graph, *evaluator, options).tried) {
    EXPECT_EQ(tried.kind, VariantKind::null) << tried.margin.description;
  }
}

// --- halves --------------------------------------------------------------------------------------

void long_product(Graph& g) {
  g.output(relu(matmul(g.input("a", {16, 2048}), g.input("b", {2048, 16}))));
}

TaskAudit audited_in(DType dtype, const Task& task) {
  Graph graph({}, dtype);
  task.build(graph);
  const auto evaluator = make_host_evaluator(task, graph);
  return audit_task(task, graph, *evaluator);
}

double margin_of(const TaskAudit& audit, const std::string& description) {
  for (const Tried& tried : audit.tried) {
    if (tried.margin.description == description) return tried.margin.margin;
  }
  ADD_FAILURE() << "no variant " << description;
  return 0;
}

TEST(Audit, ValuesStoredInTheTasksOwnHalfAreHonestAndFewerBitsAreNot) {
  Task task = task_of(long_product);
  task.honest[DType::f16] = {.relative = 5e-4, .rms = 1.2e-4, .elements = 256};
  task.honest[DType::bf16] = {.relative = 4e-3, .rms = 1e-3, .elements = 256};
  const TaskAudit f16 = audited_in(DType::f16, task);
  EXPECT_LT(margin_of(f16, "every operator with its result stored in float16"), 0.8);
  EXPECT_GT(margin_of(f16, "matmul with operands rounded to bfloat16"), 1);
  EXPECT_GT(margin_of(f16, "matmul with one operand rounded to bfloat16"), 1);
  EXPECT_GT(margin_of(f16, "matmul with operands rounded to float8_e4m3"), 1);
  EXPECT_GT(margin_of(f16, "matmul with its sum kept in float16"), 1);
  const TaskAudit bf16 = audited_in(DType::bf16, task);
  EXPECT_LT(margin_of(bf16, "every operator with its result stored in bfloat16"), 0.8);
  EXPECT_GT(margin_of(bf16, "matmul with one operand rounded to float8_e4m3"), 1);
  EXPECT_GT(margin_of(bf16, "matmul with its sum kept in bfloat16"), 1);
}

TEST(Audit, AFloat32TaskHasNoVariantsOfHalves) {
  for (const Tried& tried : audited(task_of(long_product)).tried) {
    EXPECT_EQ(tried.margin.description.find("stored in"), std::string::npos);
    EXPECT_EQ(tried.margin.description.find("sum kept in"), std::string::npos);
    EXPECT_EQ(tried.margin.description.find("float8"), std::string::npos);
  }
}

void logarithm_of_small(Graph& g) { g.output(log(g.input("x", {64}, uniform(0, 1e-9)))); }

TEST(Audit, WhereTheTruthOfHalvesIsNotFiniteNothingIsNearIt) {
  const TaskAudit audit = audited_in(DType::f16, task_of(logarithm_of_small));
  EXPECT_TRUE(std::isinf(margin_of(audit, "the CPU reference in float32"))) << "log(0)";
}

}  // namespace
}  // namespace kbench::audit
