#include "harness/measure/judge/failure_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/certificate.h"
#include "kbench/task.h"

namespace kbench::judge {

namespace {

using ::testing::HasSubstr;
using Kind = RunnerFailure::Kind;

Finding blamed(Kind kind, const char* stage, bool ran, ErrorCode code = ErrorCode::kInternal) {
  const RunnerFailure failure{kind, code, "said so"};
  const TimeLimit limit = stage == std::string("compile")
                              ? compile_limit(Limits{}, runner::RunnerKind::vulkan)
                              : run_limit(Limits{}, false);
  return failure_verdict(failure, {stage, ran, nullptr, {}, limit}, Limits{});
}

TEST(FailureVerdict, NamesTheLimitThatWasSet) {
  const Finding compiling = blamed(Kind::timeout, "compile", false);
  EXPECT_EQ(compiling.verdict, Verdict::timeout);
  EXPECT_EQ(compiling.message,
            "took longer than 30 s while compiling; --compile-seconds sets the limit");
  EXPECT_EQ(blamed(Kind::timeout, "sample", true).message,
            "took longer than 10 s while running on the device (sample); --device-seconds sets the "
            "limit");
  const RunnerFailure hang{Kind::device, ErrorCode::kTimeout, "said so"};
  const TimeLimit run = run_limit(Limits{}, false);
  EXPECT_THAT(failure_verdict(hang, {"warm-up", true, nullptr, {"relu"}, run}, Limits{}).message,
              HasSubstr("(warm-up), kernel relu; --device-seconds sets the limit"));
  EXPECT_THAT(failure_verdict(hang, {"warm-up", true, nullptr, {"a", "b"}, run}, Limits{}).message,
              HasSubstr("(warm-up), one of its kernels a, b; --device-seconds"));
  EXPECT_EQ(blamed(Kind::device, "warm-up", true, ErrorCode::kTimeout).verdict, Verdict::timeout);
}

TEST(FailureVerdict, NamesTheLimitOfCompilingThatActed) {
  const RunnerFailure failure{RunnerFailure::Kind::device, ErrorCode::kTimeout, "too long"};
  const auto said = [&](const Limits& limits, runner::RunnerKind kind) {
    const Finding found = failure_verdict(
        failure, {.stage = "compile", .limit = compile_limit(limits, kind)}, limits);
    EXPECT_EQ(found.verdict, Verdict::timeout);
    return found.message;
  };
  EXPECT_EQ(said({.compile_seconds = 7}, runner::RunnerKind::vulkan),
            "took longer than 7 s while compiling; --compile-seconds sets the limit");
  EXPECT_EQ(said({.compile_seconds = 7}, runner::RunnerKind::torch),
            "took longer than 42 s while compiling; six times --compile-seconds sets the limit");
  EXPECT_EQ(said({.compile_seconds = 7, .total_seconds = 5}, runner::RunnerKind::torch),
            "took longer than 5 s while compiling; --total-seconds sets the limit");
  const RunnerFailure late{RunnerFailure::Kind::late, ErrorCode::kTimeout, ""};
  EXPECT_EQ(failure_verdict(late, {.stage = "compile"}, {.total_seconds = 5}).message,
            "took longer than 5 s in all, while compiling; --total-seconds sets the limit");
}

TEST(FailureVerdict, NamesTheLimitThatActsWhereAModuleMayCompile) {
  Limits limits;
  limits.device_seconds = 2;
  limits.compile_seconds = 25;
  const RunnerFailure hang{Kind::timeout, ErrorCode::kInternal, "said so"};
  const auto said = [&](bool compiles) {
    return failure_verdict(hang, {"warm-up", true, nullptr, {}, run_limit(limits, compiles)},
                           limits)
        .message;
  };
  EXPECT_THAT(said(true), HasSubstr("took longer than 25 s while running on the device (warm-up)"));
  EXPECT_THAT(said(true), HasSubstr("--compile-seconds sets the limit"));
  EXPECT_THAT(said(false), HasSubstr("took longer than 2 s"));
  EXPECT_THAT(said(false), HasSubstr("--device-seconds sets the limit"));
  limits.device_seconds = 60;
  EXPECT_THAT(said(true), HasSubstr("took longer than 60 s"));
}

TEST(FailureVerdict, NamesTheLimitOfAll) {
  const Finding late = blamed(Kind::late, "warm-up", true);
  EXPECT_EQ(late.verdict, Verdict::timeout);
  EXPECT_EQ(late.message,
            "took longer than 120 s in all, while running on the device (warm-up); "
            "--total-seconds sets the limit");
}

TEST(FailureVerdict, ARunnerThatEndsIsACrashedCandidate) {
  for (const Kind kind : {Kind::ended, Kind::malformed}) {
    for (const char* stage : {"load", "compile", "sample"}) {
      EXPECT_EQ(blamed(kind, stage, true).verdict, Verdict::crashed) << stage;
    }
  }
  EXPECT_EQ(blamed(Kind::memory, "compile", false).verdict, Verdict::out_of_memory);
}

TEST(FailureVerdict, TheDeviceIsInDoubtOnlyWhereItWasTheTrials) {
  for (const char* stage : {"load", "compile", "queue"}) EXPECT_FALSE(on_device(stage)) << stage;
  for (const char* stage : {"warm-up", "sample"}) EXPECT_TRUE(on_device(stage)) << stage;
}

TEST(FailureVerdict, AKillFromOutsideIsAHarnessError) {
  const Finding killed = blamed(Kind::killed, "sample", true);
  EXPECT_EQ(killed.verdict, Verdict::harness_error);
  EXPECT_THAT(killed.message, HasSubstr("not by kbench"));
}

TEST(FailureVerdict, NoThreadsIsTheCandidatesOnceItHasRun) {
  EXPECT_EQ(blamed(Kind::starved, "compile", false).verdict, Verdict::harness_error);
  EXPECT_EQ(blamed(Kind::starved, "warm-up", false).verdict, Verdict::harness_error);
  EXPECT_EQ(blamed(Kind::starved, "sample", true).verdict, Verdict::crashed);
}

TEST(FailureVerdict, AHarnessFaultIsTheCandidatesOnceItHasRun) {
  EXPECT_EQ(blamed(Kind::device, "compile", false).verdict, Verdict::harness_error);
  EXPECT_EQ(blamed(Kind::device, "sample", true).verdict, Verdict::crashed);
  EXPECT_EQ(blamed(Kind::device, "sample", true, ErrorCode::kDeviceLost).verdict,
            Verdict::device_lost);
  EXPECT_EQ(blamed(Kind::device, "compile", false, ErrorCode::kCompile).verdict,
            Verdict::compile_error);
}

TEST(FailureVerdict, AWriteToAnInputIsNamedOnceItHasRun) {
  const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
  RunnerFailure failure{Kind::wrote, ErrorCode::kInternal, "wrote", 0};
  const Finding found = failure_verdict(failure, {"sample", true, graph.get()}, Limits{});
  EXPECT_EQ(found.verdict, Verdict::input_modified);
  EXPECT_THAT(found.message, HasSubstr("input x was written to"));
  failure.given = 77;
  EXPECT_THAT(failure_verdict(failure, {"sample", true, graph.get()}, Limits{}).message,
              HasSubstr("an input was written to"));
  EXPECT_EQ(failure_verdict(failure, {"compile", false, graph.get()}, Limits{}).verdict,
            Verdict::crashed);
}

TEST(FailureVerdict, AWriteBesideAnInputIsOutOfBounds) {
  const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
  RunnerFailure failure{Kind::wrote, ErrorCode::kInternal, "wrote", 0};
  failure.place = runner::WriteFault::Place::behind;
  failure.bytes = 400;
  Finding found = failure_verdict(failure, {"sample", true, graph.get()}, Limits{});
  EXPECT_EQ(found.verdict, Verdict::out_of_bounds);
  EXPECT_EQ(found.message, "wrote outside input x, the first 400 bytes past its end");
  failure.place = runner::WriteFault::Place::before;
  failure.bytes = 8;
  found = failure_verdict(failure, {"sample", true, graph.get()}, Limits{});
  EXPECT_EQ(found.message, "wrote outside input x, the first 8 bytes before its start");
}

TEST(FailureVerdict, ARunnersLastWordsSayWhereItWrote) {
  using runner::write_fault_of;
  using Place = runner::WriteFault::Place;
  const std::string words = "wrote to what may only be read: ";
  EXPECT_EQ(write_fault_of("something else").tensor, -1);
  EXPECT_EQ(write_fault_of(words).tensor, -1);
  EXPECT_EQ(write_fault_of(words + "3=0").tensor, 3);
  EXPECT_EQ(write_fault_of(words + "3=0").place, Place::inside);
  EXPECT_EQ(write_fault_of(words + "12+400").tensor, 12);
  EXPECT_EQ(write_fault_of(words + "12+400").place, Place::behind);
  EXPECT_EQ(write_fault_of(words + "12+400").bytes, 400u);
  EXPECT_EQ(write_fault_of(words + "0-8").place, Place::before);
  EXPECT_EQ(write_fault_of(words + "0-8").bytes, 8u);
}

using ::testing::Not;

Finding slightly_wrong(const runner::Built& built, std::string_view certificate) {
  const auto graph = build_graph(find_task({1, 22}), Preset::smoke);
  return with_causes({Verdict::low_precision, "wrong"}, built, *graph, certificate);
}

TEST(Causes, ValuesSayLowPrecisionOnlyWhereTheyCanTell) {
  EXPECT_EQ(slightly_wrong({}, kCertifiedPrecision).verdict, Verdict::low_precision);
  EXPECT_EQ(slightly_wrong({}, kUntried).verdict, Verdict::low_precision);
  EXPECT_EQ(slightly_wrong({}, kCertifiedValues).verdict, Verdict::wrong_values);
  EXPECT_EQ(slightly_wrong({}, kNotCertified).verdict, Verdict::wrong_values);
}

TEST(Causes, AModulesOwnTypesSayLowPrecisionEverywhere) {
  runner::Built built;
  built.float16_kernel = "half";
  const Finding found = slightly_wrong(built, kCertifiedValues);
  EXPECT_EQ(found.verdict, Verdict::low_precision);
  EXPECT_THAT(found.message, HasSubstr("kernel half computes in float16"));
}

TEST(Causes, ApproximateFunctionsAreNamed) {
  runner::Built built;
  built.approximations = "kernel t uses tanh.approx.f32";
  EXPECT_THAT(slightly_wrong(built, kCertifiedPrecision).message,
              HasSubstr("wrong; kernel t uses tanh.approx.f32, approximate functions as "
                        "--use_fast_math and intrinsics make them"));
  EXPECT_THAT(slightly_wrong({}, kCertifiedPrecision).message, Not(HasSubstr("approximate")));
}

}  // namespace

}  // namespace kbench::judge
