// A judge with short sampling, for candidates that are texts.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kbench/evaluate.h"
#include "tests/candidate/support.h"
#include "tests/support/devices.h"

namespace kbench::testing {

class EvaluatorTest : public ::testing::Test {
 protected:
  static std::unique_ptr<JudgeProcess>& shared() {
    static std::unique_ptr<JudgeProcess> judge;
    return judge;
  }
  static void TearDownTestSuite() { shared().reset(); }
  void SetUp() override {
    KBENCH_NEED_DEVICE();
    where_.program = KBENCH_PROGRAM;
    asked_.preset = "smoke";
    asked_.plan.max_seconds = 0.05;
    asked_.plan.min_samples = 4;
    asked_.rule.other_sizes = OtherSizes::none;  // other_sizes_test.cc
  }

  /// The one judge of a test, started when it is first needed, on the device that is chosen then;
  /// of a suite, where the tests share one.
  JudgeProcess& judge() {
    std::unique_ptr<JudgeProcess>& held = shares_ ? shared() : judge_;
    if (!held) held = std::make_unique<JudgeProcess>(where_);
    return *held;
  }
  void end_judge() { judge_.reset(); }
  Question about(const CandidateSource& candidate, bool check = false) const {
    Question question = asked_;
    question.candidate = candidate;
    question.check = check;
    return question;
  }
  Result ask(const CandidateSource& candidate, std::stop_token stop = {}) {
    return judge().evaluate(about(candidate), observer_, std::move(stop));
  }
  Result check(const CandidateSource& candidate) {
    return judge().evaluate(about(candidate, /*check=*/true), observer_, {});
  }
  Result run(const std::string& yaml) { return ask(file_of(yaml)); }
  std::string file_of(const std::string& yaml) {
    folder_.write("candidate.yaml", yaml);
    return folder_.path("candidate.yaml");
  }

  /// A candidate for ReLU (level1/19) of one kernel: these declarations, and this body of main(),
  /// where `i` is the invocation. `more`: top level entries of the file, `bind`: what the step
  /// binds, `elements`: how many a workgroup takes.
  static std::string glsl(const std::string& declarations, const std::string& body,
                          const std::string& more = "", const std::string& bind = "x, output",
                          const std::string& elements = "64") {
    std::string source = "#version 450\n" + declarations +
                         "layout(local_size_x = 64) in;\n"
                         "void main() {\n  const uint i = gl_GlobalInvocationID.x;\n  " +
                         body + "\n}\n";
    for (size_t at = 0; at < source.size(); at = source.find('\n', at) + 1) {
      source.insert(at, "      ");
    }
    return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    source: |\n" + source + more +
           "dispatch:\n  - {kernel: k, bind: [" + bind +
           "], groups: [\"ceil_div(batch_size * dim, " + elements + ")\"]}\n";
  }
  /// Of floats x[] and y[], n of them; `more` and `bind` as above.
  static std::string relu(const std::string& body, const std::string& more = "",
                          const std::string& bind = "x, output") {
    return glsl(
        "layout(binding = 0) buffer X { float x[]; };\n"
        "layout(binding = 1) buffer Y { float y[]; };\n"
        "const uint n = KB_batch_size * KB_dim;\n",
        body, more, bind);
  }
  static std::string right() { return relu("if (i < n) y[i] = max(x[i], 0.0);"); }
  /// ReLU where the condition holds, else 7; `t` is a temporary of 64 words that nothing writes.
  static std::string where(const std::string& condition) {
    std::string yaml = relu("if (i < n) y[i] = " + condition + " ? max(x[i], 0.0) : 7.0;",
                            "temps:\n  t: {dtype: u32, shape: [64]}\n", "x, output, t");
    return yaml.insert(yaml.find("      const uint n"),
                       "      layout(binding = 2) readonly buffer T { uint t[]; };\n");
  }
  /// Writes where no memory is, by an address. `more` as above, `address`: of which buffer.
  static std::string wild(const std::string& more = "", const std::string& address = "output") {
    return "kbench: 1\n"
           "task: level1/19\n"
           "kernels:\n"
           "  k:\n"
           "    source: |\n"
           "      #version 450\n"
           "      #extension GL_EXT_buffer_reference : require\n"
           "      #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
           "      layout(local_size_x = 1) in;\n"
           "      layout(buffer_reference, std430) buffer Out { float value; };\n"
           "      layout(binding = 0) buffer Y { float y[]; };\n"
           "      layout(push_constant) uniform Push { uint64_t to; };\n"
           "      void main() { Out(to + (uint64_t(1) << 45)).value = 1.0; y[0] = 0.0; }\n" +
           more + "dispatch:\n  - {kernel: k, bind: [output], push: [{address: " + address +
           "}], groups: [1]}\n";
  }
  /// Days of work, in loops far shorter than those that llvmpipe ends by itself.
  static std::string hanging() {
    std::string yaml =
        relu("float v = x[i % n]; for (int r = 0; r < 20000; ++r) v = sin(v) + 1.0; y[i % n] = v;");
    return yaml.replace(yaml.find("groups: ["), std::string::npos, "groups: [65535, 65535]}\n");
  }

  /// The candidate's result, which has this verdict and these words.
  Result fails(const std::string& yaml, Verdict verdict, const std::string& message = "") {
    Result result = run(yaml);
    EXPECT_EQ(name_of(result.verdict), name_of(verdict)) << result.message << "\n" << yaml;
    EXPECT_THAT(result.message, ::testing::HasSubstr(message)) << yaml;
    return result;
  }
  /// The messages of its diagnostics, but for notes on times, which depend on how busy this machine
  /// is.
  static std::vector<std::string> said_of(const Result& result) {
    std::vector<std::string> said;
    for (const Diagnostic& each : result.diagnostics) {
      const bool of_times = each.message.starts_with("bound by the host") ||
                            each.message.starts_with("timed by runs of one call");
      if (!of_times) said.push_back(each.message);
    }
    return said;
  }
  /// Its stages account for all of its time.
  static void expect_accounted(const Result& result) {
    double sum = 0;
    for (const auto& [stage, seconds] : result.stage_s) sum += stage == "queue" ? 0 : seconds;
    EXPECT_NEAR(sum, result.wall_s, 0.05 * result.wall_s + 0.02) << to_json(result);
  }
  Result passes(const std::string& yaml) { return fails(yaml, Verdict::passed); }
  void expect(const std::string& body, Verdict verdict, const std::string& message = "") {
    fails(relu(body), verdict, message);
  }
  void expect_right() { passes(right()); }

  /// A judge takes longer to start than most tests take: where a suite asks for it, the tests that
  /// leave the options alone have one together.
  bool shares_ = false;
  JudgeOptions where_;
  Question asked_;  ///< of every candidate
  Observer observer_;
  testing_support::ScratchFolder folder_;

 private:
  std::unique_ptr<JudgeProcess> judge_;
};

}  // namespace kbench::testing
