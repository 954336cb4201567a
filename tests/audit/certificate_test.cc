// Certificates in files and in the build.
#include "kbench/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kbench/error.h"
#include "kbench/result.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

CertificateFile example() {
  KindTally mutants{.tried = 7, .dead = 2, .no_room = 1, .nearest = {}, .left = {}};
  mutants.nearest = Margin{"left_out", "without relu", 0.25};
  mutants.left = {{"left_out", "without relu", 0.25}};
  KindTally nulls{.tried = 3, .dead = 0, .no_room = 0, .nearest = {}, .left = {}};
  nulls.nearest = Margin{"zeros", "zeros", std::numeric_limits<double>::infinity()};
  CertificateFile file;
  file.preset = Preset::v0;
  file.device = "a \"device\"";
  file.driver = "1.2";
  file.date = "2026-01-02";
  file.kbench = "9.9.9";
  file.dtype = DType::bf16;
  file.tasks = {{{1, 2}, 1e-4, {{VariantKind::null, nulls}, {VariantKind::mutant, mutants}}}};
  return file;
}

TEST(CertificateFile, ComesBackAsItWasWritten) {
  const std::string text = to_json(example());
  const CertificateFile read = parse_certificates(text, "x.json");
  EXPECT_EQ(to_json(read), text);
  EXPECT_EQ(read.preset, Preset::v0);
  EXPECT_EQ(read.dtype, DType::bf16);
  EXPECT_EQ(read.device, "a \"device\"");
  const Certificate& certificate = read.tasks.at(0);
  EXPECT_FALSE(certificate.values());
  EXPECT_EQ(certificate.kinds.at(VariantKind::mutant).dead, 2);
  EXPECT_EQ(certificate.kinds.at(VariantKind::mutant).left.at(0).description, "without relu");
  EXPECT_TRUE(std::isinf(certificate.kinds.at(VariantKind::null).nearest->margin));
}

TEST(CertificateFile, ReportsErrorsWithTheirPlace) {
  std::string text = to_json(example());
  text.replace(text.find("\"tried\":7"), 9, "\"tried\":[]");
  const Error e = error_of([&] { parse_certificates(text, "x.json"); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  EXPECT_THAT(e.what(), ::testing::HasSubstr("x.json"));
  EXPECT_THAT(e.what(), ::testing::HasSubstr("tasks[0].mutant.tried"));
}

/// 1/14 and 1/15 have rewritings that are 1.8 times as fast, 2/22 and 2/40 hardly faster ones.
TEST(Collapsing, AreTrivialTasksAndThoseWithARewritingTwiceAsFast) {
  for (const Task& task : tasks()) {
    EXPECT_TRUE(task.trivial.empty() || collapses(task.id)) << to_string(task.id);
  }
  for (const TaskId& task : {TaskId{2, 13}, TaskId{2, 14}, TaskId{2, 18}, TaskId{2, 51}}) {
    EXPECT_TRUE(collapses(task)) << to_string(task);
  }
  for (const TaskId& task : {TaskId{1, 1}, TaskId{1, 14}, TaskId{1, 15}, TaskId{2, 22}}) {
    EXPECT_FALSE(collapses(task)) << to_string(task);
  }
  EXPECT_EQ(collapsing_tasks().size(), 10u);
  EXPECT_FALSE(collapses({0, 0, "my/mlp", 1}));
}

TEST(CertificateFile, AnExperimentAtOtherSizesIsUntried) {
  Experiment experiment;
  experiment.task = {2, 80};
  experiment.preset = "smoke";
  experiment.certificate = "precision";
  EXPECT_EQ(certification(experiment), kTrivialTask) << "whatever it says itself";
  experiment.task = {1, 19};
  EXPECT_EQ(certification(experiment), kCertifiedPrecision);
  experiment.variables = {{"batch_size", int64_t{12345}}};
  EXPECT_EQ(certification(experiment), kUntried);
  EXPECT_EQ(
      certification(task_at({1, 40}, Preset::v0_1, {{"batch_size", int64_t{1}}}, DType::bf16)),
      kUntried);
  EXPECT_EQ(certification(task_at({1, 40}, Preset::train, {}, DType::f16)), kCertifiedPrecision);
  EXPECT_EQ(certification(task_at({1, 40}, Preset::v0, {}, DType::bf16)), kNotCertified);
  TaskAt own;
  own.task = {0, 0, "my/mlp", 1};
  own.preset = "smoke";
  EXPECT_EQ(certification(own), kUntried);
  EXPECT_FALSE(is_certified(kUntried));
}

TEST(CertificateFile, EveryWordIsExplainedAndNoOther) {
  for (const std::string_view word :
       {kCertifiedPrecision, kCertifiedValues, kNotCertified, kTrivialTask, kUntried}) {
    EXPECT_FALSE(explain_certificate(word).empty()) << word;
  }
  EXPECT_EQ(code_of([] { explain_certificate(""); }), ErrorCode::kInvalidArgument);
}

using FileParam = std::pair<Preset, DType>;
class Carried : public ::testing::TestWithParam<FileParam> {};

TEST_P(Carried, CertificatesAreOfEveryDefinedTaskAndOfItsTolerance) {
  const auto& [preset, dtype] = GetParam();
  const CertificateFile& file = certificates(preset, dtype);
  EXPECT_EQ(file.preset, preset);
  EXPECT_EQ(file.dtype, dtype);
  size_t defined = 0;
  for (const Task& task : tasks()) {
    if (!is_defined(task, dtype)) continue;
    ++defined;
    const TaskAt at = task_at(task.id, preset, {}, dtype);
    const Certificate* certificate = lookup_certificate(at);
    ASSERT_NE(certificate, nullptr) << to_string(task.id);
    EXPECT_EQ(certificate->tolerance, bounds_of(task, dtype).relative) << to_string(task.id);
    EXPECT_GT(certificate->kinds.at(VariantKind::null).tried, 0) << to_string(task.id);
    EXPECT_NE(certification(at), kUntried) << to_string(task.id);
  }
  EXPECT_EQ(file.tasks.size(), defined);
}

INSTANTIATE_TEST_SUITE_P(
    Presets, Carried,
    ::testing::Values(FileParam{Preset::smoke, DType::f32}, FileParam{Preset::v0, DType::f32},
                      FileParam{Preset::v0_1, DType::f32}, FileParam{Preset::smoke, DType::f16},
                      FileParam{Preset::smoke, DType::bf16}, FileParam{Preset::v0_1, DType::f16},
                      FileParam{Preset::v0_1, DType::bf16}));

}  // namespace
}  // namespace kbench
