// What the harness itself costs: from a candidate's file to its verdict, with a kernel that does
// nothing beside one built-in operator on a few hundred elements.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"
#include "kbench/task.h"

namespace {

using namespace kbench;

constexpr const char* kCandidate = R"(kbench: 1
task: level1/19
kernels:
  empty:
    source: |
      #version 450
      layout(local_size_x = 1) in;
      layout(std430, binding = 0) buffer Output { float y[]; };
      void main() {}
dispatch:
  - {op: relu, in: [x], out: output}
  - {kernel: empty, bind: [output], groups: [1]}
)";

/// The candidate above in a file that goes with the program.
class CandidateFile {
 public:
  CandidateFile()
      : path_(std::filesystem::temp_directory_path() /
              ("kbench_overhead_" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_) << kCandidate;
  }
  ~CandidateFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const CandidateFile& candidate_file() {
  static const CandidateFile file;
  return file;
}

/// Exactly ten samples, however long they take.
Question ten_samples() {
  Question question{.candidate = candidate_file().path(), .preset = "smoke"};
  question.plan = {.precision = 1, .max_seconds = 1e-9, .min_samples = 10, .max_samples = 10};
  return question;
}

template <class EvaluateOne>
void evaluate_with(benchmark::State& state, EvaluateOne evaluate_one) {
  const Question question = ten_samples();
  for (auto _ : state) {
    try {
      const Result result = evaluate_one(question);
      if (!result.correct()) {
        state.SkipWithError(result.message.c_str());
        break;
      }
      state.counters["compile_ms"] = result.compile_s * 1e3;
      state.counters["samples"] = result.samples;
    } catch (const Error& e) {
      state.SkipWithError(e.what());
      break;
    }
  }
}

/// With a judge of its own, as `kbench run` has.
void file_to_verdict(benchmark::State& state) {
  evaluate_with(state, [](const Question& question) {
    return evaluate(question, {.program = KBENCH_PROGRAM});
  });
}
BENCHMARK(file_to_verdict)->Unit(benchmark::kMillisecond)->UseRealTime();

/// With a judge that has judged the task before.
void file_to_verdict_of_a_warm_judge(benchmark::State& state) {
  JudgeProcess judge({.program = KBENCH_PROGRAM});
  evaluate_with(state, [&](const Question& question) { return judge.evaluate(question); });
}
BENCHMARK(file_to_verdict_of_a_warm_judge)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Reading, checking and resolving alone.
void file_to_resolved_candidate(benchmark::State& state) {
  const Task& task = find_task({1, 19});
  const auto graph = build_graph(task, Preset::smoke);
  for (auto _ : state) {
    const Candidate candidate = load_candidate(candidate_file().path());
    benchmark::DoNotOptimize(resolve(candidate, *graph));
  }
}
BENCHMARK(file_to_resolved_candidate)->Unit(benchmark::kMicrosecond);

/// Starting a judge that finds nothing to do: there is no such device.
void judge_start_and_end(benchmark::State& state) {
  const JudgeOptions nowhere = {.device = "a device that is not there", .program = KBENCH_PROGRAM};
  for (auto _ : state) {
    try {
      benchmark::DoNotOptimize(evaluate(ten_samples(), nowhere));
      state.SkipWithError("there is such a device");
      break;
    } catch (const Error&) {
      continue;
    }
  }
}
BENCHMARK(judge_start_and_end)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
