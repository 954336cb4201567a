// The trial from a candidate's text to its verdict, on whatever device there is.

#include "harness/trial/trial.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/trial/eager_run.h"
#include "kbench/compare.h"
#include "kbench/reference.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::trial {
namespace {

class TrialTest : public vulkan::DeviceTest {
 protected:
  /// Runs a trial of a candidate's text at preset smoke.
  Result run(const std::string& yaml, EvaluateOptions options = {}) {
    const Candidate candidate =
        parse_candidate(yaml, "test.yaml", std::filesystem::temp_directory_path().string());
    const Task& task = find_task(candidate.task);
    const auto graph = build_graph(task, Preset::smoke);
    const ResolvedCandidate resolved = resolve(candidate, *graph);
    Result result;
    result.preset = name_of(Preset::smoke);
    run_trial(device(), task, *graph, resolved, options, result);
    return result;
  }
  /// A candidate for ReLU (level1/19) of one kernel with this body; `i` is the element.
  static std::string relu(const std::string& body, const std::string& more = "") {
    return "kbench: 1\n"
           "task: level1/19\n"
           "kernels:\n"
           "  k:\n"
           "    source: |\n"
           "      #version 450\n"
           "      layout(local_size_x = 64) in;\n"
           "      layout(binding = 0) buffer X { float x[]; };\n"
           "      layout(binding = 1) buffer Y { float y[]; };\n"
           "      const uint n = KB_batch_size * KB_dim;\n"
           "      void main() {\n"
           "        const uint i = gl_GlobalInvocationID.x;\n"
           "        " +
           body +
           "\n"
           "      }\n" +
           more +
           "dispatch:\n"
           "  - {kernel: k, bind: [x, output], groups: [\"ceil_div(batch_size * dim, 64)\"]}\n";
  }
  Verdict verdict_of(const std::string& body) {
    const Result result = run(relu(body));
    last_ = result.message;
    return result.verdict;
  }

  std::string last_;
};

TEST_F(TrialTest, ARightKernelPassesWithAnInterval) {
  const Result result = run(relu("if (i < n) y[i] = max(x[i], 0.0);"));
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  EXPECT_GE(result.samples, 10);
  EXPECT_GT(result.speedup.low, 0);
  EXPECT_LE(result.speedup.low, result.speedup.point);
  EXPECT_LE(result.speedup.point, result.speedup.high);
  EXPECT_GT(result.candidate_ms, 0);
  EXPECT_GT(result.gbytes_per_s, 0);
  EXPECT_GT(result.compile_s, 0);
  EXPECT_LE(result.max_error, 1e-6);
}

TEST_F(TrialTest, TheBaselineAgainstItselfIsNearOne) {
  for (const TaskId id : {TaskId{1, 19}, TaskId{1, 1}, TaskId{2, 76}}) {
    const Task& task = find_task(id);
    const auto graph = build_graph(task, Preset::smoke);
    EvaluateOptions options;
    options.plan.min_samples = 31;
    const Result result = run(eager_candidate_yaml(task, *graph), options);
    EXPECT_EQ(result.verdict, Verdict::passed) << to_string(id) << " " << result.message;
    EXPECT_EQ(result.max_error, 0) << to_string(id);
    // A loaded machine blurs the times of a software device; a factor of two would be a bug.
    EXPECT_GT(result.speedup.point, 0.6) << to_string(id);
    EXPECT_LT(result.speedup.point, 1.6) << to_string(id);
  }
}

TEST_F(TrialTest, UnwrittenOutputsAreFound) {
  EXPECT_EQ(verdict_of("if (i > 100u * n) y[i] = x[i];"), Verdict::not_written) << last_;
  EXPECT_EQ(verdict_of("if (i < n / 2) y[i] = max(x[i], 0.0);"), Verdict::partly_written) << last_;
}

TEST_F(TrialTest, WrongValuesAreFound) {
  EXPECT_EQ(verdict_of("if (i < n) y[i] = x[i];"), Verdict::wrong_values) << last_;
  EXPECT_EQ(verdict_of("if (i < n) y[i] = 0.0;"), Verdict::all_zero) << last_;
  EXPECT_EQ(verdict_of("if (i < n) y[i] = max(x[i], 0.0) + (i == 77 ? 1.0 : 0.0);"),
            Verdict::wrong_values);
  EXPECT_NE(last_.find("1 of "), std::string::npos) << last_;
  EXPECT_EQ(verdict_of("if (i < n) y[i] = i == 3 ? uintBitsToFloat(0x7fc00000u) : max(x[i], 0.0);"),
            Verdict::not_finite)
      << last_;
}

TEST_F(TrialTest, WritesToInputsAreFound) {
  EXPECT_EQ(verdict_of("if (i < n) { y[i] = max(x[i], 0.0); if (i == 5) x[i] += 1.0; }"),
            Verdict::input_modified);
  EXPECT_NE(last_.find("input x"), std::string::npos) << last_;
}

TEST_F(TrialTest, WritesOutsideBuffersAreFound) {
  EXPECT_EQ(verdict_of("if (i < n) y[i] = max(x[i], 0.0); if (i == 0) y[n] = 1.0;"),
            Verdict::out_of_bounds);
  EXPECT_NE(last_.find("0 bytes past its end"), std::string::npos) << last_;
  EXPECT_EQ(verdict_of("if (i < n) y[i] = max(x[i], 0.0); if (i == 0) x[n + 100] = 1.0;"),
            Verdict::out_of_bounds);
  EXPECT_NE(last_.find("outside x"), std::string::npos) << last_;
}

TEST_F(TrialTest, ReportsCompileErrorsWithTheirLine) {
  const Result result = run(relu("y[i] = undeclared;"));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  EXPECT_NE(result.message.find("undeclared"), std::string::npos) << result.message;
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics.front().line, 13);
}

TEST_F(TrialTest, MemoryThatDoesNotFitIsRefusedBeforeItIsAllocated) {
  std::string yaml = relu("if (i < n) y[i] = max(x[i], 0.0);",
                          "temps:\n  huge: {dtype: f32, shape: [1000000, 1000000, 4]}\n");
  yaml.replace(yaml.find("output]"), 7, "output, huge]");
  const Result result = run(yaml);
  EXPECT_EQ(result.verdict, Verdict::out_of_memory) << result.message;
}

TEST_F(TrialTest, ARunOverItsTimeLimitIsATimeout) {
  // A limit no run can hold stands in for a kernel that never ends.
  EvaluateOptions options;
  options.limits.device_seconds = 0;
  const std::string yaml = relu("if (i < n) y[i] = max(x[i], 0.0);");
  Candidate candidate =
      parse_candidate(yaml, "test.yaml", std::filesystem::temp_directory_path().string());
  const Task& task = find_task(candidate.task);
  const auto graph = build_graph(task, Preset::smoke);
  const ResolvedCandidate resolved = resolve(candidate, *graph);
  // A device of its own: a hung one is of no more use.
  auto own = vulkan::Device::open({.selector = "auto", .validate = false});
  Result result;
  result.preset = name_of(Preset::smoke);
  const Error error =
      vulkan::error_of([&] { run_trial(*own, task, *graph, resolved, options, result); });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_EQ(result.verdict, Verdict::timeout);
}

TEST_F(TrialTest, AFixedSeedRepeatsTheSamples) {
  EvaluateOptions options;
  options.seed = 5;
  const std::string wrong = relu("if (i < n) y[i] = x[i] < 2.0 ? max(x[i], 0.0) : 2.0;");
  const std::string first = run(wrong, options).message;
  EXPECT_EQ(run(wrong, options).message, first);
  options.seed = 6;
  EXPECT_NE(run(wrong, options).message, first);
}

TEST_F(TrialTest, RequiredBytesCoverEveryBuffer) {
  const Task& task = find_task({1, 19});
  const auto graph = build_graph(task, Preset::smoke);
  const int64_t tensor = graph->values().front().type.bytes();
  EXPECT_GE(required_bytes(*graph, device().snapshot()),
            static_cast<uint64_t>(3 * tensor) + device().plan().flush_bytes);
}

TEST_F(TrialTest, TheEagerBaselineIsRightOnThisDevice) {
  for (const TaskId id : {TaskId{1, 23}, TaskId{1, 51}, TaskId{2, 1}}) {
    const Task& task = find_task(id);
    const auto graph = build_graph(task, Preset::smoke);
    EXPECT_EQ(baseline_fault(device(), task, *graph, 7), "") << to_string(id);
  }
}

}  // namespace
}  // namespace kbench::trial
