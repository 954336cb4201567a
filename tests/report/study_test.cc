#include "harness/evaluate/report/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/metrics/made_attempts.h"
#include "tests/scoring/example_result.h"
#include "tests/scratch_folder.h"

namespace kbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::passed;
using testing::ScratchFolder;
using testing::wrong;

const TaskId kA = {1, 19}, kB = {2, 1};

void write_attempts(const std::string& path, const std::vector<Attempt>& attempts) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path);
  for (const Attempt& attempt : attempts) file << to_json(attempt) << '\n';
}

std::string refusal(const std::vector<std::string>& paths) {
  return error_of([&] { read_study(paths, {}); }).what();
}

TEST(Study, TakesTasksAndSamplesFromTheRunsSettings) {
  const ScratchFolder folder;
  write_attempts(folder.path("attempts.jsonl"), {passed("m", kA, 1, 1.5)});
  folder.write("run.yaml", "samples: 3\ntasks: [level1/19, level2/1]\n");
  const Study study = read_study({folder.path()}, {});
  EXPECT_EQ(study.scope.tasks, (std::vector<TaskId>{kA, kB}));
  EXPECT_EQ(study.scope.samples, 3);
  const std::vector<Draws> samples =
      draws(study.attempts, study.participants[0].model, study.scope);
  EXPECT_EQ(samples[0].lost, 2);
  EXPECT_EQ(samples[1].lost, 3);
}

TEST(Study, OfARunWithoutSettingsIsOfWhatOccurs) {
  const ScratchFolder folder;
  write_attempts(folder.path("attempts.jsonl"), {passed("m", kB, 1, 1.5), wrong("n", kA, 1)});
  const Study study = read_study({folder.path()}, {});
  EXPECT_EQ(study.scope.tasks.size(), 2u);
  EXPECT_EQ(read_study({folder.path()}, {kA}).scope.tasks.size(), 1u);
  EXPECT_EQ(study.participants.size(), 2u);
}

TEST(Study, TellsModelsOfOneNameInTwoRunsApart) {
  const ScratchFolder folder;
  write_attempts(folder.path("one/attempts.jsonl"), {passed("m", kA, 1, 1.5)});
  write_attempts(folder.path("two/attempts.jsonl"), {wrong("m", kA, 1), wrong("other", kA, 1)});
  const Study study = read_study({folder.path("one"), folder.path("two") + "/"}, {});
  ASSERT_EQ(study.participants.size(), 3u);
  EXPECT_EQ(study.participants[0].name, "one/m");
  EXPECT_EQ(study.participants[1].name, "two/m");
  EXPECT_EQ(study.participants[2].name, "other");
  EXPECT_EQ(study.attempts.find_model("two/m"), study.participants[1].model);
}

TEST(Study, CountsATaskThatASetHasNoResultForAsFailed) {
  const ScratchFolder folder;
  Result result = testing::example();
  result.verdict = Verdict::passed;
  result.baseline_ms = 0.1;
  folder.write("results.jsonl", to_json(result) + "\n");
  const Study study = read_study({folder.path("results.jsonl")}, {kA, kB});
  EXPECT_TRUE(study.software_device);
  const std::vector<Draws> samples =
      draws(study.attempts, study.participants[0].model, study.scope);
  EXPECT_EQ(samples[0].c, 1);
  EXPECT_EQ(samples[1].n, 1);
  EXPECT_EQ(samples[1].c, 0);
  EXPECT_EQ(samples[1].lost, 0);
}

/// A line of results of a set.
std::string line_of(TaskId task, const std::string& set, const std::string& preset = "smoke",
                    bool software = false) {
  Result result = testing::example();
  result.verdict = Verdict::passed;
  result.baseline_ms = 0.1;
  result.task = task;
  result.set = set;
  result.preset = preset;
  result.software_device = software;
  result.busy = software;
  return to_json(result) + "\n";
}

TEST(Study, SeveralCandidatesOfASetForOneTaskAreItsSamples) {
  const ScratchFolder folder;
  const auto line = [](const std::string& candidate, const std::string& hash) {
    Result result = result_from_json(line_of(kA, "mine"));
    result.candidate = candidate;
    result.candidate_hash = hash;
    return to_json(result) + "\n";
  };
  const std::string lines = line("s1/candidate.yaml", "1") + line("s2/candidate.yaml", "2") +
                            line("other.yaml", "3") + line("s2/candidate.yaml", "edited");
  folder.write("1.jsonl", lines);
  Study study = read_study({folder.path("1.jsonl")}, {});
  ASSERT_EQ(study.participants.size(), 1u);
  const auto samples = [&] {
    return draws(study.attempts, study.participants[0].model, study.scope).at(0).n;
  };
  EXPECT_EQ(samples(), 3) << "the edited one takes the place of the earlier";
  // A run's candidates are where their paths say.
  folder.write("2.jsonl", line("level1_019/s01/a1/candidate.yaml", "1") +
                              line("level1_019/s01/a2/candidate.yaml", "2") +
                              line("level1_019/s03/a1/candidate.yaml", "1"));
  study = read_study({folder.path("2.jsonl")}, {});
  EXPECT_EQ(samples(), 2);
  EXPECT_EQ(study.attempts.longest_chain(), 2);
}

TEST(Study, FilesThatAreShardsOfOneSetAreOneModel) {
  const ScratchFolder folder;
  const TaskId c = {2, 2};
  folder.write("1.jsonl", line_of(kA, "mine"));
  folder.write("2.jsonl", line_of(kB, "mine"));
  folder.write("3.jsonl", line_of(c, "mine"));
  const Study study =
      read_study({folder.path("1.jsonl"), folder.path("2.jsonl"), folder.path("3.jsonl")}, {});
  ASSERT_EQ(study.participants.size(), 1u);
  EXPECT_EQ(study.participants[0].name, "mine");
  EXPECT_TRUE(study.notes.empty());
  EXPECT_EQ(study.sources.at(0).paths().size(), 3u);
  for (const Draws& of : draws(study.attempts, study.participants[0].model, study.scope)) {
    EXPECT_EQ(of.c, 1);
    EXPECT_EQ(of.n, 1);
  }
}

TEST(Study, FilesOfOneSetThatDoNotAgreeAreTwoModelsWithANote) {
  const ScratchFolder folder;
  folder.write("1.jsonl", line_of(kA, "mine"));
  Result other = result_from_json(line_of(kB, "mine"));
  other.driver = "another";
  folder.write("2.jsonl", to_json(other) + "\n");
  folder.write("again.jsonl", line_of(kA, "mine"));
  const Study sizes = read_study({folder.path("1.jsonl"), folder.path("2.jsonl")}, {});
  EXPECT_EQ(sizes.participants.size(), 2u);
  ASSERT_EQ(sizes.notes.size(), 1u);
  EXPECT_THAT(sizes.notes[0], HasSubstr("differ in device, driver"));
  const Study twice = read_study({folder.path("1.jsonl"), folder.path("again.jsonl")}, {});
  EXPECT_EQ(twice.participants.size(), 2u);
  ASSERT_EQ(twice.notes.size(), 1u);
  EXPECT_THAT(twice.notes[0], HasSubstr("of the same tasks"));
  folder.write("other.jsonl", line_of(kA, "theirs"));
  EXPECT_TRUE(read_study({folder.path("1.jsonl"), folder.path("other.jsonl")}, {}).notes.empty());
}

/// The same in halves.
std::string half_line_of(TaskId task, const std::string& set) {
  Result result = result_from_json(line_of(task, set));
  result.dtype = DType::f16;
  return to_json(result) + "\n";
}

TEST(Study, IsOfOneDtypeWhichIsChosenWhereThereAreSeveral) {
  const ScratchFolder folder;
  folder.write("both.jsonl", line_of(kA, "mine") + half_line_of(kA, "mine"));
  folder.write("half.jsonl", half_line_of(kB, "theirs"));
  EXPECT_EQ(read_study({folder.path("half.jsonl")}, {}).dtype, DType::f16);
  EXPECT_THAT(refusal({folder.path("both.jsonl")}),
              AllOf(HasSubstr("a report is of one dtype"), HasSubstr("f32 ("), HasSubstr("f16 ("),
                    HasSubstr("--dtype")));
  const Study study = read_study({folder.path("both.jsonl"), folder.path("half.jsonl")}, {}, "f16");
  EXPECT_EQ(study.dtype, DType::f16);
  EXPECT_EQ(study.recorded_attempts, 2);
}

TEST(Study, IsOfOnePresetWhichIsChosenWhereThereAreSeveral) {
  const ScratchFolder folder;
  folder.write("both.jsonl", line_of(kA, "mine") + line_of(kB, "mine", "v0"));
  const auto refuses_two = AllOf(HasSubstr("a report is of one preset"), HasSubstr("smoke ("),
                                 HasSubstr("v0 ("), HasSubstr("choose by --preset"));
  EXPECT_THAT(refusal({folder.path("both.jsonl")}), refuses_two);
  const Study small = read_study({folder.path("both.jsonl")}, {}, "", "smoke");
  EXPECT_EQ(small.preset, "smoke");
  EXPECT_EQ(small.recorded_attempts, 1);
  // A run is of its settings' preset, also where some of its candidates failed at a smaller one.
  Attempt early = wrong("m", kB, 1);
  early.preset = "smoke";
  Attempt late = passed("m", kA, 1, 1.5);
  late.preset = "v0";
  write_attempts(folder.path("run/attempts.jsonl"), {early, late});
  EXPECT_THAT(refusal({folder.path("run")}), refuses_two);
  folder.write("run/run.yaml", "samples: 1\npreset: v0\n");
  EXPECT_EQ(read_study({folder.path("run")}, {}).preset, "v0");
  folder.write("small.jsonl", line_of(kA, "mine"));
  EXPECT_THAT(refusal({folder.path("run"), folder.path("small.jsonl")}), refuses_two);
  EXPECT_THROW(read_study({folder.path("run")}, {}, "", "smoke"), Error);
}

TEST(Study, ARunIsInTheDtypeOfItsSettings) {
  const ScratchFolder folder;
  write_attempts(folder.path("one/attempts.jsonl"), {passed("m", kA, 1, 1.5)});
  write_attempts(folder.path("two/attempts.jsonl"), {passed("m", kA, 1, 1.5)});
  folder.write("two/run.yaml", "samples: 1\ndtype: \"bf16\"\n");
  EXPECT_EQ(read_study({folder.path("one")}, {}).dtype, DType::f32);
  EXPECT_EQ(read_study({folder.path("two")}, {}).dtype, DType::bf16);
  EXPECT_THAT(refusal({folder.path("one"), folder.path("two")}), HasSubstr("f32 ("));
  EXPECT_THROW(read_study({folder.path("one")}, {}, "bf16"), Error);
  folder.write("two/run.yaml", "samples: 1\ndtype: double\n");
  EXPECT_THAT(refusal({folder.path("two")}), AllOf(HasSubstr("run.yaml:2:8"), HasSubstr("double")));
}

TEST(Study, ASoftwareDeviceIsKnownFromAnyResultOfARun) {
  const ScratchFolder folder;
  write_attempts(folder.path("attempts.jsonl"), {wrong("m", kA, 1)});
  folder.write("results.jsonl",
               line_of(kA, "m", "smoke", false) + line_of(kB, "m", "smoke", false));
  EXPECT_FALSE(read_study({folder.path()}, {}).software_device);
  folder.write("results.jsonl", line_of(kA, "m", "smoke", false) + line_of(kB, "m", "smoke", true));
  EXPECT_TRUE(read_study({folder.path()}, {}).software_device);
}

TEST(Study, HasTheBestRatesThatResultsAndRunsRecordOfADevice) {
  const ScratchFolder folder;
  const auto line = [](TaskId task, double gbytes_per_s, double tflops) {
    Result result = result_from_json(line_of(task, "mine"));
    result.device = "GPU";
    result.roof_gbytes_per_s = gbytes_per_s;
    result.roof_tflops = tflops;
    return to_json(result) + "\n";
  };
  folder.write("1.jsonl", line(kA, 4000, 55) + line(kB, 3900, 60) + line({2, 2}, 0, 0));
  write_attempts(folder.path("run/attempts.jsonl"), {passed("m", kA, 1, 1.5)});
  folder.write("run/run.yaml", "device: other\nroof_gbytes_per_s: 700\nroof_tflops: 12.5\n");
  const auto roofs = read_study({folder.path("1.jsonl"), folder.path("run")}, {}).rooflines;
  ASSERT_EQ(roofs.size(), 2u);
  EXPECT_DOUBLE_EQ(roofs.at("GPU").copy_bytes_per_s, 4e12);
  EXPECT_DOUBLE_EQ(roofs.at("GPU").flops_per_s, 60e12);
  EXPECT_DOUBLE_EQ(roofs.at("other").copy_bytes_per_s, 700e9);
  folder.write("run/run.yaml", "device: other\nroof_gbytes_per_s: 0\n");
  EXPECT_TRUE(read_study({folder.path("run")}, {}).rooflines.empty());
}

TEST(Study, SaysHowManyResultsWereMeasuredOnABusyMachine) {
  const ScratchFolder folder;
  write_attempts(folder.path("run/attempts.jsonl"), {wrong("m", kA, 1)});
  folder.write("run/results.jsonl", line_of(kA, "m", "smoke", true) + line_of(kB, "m"));
  folder.write("1.jsonl", line_of(kA, "mine", "smoke", true));
  const Study study = read_study({folder.path("run"), folder.path("1.jsonl")}, {});
  EXPECT_THAT(study.notes, ::testing::Contains(HasSubstr("2 results were measured while other")));
  EXPECT_TRUE(read_study({folder.path("run")}, {kA}).notes.size() == 1);
}

TEST(Study, SaysHowManyResultsPassedWithoutACertificate) {
  const ScratchFolder folder;
  const auto line = [](TaskId task, const char* certificate, Verdict verdict = Verdict::passed) {
    Result result = result_from_json(line_of(task, "m"));
    result.certificate = certificate;
    result.verdict = verdict;
    return to_json(result) + "\n";
  };
  const std::string lines =
      line(kA, "untried") + line(kB, "precision") + line({2, 2}, "untried", Verdict::wrong_values);
  write_attempts(folder.path("run/attempts.jsonl"), {wrong("m", kA, 1)});
  folder.write("run/results.jsonl", lines);
  folder.write("1.jsonl", lines);
  const auto says_one = ::testing::Contains(HasSubstr("1 result passed at sizes without a certif"));
  EXPECT_THAT(read_study({folder.path("run")}, {}).notes, says_one);
  EXPECT_THAT(read_study({folder.path("1.jsonl")}, {}).notes, says_one);
  folder.write("2.jsonl", line(kB, "values"));
  EXPECT_THAT(read_study({folder.path("2.jsonl")}, {}).notes, ::testing::IsEmpty());
}

TEST(Study, SaysWhatIsWrongWithASource) {
  const ScratchFolder folder;
  EXPECT_THAT(refusal({folder.path("none")}), HasSubstr("no run and no file of results at"));
  EXPECT_THAT(refusal({folder.path()}), HasSubstr("is no run: it holds no attempts.jsonl"));
  folder.write("attempts.jsonl", "");
  EXPECT_THAT(refusal({folder.path()}), HasSubstr("nothing to report"));
  write_attempts(folder.path("attempts.jsonl"), {wrong("m", kA, 1)});
  folder.write("run.yaml", "tasks: [level1/19, ReLU]\n");
  EXPECT_THAT(refusal({folder.path()}), HasSubstr("run.yaml:1:"));
  for (const char* samples : {"many", "-3", "[1]", "1e99", "2.5"}) {
    folder.write("run.yaml", "samples: " + std::string(samples) + "\n");
    EXPECT_THAT(refusal({folder.path()}), HasSubstr("run.yaml:1:10: 'samples' is no number"));
  }
}

}  // namespace
}  // namespace kbench::report
