// A report of a long run: reading attempts.jsonl, and everything that is counted in it.
//   attempts_benchmark                        made-up runs of 7,000 and 1,000,000 attempts
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/study.h"
#include "tests/report/made_run.h"
#include "tests/scratch_folder.h"

namespace kbench::report {
namespace {

/// A run of eight models on all tasks without texts, up to five attempts a sample. Made once.
std::string run_with(int samples) {
  static std::map<int, std::unique_ptr<kbench::testing::ScratchFolder>> runs;
  std::unique_ptr<kbench::testing::ScratchFolder>& folder = runs[samples];
  if (!folder) {
    folder = std::make_unique<kbench::testing::ScratchFolder>();
    testing::MadeRun made{.models = {},
                          .tasks = 250,
                          .samples = samples,
                          .attempts = 5,
                          .texts = false,
                          .side_by_side = true};
    for (int i = 1; i <= 8; ++i) made.models.push_back("model-" + std::to_string(i));
    testing::make_run(folder->path(), made);
  }
  return folder->path();
}

void count(benchmark::State& state, const std::string& run, const Study& study) {
  state.counters["attempts"] = double(study.recorded_attempts);
  state.counters["megabytes"] = double(std::filesystem::file_size(run + "/attempts.jsonl")) / 1e6;
}

void read(benchmark::State& state) {
  const std::string run = run_with(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const Study study = read_study({run}, {});
    count(state, run, study);
  }
}
BENCHMARK(read)->Arg(1)->Arg(142)->Unit(benchmark::kSecond)->UseRealTime();

void analyse(benchmark::State& state) {
  const std::string run = run_with(static_cast<int>(state.range(0)));
  const Study study = read_study({run}, {});
  for (auto _ : state) benchmark::DoNotOptimize(report::analyse(study, {{}, {1.0}}));
  count(state, run, study);
}
BENCHMARK(analyse)->Arg(1)->Arg(142)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace kbench::report

BENCHMARK_MAIN();
