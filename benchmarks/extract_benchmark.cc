// How long it takes to find a candidate in a long answer. The target: 1 MiB in under 10 ms.
#include <benchmark/benchmark.h>

#include <string>

#include "kbench/extract.h"

namespace kbench {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

const std::string kCandidate =
    "```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n```\n\n"
    "```glsl relu.comp\n#version 450\nvoid main() {}\n```\n";

std::string repeated(const std::string& piece) {
  std::string text;
  while (text.size() + piece.size() < kBytes) text += piece;
  return text;
}

void run(benchmark::State& state, const std::string& text) {
  Answer answer;
  answer.text = text;
  answer.finish = "stop";
  for (auto _ : state) benchmark::DoNotOptimize(extract(answer, {1, 19}).outcome);
  state.SetBytesProcessed(static_cast<int64_t>(text.size() * state.iterations()));
}

void prose(benchmark::State& state) {
  run(state, repeated("One thread an element, `x[i]` read once, *coalesced*; see (1) and [2].\n") +
                 "\n" + kCandidate);
}
void shader(benchmark::State& state) {
  run(state, "```glsl long.comp\n" +
                 repeated("  y[i] = max(x[i], 0.0);  // <one> element, its index & more\n") +
                 "```\n" + kCandidate);
}
void drafts(benchmark::State& state) { run(state, repeated(kCandidate + "\nNo:\n\n")); }
void thoughts(benchmark::State& state) {
  run(state, "<think>\n" + repeated("What if? " + kCandidate + "\n") + "\n</think>\n" + kCandidate);
}
void brackets(benchmark::State& state) { run(state, repeated("[") + "\n" + kCandidate); }
void backticks(benchmark::State& state) { run(state, repeated("`a``") + "\n\n" + kCandidate); }
void quotes(benchmark::State& state) { run(state, repeated("> ") + "\n" + kCandidate); }
void emphasis(benchmark::State& state) { run(state, repeated("*a **b _c ") + "\n" + kCandidate); }
void links(benchmark::State& state) { run(state, repeated("[a](b ") + "\n" + kCandidate); }
void references(benchmark::State& state) {
  run(state, repeated("[a]: b\n\n[a] ") + "\n" + kCandidate);
}
void tags(benchmark::State& state) { run(state, repeated("</think>") + "\n" + kCandidate); }

#define MEASURE(name) BENCHMARK(name)->Unit(benchmark::kMillisecond)
MEASURE(prose);
MEASURE(shader);
MEASURE(drafts);
MEASURE(thoughts);
// Texts made to be slow.
MEASURE(brackets);
MEASURE(backticks);
MEASURE(quotes);
MEASURE(emphasis);
MEASURE(links);
MEASURE(references);
MEASURE(tags);
#undef MEASURE

}  // namespace
}  // namespace kbench

BENCHMARK_MAIN();
