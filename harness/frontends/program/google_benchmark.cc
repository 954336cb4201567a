#include "harness/frontends/program/google_benchmark.h"

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

/// Appended by Google Benchmark to the name of a benchmark with one iteration and manual time.
constexpr const char* kNameSuffix = "/iterations:1/manual_time";

/// Silences standard error: Google Benchmark reports a malformed flag there, and kbench reports it
/// itself.
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

/// Google Benchmark would exit over these without a message.
void check_format(const std::string& flag, const std::string& value) {
  if (value != "console" && value != "json" && value != "csv") {
    reject(flag, "the formats are console, json and csv");
  }
}

size_t count_of(const std::string& flag, const std::string& value) {
  int count = 0;
  if (!read_number(value, count) || count < 1) reject(flag, "takes a number from 1 on");
  return static_cast<size_t>(count);
}

void check_writable(const std::string& flag, const std::string& path) {
  if (!std::ofstream(path, std::ios::app)) reject(flag, "cannot write the file");
}

}  // namespace

bool filter_takes(const std::string& filter, const std::string& name) {
  if (filter.empty() || filter == "all") return true;
  const bool negative = filter.front() == '-';
  try {
    const std::regex pattern(filter.substr(negative ? 1 : 0),
                             std::regex::extended | std::regex::nosubs);
    const bool found =
        std::regex_search(name, pattern) || std::regex_search(name + kNameSuffix, pattern);
    return found != negative;
  } catch (const std::regex_error& e) {
    reject("--benchmark_filter=" + filter, std::string("not a regular expression: ") + e.what());
  }
}

BenchmarkFlags read_benchmark_flags(const std::vector<std::string>& flags) {
  BenchmarkFlags taken;
  for (const std::string& flag : flags) {
    if (const auto format = value_of(flag, "format")) {
      check_format(flag, *format);
      taken.owns_output = true;
    } else if (const auto out_format = value_of(flag, "out_format")) {
      check_format(flag, *out_format);
    } else if (const auto out = value_of(flag, "out")) {
      check_writable(flag, *out);
    } else if (const auto list = value_of(flag, "list_tests")) {
      taken.lists_only = list->empty() || (*list != "false" && *list != "0" && *list != "no");
    } else if (const auto repetitions = value_of(flag, "repetitions")) {
      taken.repetitions = count_of(flag, *repetitions);
    } else if (const auto filter = value_of(flag, "filter")) {
      taken.filter = *filter;
      filter_takes(taken.filter, "");
    }
  }
  static char program[] = "kbench";  // Google Benchmark keeps the pointer for its report
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
  // filter_takes() applies it, to names without the suffix.
  benchmark::SetBenchmarkFilter("");
  return taken;
}

namespace {

constexpr std::string_view kFlag = "--benchmark_out=";

}  // namespace

BenchmarkOut::BenchmarkOut(std::vector<std::string>& flags) {
  std::string* given = nullptr;
  for (std::string& flag : flags) {
    if (flag.starts_with(kFlag)) given = &flag;  // the last flag counts
  }
  if (given == nullptr || given->size() == kFlag.size()) return;
  path_ = given->substr(kFlag.size());
  file_.emplace(path_);
  memory_ = UniqueFd(memfd_create("benchmark_out", MFD_CLOEXEC));
  if (!memory_.open()) throw_io("write", path_);
  *given = std::string(kFlag) + "/proc/self/fd/" + std::to_string(memory_.get());
}

void BenchmarkOut::commit() {
  if (!file_) return;
  const std::string text = read_file("/proc/self/fd/" + std::to_string(memory_.get()));
  rlimit limit = {};
  // The file size limit also applies to the memory file; at the limit it is incomplete.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && text.size() >= limit.rlim_cur) {
    throw_io("write", path_, EFBIG);
  }
  file_->write(text);
  file_->commit();
  file_.reset();
}

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
