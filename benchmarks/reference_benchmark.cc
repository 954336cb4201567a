// Times the CPU reference in float32 on every task at preset v0.
//
//     reference_benchmark [--threads=N] [--benchmark_filter=level1/19_] ...
//
// Inputs are drawn outside the timed region. One iteration is one call of run_reference: schedule,
// outputs' memory and operators.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace {

/// The task being timed: Google Benchmark enters a function several times, and one task's tensors
/// at a time are enough to hold.
struct Prepared {
  const kbench::Task* task = nullptr;
  std::unique_ptr<kbench::Graph> graph;
  kbench::NamedTensors tensors;
};

const Prepared& prepare(const kbench::Task& task) {
  static Prepared prepared;
  if (prepared.task != &task) {
    prepared = Prepared();
    prepared.graph = kbench::build_graph(task, kbench::Preset::v0);
    prepared.tensors = kbench::draw_tensors(*prepared.graph, task.id, 1);
    prepared.task = &task;
  }
  return prepared;
}

void run_task(benchmark::State& state, const kbench::Task& task, int threads) {
  try {
    const Prepared& prepared = prepare(task);
    std::vector<double> milliseconds;
    for (auto _ : state) {
      const auto start = std::chrono::steady_clock::now();
      {
        auto outputs =
            kbench::run_reference(*prepared.graph, prepared.tensors, {.threads = threads});
        benchmark::DoNotOptimize(outputs.data());
      }
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      milliseconds.push_back(took.count());
    }
    // The mean that Google Benchmark reports follows whatever else the machine does.
    const auto middle = milliseconds.begin() + milliseconds.size() / 2;
    std::nth_element(milliseconds.begin(), middle, milliseconds.end());
    state.counters["median_ms"] = *middle;
    state.counters["FLOP/s"] =
        benchmark::Counter(prepared.graph->flops(), benchmark::Counter::kIsIterationInvariantRate);
  } catch (const kbench::Error& error) {
    state.SkipWithError(error.what());
  }
}

/// Takes "--threads=N" out of the arguments, as Google Benchmark does with its own flags.
int take_threads(int& argc, char** argv) {
  constexpr char kFlag[] = "--threads=";
  int threads = 0, kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kFlag, sizeof kFlag - 1) == 0) {
      threads = std::atoi(argv[i] + sizeof kFlag - 1);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return threads;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = take_threads(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const kbench::Task& task : kbench::tasks()) {
    const std::string name = "reference/" + to_string(task.id) + "_" + task.name;
    benchmark::RegisterBenchmark(
        name.c_str(), [&task, threads](benchmark::State& state) { run_task(state, task, threads); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
