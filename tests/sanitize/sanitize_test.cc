// Candidates under compute-sanitizer: what a checker prints is read, a checker is believed only by
// its plants, and findings become labels or a verdict. A script stands in for NVIDIA's program.

#include "harness/evaluate/sanitize/sanitize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/evaluate/self_test/self_test.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "tests/scratch_folder.h"

namespace kbench::sanitize {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kMemcheck[] = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at k(const float *, float *, long long)+0x160 in /tmp/my/past.yaml:14
=========     by thread (1,0,0) in block (0,0,0)
=========     Address 0x7f6510600400 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f6510600000 of size 1,024 bytes
=========
========= Invalid __global__ write of size 4 bytes
=========     at k(const float *, float *, long long)+0x160 in /tmp/my/past.yaml:14
=========     by thread (2,0,0) in block (0,0,0)
=========     Address 0x7f6510600404 is out of bounds
=========
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to "unspecified launch failure" on CUDA API call to cuCtxSynchronize.
=========
========= ERROR SUMMARY: 3 errors
)";

constexpr char kRacecheck[] = R"(========= COMPUTE-SANITIZER
the program's own words
========= Error: Race reported between Write access at k(const float *, float *, int, int)+0x4a0 in race.yaml:17
=========     and Read access at k(const float *, float *, int, int)+0x5d0 in race.yaml:19 [248 hazards]
=========
========= Error: Race reported between Write access at k(const float *, float *, int, int)+0x4a0 in race.yaml:17
=========     and Read access at k(const float *, float *, int, int)+0x5d0 in race.yaml:19 [16 hazards]
=========
========= Warning: Race reported between Write access at other(float *)+0x10 in race.yaml:30
=========     and Read access at other(float *)+0x20 in race.yaml:31 [4 hazards]
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
)";

constexpr char kInitcheck[] = R"(========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void reduce<float, (int)4>(T1 *)+0xb0
=========     by thread (0,0,0) in block (17,0,0)
=========     Address 0x7f49ae000000
=========
========= ERROR SUMMARY: 1 error
)";

constexpr char kSynccheck[] = R"(========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in warp.
=========     at 0x70 in /tmp/my/divergent.cu:52:myKernel(int *, const float *)
=========     by thread (32,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
)";

TEST(CheckerReport, OfMemcheckHasTheKernelAndItsLineOnce) {
  const CheckerReport report = read_report("memcheck", kMemcheck);
  EXPECT_EQ(report.errors, 3);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(in_words(report.findings[0]),
            "memcheck: kernel k(const float *, float *, long long) (past.yaml:14): "
            "Invalid __global__ write of size 4 bytes");
}

TEST(CheckerReport, OfRacecheckHasBothAccessesOnceAndNoWarning) {
  const CheckerReport report = read_report("racecheck", kRacecheck);
  EXPECT_EQ(report.errors, 2);
  EXPECT_EQ(report.last_words, "the program's own words");
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kernel, "k(const float *, float *, int, int)");
  EXPECT_EQ(report.findings[0].line, 17);
  EXPECT_THAT(report.findings[0].text,
              EndsWith("Race reported between Write access at k(const float *, float *, int, int) "
                       "in race.yaml:17 and Read access at k(const float *, float *, int, int) "
                       "in race.yaml:19"));
}

TEST(CheckerReport, OfCodeWithoutLinesHasItsKernel) {
  const CheckerReport report = read_report("initcheck", kInitcheck);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(in_words(report.findings[0]),
            "initcheck: kernel void reduce<float, (int)4>(T1 *): "
            "Uninitialized __global__ memory read of size 4 bytes");
}

TEST(CheckerReport, OfAnOlderReleaseIsReadToo) {
  const CheckerReport report = read_report("synccheck", kSynccheck);
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kernel, "myKernel(int *, const float *)");
  EXPECT_EQ(report.findings[0].file, "divergent.cu");
  EXPECT_EQ(report.findings[0].line, 52);
}

TEST(CheckerReport, IsCleanOnlyByItsSummary) {
  const CheckerReport clean = read_report(
      "racecheck", "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  EXPECT_EQ(clean.errors, 0);
  EXPECT_THAT(clean.findings, IsEmpty());
  const CheckerReport broken =
      read_report("memcheck",
                  "========= COMPUTE-SANITIZER\nkbench: cuInit gave 100\n"
                  "========= Error: process didn't terminate successfully\n");
  EXPECT_EQ(broken.errors, std::nullopt);
  EXPECT_THAT(broken.findings, IsEmpty());
  EXPECT_EQ(broken.last_words, "kbench: cuInit gave 100");
  EXPECT_EQ(read_report("memcheck", "========= Error: Cannot find executable 'x'\n").last_words,
            "Error: Cannot find executable 'x'");
}

TEST(Sanitize, NamesItsProgramSoThatAnotherProcessFindsIt) {
  const std::string path = path_for_others("/proc/self/exe");
  EXPECT_EQ(std::system(("cmp -s " + path + " /proc/$PPID/exe").c_str()), 0) << path;
  EXPECT_NE(std::system(("cmp -s " + path + " /proc/self/exe").c_str()), 0) << path;
  EXPECT_EQ(path_for_others("/usr/bin/kbench"), "/usr/bin/kbench");
}

/// A machine with a GPU and a compute-sanitizer, of which a script plays the part: a checker finds
/// what the order that it is given says by its candidate's words.
class UnderCheckers : public ::testing::Test {
 protected:
  void SetUp() override { setenv("KBENCH_CACHE", "", 1); }  // No pass of an earlier test is found.
  void TearDown() override { unsetenv("KBENCH_CACHE"); }

  /// `rest`: what the script does behind `find WORD CHECKER`, which prints a finding if the order
  /// has the word and the checker is that one.
  void install(const std::string& rest) {
    folder_.write("bin/compute-sanitizer", R"(#!/bin/sh
tool=none order=none
while [ $# -gt 0 ]; do
  [ "$1" = --tool ] && tool=$2
  order=$1
  shift
done
errors=0
find() {
  if [ "$tool" = "$2" ] && grep -q "$1" "$order"; then
    echo "========= Invalid access"
    echo "=========     at k(float *)+0x10 in c.yaml:9"
    errors=1
  fi
}
)" + rest);
    std::filesystem::permissions(folder_ / "bin/compute-sanitizer",
                                 std::filesystem::perms::owner_all);
  }
  Result checked(const std::string& comment, Sanitize how = Sanitize::label) {
    vulkan::DeviceSnapshot device;
    device.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    device.name = "a GPU";
    device.device_uuid[0] = ++machines_;  // Of its own belief.
    Question question;
    question.candidate = CandidateSource({{"c.yaml", R"(# )" + comment + R"(
kbench: 1
task: level1/19
kernels:
  k:
    language: cuda
    source: "__global__ void k(const float* x, float* y) {}"
dispatch:
  - {kernel: k, args: [x, output], block: 256, grid: 1}
)"}});
    question.candidate.manifest = "c.yaml";
    question.rule.sanitize = how;
    Result result;
    result.verdict = Verdict::passed;
    result.task = {1, 19};
    result.preset = "v0.1";
    result.lane = "cuda";
    result.samples = 8;
    result.speedup = {1.9, 2, 2.1};
    check({device, "/proc/self/exe", folder_.path("bin/compute-sanitizer")}, question, {}, result);
    return result;
  }

  /// Finds each planted fault by a word of it, and a candidate's that says "racy".
  static constexpr char kHonest[] = R"(
find 't.255 + threadIdx' memcheck
find 'others still write' racecheck
find 'threadIdx.x < 255' initcheck
find '% 2 == 0) __sync' synccheck
find racy racecheck
echo "========= ERROR SUMMARY: $errors errors"
)";

  kbench::testing::ScratchFolder folder_;
  static inline uint8_t machines_ = 0;
};

TEST_F(UnderCheckers, ACandidateIsCleanByAllThatAreBelieved) {
  install(kHonest);
  const Result result = checked("fine", Sanitize::fail);
  ASSERT_TRUE(result.sanitized);
  EXPECT_THAT(result.sanitized->unknown, IsEmpty());
  EXPECT_THAT(result.sanitized->clean,
              ElementsAre("memcheck", "racecheck", "initcheck", "synccheck"));
  EXPECT_THAT(result.sanitized->findings, IsEmpty());
  EXPECT_EQ(result.sanitized->preset, "smoke");
  EXPECT_EQ(result.verdict, Verdict::passed);
}

TEST_F(UnderCheckers, AFindingIsALabel) {
  install(kHonest);
  const Result result = checked("racy");
  EXPECT_EQ(result.verdict, Verdict::passed);
  ASSERT_THAT(result.sanitized->findings, SizeIs(1));
  EXPECT_EQ(in_words(result.sanitized->findings[0]),
            "racecheck: kernel k(float *) (c.yaml:9): Invalid access");
  EXPECT_THAT(result.sanitized->clean, ElementsAre("memcheck", "initcheck", "synccheck"));
  EXPECT_EQ(result.samples, 8);
}

TEST_F(UnderCheckers, AFindingIsARaceWhereItIsToFail) {
  install(kHonest);
  const Result result = checked("racy", Sanitize::fail);
  EXPECT_EQ(result.verdict, Verdict::race);
  EXPECT_EQ(result.message,
            "at preset smoke: racecheck: kernel k(float *) (c.yaml:9): Invalid access");
  EXPECT_EQ(result.samples, 0);
  EXPECT_EQ(result.speedup.point, 0);
}

TEST_F(UnderCheckers, OneThatMissesItsPlantIsNotBelieved) {
  install(R"(
find 't.255 + threadIdx' memcheck
find 'threadIdx.x < 255' initcheck
find '% 2 == 0) __sync' synccheck
find racy racecheck
echo "========= ERROR SUMMARY: $errors errors"
)");
  const Result result = checked("racy", Sanitize::fail);
  EXPECT_EQ(result.verdict, Verdict::passed);
  EXPECT_THAT(result.sanitized->clean, ElementsAre("memcheck", "initcheck", "synccheck"));
  EXPECT_THAT(result.sanitized->unknown,
              ElementsAre("racecheck is not believed on this machine: planted candidate "
                          "sanitize/racecheck/race must be race, and is passed"));
}

TEST_F(UnderCheckers, OneThatFindsAFaultInACleanTwinIsNotBelieved) {
  install(std::string("find 'last two elements' memcheck\n") + kHonest);
  const Result result = checked("fine");
  EXPECT_THAT(result.sanitized->unknown,
              ElementsAre(HasSubstr("sanitize/memcheck/clean must be passed, and is race")));
}

TEST_F(UnderCheckers, NothingIsKnownOfOneThatDoesNotEnd) {
  install(R"(
if [ "$tool" = initcheck ] && grep -q unending "$order"; then
  echo "kbench: cuMemAlloc gave 2" >&2
  exit 2
fi
)" + std::string(kHonest));
  const Result result = checked("unending");
  EXPECT_THAT(result.sanitized->clean, ElementsAre("memcheck", "racecheck", "synccheck"));
  EXPECT_THAT(result.sanitized->unknown,
              ElementsAre("initcheck did not finish: its process exited with status 2: "
                          "kbench: cuMemAlloc gave 2"));
}

TEST_F(UnderCheckers, AStopIsObeyed) {
  install(kHonest);
  std::stop_source stop;
  stop.request_stop();
  Result result;
  EXPECT_THROW(check({{}, "/proc/self/exe", folder_.path("bin/compute-sanitizer")}, {},
                     stop.get_token(), result),
               Cancelled);
}

TEST_F(UnderCheckers, AMachineThatLacksTheProgramOrADeviceOfNvidiasIsTold) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.path("none").c_str(), 1);
  vulkan::DeviceSnapshot software;
  software.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
  const auto told = [&] {
    try {
      return find_sanitizer(software);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      return error.message();
    }
  };
  if (!std::filesystem::exists("/usr/local/cuda/bin/compute-sanitizer")) {
    EXPECT_THAT(told(), HasSubstr("--sanitize takes NVIDIA's compute-sanitizer"));
  }
  install(kHonest);
  setenv("PATH", folder_.path("bin").c_str(), 1);
  EXPECT_THAT(told(), HasSubstr("launches no CUDA kernels"));
  setenv("PATH", path.c_str(), 1);
}

TEST(Plants, OfEachCheckerAreAFaultAndItsTwin) {
  for (const char* checker : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    std::vector<Verdict> verdicts;
    for (const auto& plant : self_test::plants(std::string("sanitize/") + checker)) {
      verdicts.push_back(*plant.verdicts.begin());
      EXPECT_NO_THROW(candidate_from_files(plant.file, {{plant.file, plant.text}})) << plant.name;
    }
    std::ranges::sort(verdicts);
    EXPECT_THAT(verdicts, ElementsAre(Verdict::passed, Verdict::race)) << checker;
  }
}

}  // namespace
}  // namespace kbench::sanitize
