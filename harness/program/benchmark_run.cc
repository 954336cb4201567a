#include "harness/program/benchmark_run.h"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <regex.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "harness/program/text.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

/// What Google Benchmark adds to the name of a benchmark with one iteration and manual time.
constexpr const char* kNameSuffix = "/iterations:1/manual_time";

/// Keeps standard error quiet while it lives: Google Benchmark reports a malformed flag there in
/// its own words, and the program says everything in one line.
class QuietErrors {
 public:
  QuietErrors() : saved_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
      dup2(nowhere, STDERR_FILENO);
      close(nowhere);
    }
  }
  ~QuietErrors() {
    std::fflush(stderr);
    if (saved_ >= 0) {
      dup2(saved_, STDERR_FILENO);
      close(saved_);
    }
  }

 private:
  int saved_;
};

std::optional<std::string> value_of(const std::string& flag, const std::string& name) {
  const std::string prefix = "--benchmark_" + name;
  if (flag == prefix) return "";
  if (flag.rfind(prefix + "=", 0) != 0) return std::nullopt;
  return flag.substr(prefix.size() + 1);
}

[[noreturn]] void reject(const std::string& flag, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "'" + flag + "': " + why);
}

/// Google Benchmark ends the program over these, with no word on what was wrong.
void check_format(const std::string& flag, const std::string& value) {
  if (value != "console" && value != "json" && value != "csv") {
    reject(flag, "the formats are console, json and csv");
  }
}

size_t count_of(const std::string& flag, const std::string& value) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc() || end != value.data() + value.size() || count < 1) {
    reject(flag, "takes a number from 1 on");
  }
  return static_cast<size_t>(count);
}

void check_writable(const std::string& flag, const std::string& path) {
  if (!std::ofstream(path, std::ios::app)) reject(flag, "cannot write the file");
}

/// One regular expression, POSIX extended as in Google Benchmark.
class Pattern {
 public:
  explicit Pattern(const std::string& text) {
    const int error = regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) return;
    char why[128];
    regerror(error, &regex_, why, sizeof why);
    reject("--benchmark_filter=" + text, std::string("not a regular expression: ") + why);
  }
  ~Pattern() { regfree(&regex_); }
  Pattern(const Pattern&) = delete;
  bool matches(const std::string& name) const {
    return regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_;
};

/// A filter as Google Benchmark reads it: "-" in front turns it round, "all" takes everything.
bool filter_takes(const std::string& filter, const std::string& name) {
  if (filter.empty() || filter == "all") return true;
  const bool negative = filter.front() == '-';
  const Pattern pattern(negative ? filter.substr(1) : filter);
  return (pattern.matches(name) || pattern.matches(name + kNameSuffix)) != negative;
}

/// The display while kbench talks itself: progress is shown as evaluations begin and end, so that
/// only the statistics over repetitions are left to say.
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

void run_case(benchmark::State& state, const BenchmarkCase& benchmark_case) {
  for (auto _ : state) {
    const Result& result = benchmark_case.evaluate();
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

BenchmarkRun::BenchmarkRun(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    if (const auto format = value_of(flag, "format")) {
      check_format(flag, *format);
      owns_output_ = true;
    } else if (const auto out_format = value_of(flag, "out_format")) {
      check_format(flag, *out_format);
    } else if (const auto out = value_of(flag, "out")) {
      check_writable(flag, *out);
    } else if (const auto list = value_of(flag, "list_tests")) {
      lists_only_ = list->empty() || (*list != "false" && *list != "0" && *list != "no");
    } else if (const auto repetitions = value_of(flag, "repetitions")) {
      repetitions_ = count_of(flag, *repetitions);
    } else if (const auto filter = value_of(flag, "filter")) {
      filter_ = *filter;
      filter_takes(filter_, "");
    }
  }
  static char program[] = "kbench";  // Google Benchmark keeps the pointer, for its report
  std::vector<std::string> arguments = flags;
  std::vector<char*> argv = {program};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  {
    QuietErrors quiet;
    benchmark::Initialize(&argc, argv.data());
  }
  if (argc > 1) reject(argv[1], "not a flag or value that Google Benchmark takes");
  // Applied by selects(), to names without the suffix.
  benchmark::SetBenchmarkFilter("");
}

BenchmarkRun::~BenchmarkRun() { benchmark::Shutdown(); }

bool BenchmarkRun::selects(const std::string& name) const { return filter_takes(filter_, name); }

void BenchmarkRun::run(const std::vector<BenchmarkCase>& cases,
                       const std::function<void(const std::string&)>& aggregate) {
  for (const BenchmarkCase& benchmark_case : cases) {
    benchmark::RegisterBenchmark(
        benchmark_case.name.c_str(),
        [&benchmark_case](benchmark::State& state) { run_case(state, benchmark_case); })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  AggregateReporter reporter(aggregate);
  benchmark::RunSpecifiedBenchmarks(owns_output_ ? nullptr : &reporter);
}

}  // namespace kbench::program
