#include "harness/frontends/program/benchmark_run.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <utility>

#include "harness/frontends/program/text.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

/// Prints only the statistics over repetitions, as kbench shows the progress of evaluations itself.
class AggregateReporter : public benchmark::BenchmarkReporter {
 public:
  explicit AggregateReporter(const std::function<void(const std::string&)>& say) : say_(say) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto speedup = run.counters.find("speedup");
      if (run.run_type != Run::RT_Aggregate || speedup == run.counters.end()) continue;
      say_(shown(run.run_name.function_name) + "  " + run.aggregate_name + " of " +
           std::to_string(run.repetitions) + "  speedup " + format_number(speedup->second.value));
    }
  }

 private:
  const std::function<void(const std::string&)>& say_;
};

void set_counter(benchmark::State& state, const char* name, double value) {
  if (std::isfinite(value)) state.counters[name] = benchmark::Counter(value);
}

void run_case(benchmark::State& state, std::future<Result> coming) {
  for (auto _ : state) {
    const Result result = coming.get();
    if (!result.correct()) {
      const std::string why =
          std::string(name_of(result.verdict)) + ": " + shown_message(result.message);
      state.SkipWithError(why.c_str());
      break;
    }
    state.SetIterationTime(result.candidate_ms / 1e3);
    set_counter(state, "speedup", result.speedup.point);
    set_counter(state, "speedup_low", result.speedup.low);
    set_counter(state, "speedup_high", result.speedup.high);
    set_counter(state, "GB/s", result.gbytes_per_s);
    set_counter(state, "TFLOP/s", result.tflops);
    set_counter(state, "samples", result.samples);
  }
}

}  // namespace

void run_benchmarks(std::vector<BenchmarkCase>& cases, bool owns_output,
                    const std::function<void(const std::string&)>& aggregate) {
  for (BenchmarkCase& benchmark_case : cases) {
    benchmark::RegisterBenchmark(
        benchmark_case.name.c_str(),
        [&results = benchmark_case.results, at = size_t{0}](benchmark::State& state) mutable {
          run_case(state, std::move(results.at(at++)));
        })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  AggregateReporter reporter(aggregate);
  benchmark::RunSpecifiedBenchmarks(owns_output ? nullptr : &reporter);
  benchmark::Shutdown();
}

}  // namespace kbench::program
