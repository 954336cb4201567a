#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <utility>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "kbench/result.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/json_fields.h"
#include "libkbench/scoring/result_fields.h"
#include "libkbench/scoring/settings.h"

namespace kbench {
namespace {

/// What every line begins with; a fragment that begins otherwise is not cut off.
constexpr std::string_view kResultStart = "{\"set\":";

bool is_result(std::string_view line) {
  try {
    unchecked_result(std::string(line));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The end of a file: its last line, and zero bytes behind it.
struct Tail {
  off_t begin = 0;  ///< of the last line
  std::string line;
  bool has_newline = false;
  bool has_zeros = false;
};

std::string read_at(int fd, off_t begin, off_t end, const std::string& path) {
  std::string chunk(static_cast<size_t>(end - begin), '\0');
  const ssize_t count = pread(fd, chunk.data(), chunk.size(), begin);
  if (count != static_cast<ssize_t>(chunk.size())) throw_io("read", path, count < 0 ? errno : EIO);
  return chunk;
}

/// Reads from the back, a block at a time: the file may be long.
Tail read_tail(int fd, off_t size, const std::string& path) {
  constexpr off_t kChunk = 1 << 16;
  Tail tail;
  bool in_line = false;  // past the zero bytes and the newline
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(end - kChunk, 0);
    std::string chunk = read_at(fd, begin, end, path);
    end = begin;
    if (!in_line) {
      const size_t last = chunk.find_last_not_of('\0');
      tail.has_zeros |= last != chunk.size() - 1;
      if (last == chunk.npos) continue;
      in_line = true;
      tail.has_newline = chunk[last] == '\n';
      chunk.resize(last + (tail.has_newline ? 0 : 1));
    }
    const size_t newline = chunk.rfind('\n');
    if (newline != chunk.npos) {
      tail.begin = begin + static_cast<off_t>(newline) + 1;
      tail.line.insert(0, chunk, newline + 1);
      break;
    }
    tail.line.insert(0, chunk);
  }
  return tail;
}

/// Zero bytes in a line are cut off from a file of results only: other files may well hold some.
bool is_ours(int fd, const Tail& tail, const std::string& path) {
  if (tail.line.find('\0') == tail.line.npos) return true;
  const off_t end = tail.begin + static_cast<off_t>(tail.line.size());
  return read_at(fd, 0, std::min<off_t>(end, kResultStart.size()), path) == kResultStart;
}

void cut(int fd, off_t size, const std::string& path) {
  if (ftruncate(fd, size) != 0) throw_io("cut the torn last line of", path);
}

/// Makes the file end in a newline: cuts a torn line, completes one that only lacks its newline.
void repair_end(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_io("read", path);
  const Tail tail = read_tail(fd, status.st_size, path);
  const bool whole = is_result(tail.line);
  if (tail.has_newline && !tail.has_zeros && tail.line.find('\0') == tail.line.npos) return;
  if (!whole && is_torn(tail.line, tail.has_newline, kResultStart) && is_ours(fd, tail, path)) {
    return cut(fd, tail.begin, path);
  }
  if (!whole) {
    throw Error(ErrorCode::kParse, Location{path},
                "does not end in a result; it is not a file of results, and was left as it is");
  }
  cut(fd, tail.begin + static_cast<off_t>(tail.line.size() + tail.has_newline), path);
  if (!tail.has_newline) write_all(fd, "\n", path);
}

/// By how much the median of ratios may differ from the ratio of medians, as a factor: with few
/// samples on a software device whose processors were taken away it was seen to differ by 13.
constexpr double kMostApart = 1000;
/// A nanosecond: no device ends a run sooner, and no driver's clock is finer.
constexpr double kLeastMs = 1e-6;
/// A share is a quotient of sums, which may be a rounding above 1.
constexpr double kRounding = 1e-9;

[[noreturn]] void fail(const std::string& field, const std::string& why) {
  throw Error(ErrorCode::kParse, "result." + field + " " + why);
}

std::string text_of(double value) { return digits_text(value, 6); }

void expect_one_of(const std::string& field, const std::string& value,
                   std::initializer_list<std::string_view> known) {
  if (std::ranges::count(known, value) > 0) return;
  fail(field, "is " + quoted(value) + "; it must be " + listed(known, [](std::string_view each) {
                return each.empty() ? "empty" : std::string(each);
              }));
}

/// Numbers of results are amounts: none is negative, and only an interval's end and an error can be
/// infinite. Goes through all fields, so that none that is added later is forgotten.
struct Amounts {
  std::string at = {};  ///< "holds_at."

  template <class T>
  void operator()(std::string_view name, const T& value) const {
    check(at + std::string(name), value);
  }

  template <class T>
  void check(const std::string& field, const T& value) const {
    if constexpr (std::same_as<T, bool> || std::same_as<T, Variables>) {
    } else if constexpr (std::integral<T>) {
      if (value < 0) fail(field, "is " + std::to_string(value) + ", below 0");
    } else if constexpr (std::floating_point<T>) {
      if (!(value >= 0)) fail(field, "is " + text_of(value) + ", below 0");
      const bool of_workloads = field.starts_with("workloads.") && !field.ends_with("_ms");
      const bool may_be_infinite =
          field == "max_error" || field.starts_with("speedup.") || of_workloads;
      if (std::isinf(value) && !may_be_infinite) fail(field, "is infinite");
    } else if constexpr (kIsOptional<T>) {
      if (value) check(field, *value);
    } else if constexpr (HasFields<T>) {
      each_field(Amounts{field + "."}, value);
    } else if constexpr (requires { typename T::mapped_type; }) {
      for (const auto& [key, member] : value) check(field + "." + shown(key), member);
    } else if constexpr (std::ranges::range<T> && !std::same_as<T, std::string>) {
      for (size_t i = 0; i < value.size(); ++i) {
        check(field + "[" + std::to_string(i) + "]", value[i]);
      }
    }
  }
};

void expect_interval(const std::string& field, const Interval& speedup) {
  if (!(speedup.low <= speedup.point)) {
    fail(field + ".low",
         "is " + text_of(speedup.low) + ", above " + field + ".point, " + text_of(speedup.point));
  }
  if (!(speedup.high >= speedup.point)) {
    fail(field + ".high",
         "is " + text_of(speedup.high) + ", below " + field + ".point, " + text_of(speedup.point));
  }
}

void expect_labels(const Result& result) {
  if (!result.preset.empty()) {
    try {
      preset_from_name(result.preset);
    } catch (const Error& e) {
      fail("preset", "is wrong: " + e.message());
    }
  }
  expect_one_of("lane", result.lane, {"", "vulkan", "cuda", "torch", "torch-captured"});
  for (size_t i = 0; i < result.diagnostics.size(); ++i) {
    expect_one_of("diagnostics[" + std::to_string(i) + "].severity", result.diagnostics[i].severity,
                  {"error", "warning", "note"});
  }
  for (size_t i = 0; i < result.tuning.size(); ++i) {
    const auto configs = static_cast<int>(result.tuning[i].configs.size());
    if (result.tuning[i].chosen < configs) continue;
    fail("tuning[" + std::to_string(i) + "].chosen",
         "is " + std::to_string(result.tuning[i].chosen) + ", none of the configurations");
  }
  if (result.busy && !result.software_device) {
    fail("busy", "is true of a device that is no CPU");
  }
  if (result.own_kernels && *result.own_kernels > 1 + kRounding) {
    fail("own_kernels", "is " + text_of(*result.own_kernels) + ", above 1, and is a share");
  }
}

void expect_sizes(const HoldsAt& holds_at) {
  const std::string right = std::to_string(holds_at.right), tried = std::to_string(holds_at.tried);
  if (holds_at.tried == 0) fail("holds_at.tried", "is 0; where nothing was tried it is left out");
  if (holds_at.right > holds_at.tried) {
    fail("holds_at.right", "is " + right + " of " + tried + " that were tried");
  }
  if ((holds_at.right < holds_at.tried) != holds_at.first_wrong.has_value()) {
    fail("holds_at.first_wrong", (holds_at.first_wrong ? "is given" : "is missing") +
                                     std::string(" where ") + right + " of " + tried +
                                     " were right");
  }
  if (holds_at.first_wrong && holds_at.first_wrong->verdict == Verdict::passed) {
    fail("holds_at.first_wrong.verdict", "is passed");
  }
}

void expect_workloads(const Workloads& workloads) {
  if (workloads.each.empty()) {
    fail("workloads.each", "is empty; where no size was timed workloads is left out");
  }
  for (size_t i = 0; i < workloads.each.size(); ++i) {
    expect_interval("workloads.each[" + std::to_string(i) + "].speedup", workloads.each[i].speedup);
  }
  expect_interval("workloads.geomean", workloads.geomean);
  expect_interval("workloads.least", workloads.least);
}

void expect_time(const char* field, double ms) {
  if (ms >= kLeastMs) return;
  fail(field, "is " + text_of(ms) + " of a result that passed; no run takes less than " +
                  text_of(kLeastMs) + " ms");
}

void expect_measured(const Result& result) {
  const TaskId& task = result.task;
  if (task.own.empty() && task.level == 0 && task.number == 0) {
    fail("task", "is " + to_string(task) + ", none, of a result that passed");
  }
  if (!task.own.empty() && result.settings.find("task=") == std::string::npos) {
    fail("settings", "has no task=HASH, which says what " + to_string(task) + " is");
  }
  if (result.samples == 0) fail("samples", "is 0 of a result that passed; it takes one at least");
  if (!(result.speedup.point > 0) || std::isinf(result.speedup.point)) {
    fail("speedup.point", "is " + text_of(result.speedup.point) +
                              " of a result that passed; it must be above 0 and finite");
  }
  expect_time("candidate_ms", result.candidate_ms);
  expect_time("baseline_ms", result.baseline_ms);
  const double by_times = result.baseline_ms / result.candidate_ms;
  const double apart = result.speedup.point / by_times;
  if (apart > kMostApart || apart < 1 / kMostApart) {
    fail("speedup.point", "is " + text_of(result.speedup.point) +
                              " where baseline_ms / candidate_ms is " + text_of(by_times));
  }
}

}  // namespace

std::vector<Result> read_results(const std::string& path) {
  std::vector<Result> results;
  for (ResultLine& each : read_result_lines(path)) results.push_back(std::move(each.result));
  return results;
}

std::vector<ResultLine> read_result_lines(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return {};
  std::string text = read_file(path);
  text.resize(text.find_last_not_of('\0') + 1);
  std::vector<ResultLine> lines;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    const bool has_newline = newline != rest.npos;
    rest.remove_prefix(has_newline ? newline + 1 : rest.size());
    if (line.empty()) continue;
    const Location place{path, number, 0};
    try {
      lines.push_back({unchecked_result(std::string(line)), path, number});
    } catch (const Error& e) {
      if (rest.empty() && is_torn(line, has_newline, kResultStart)) break;
      throw Error(ErrorCode::kParse, place, e.message());
    }
    try {
      expect_possible(lines.back().result);
    } catch (const Error& e) {
      throw Error(ErrorCode::kParse, place, e.message());
    }
  }
  return lines;
}

ResultWriter::ResultWriter(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  // Pipes and terminals need not be readable.
  if (fd_ < 0 && errno == EACCES) fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) throw_io("write", path);
  try {
    struct stat status {};
    if (fstat(fd_, &status) != 0) throw_io("write", path);
    is_file_ = S_ISREG(status.st_mode);
    if (!is_file_) return;
    lock_file(fd_, path, "writing results to it");
    repair_end(fd_, path_);
    if (status.st_size == 0) sync_folder(path);
  } catch (...) {
    close(fd_);
    throw;
  }
}

ResultWriter::~ResultWriter() { close(fd_); }

void ResultWriter::append(const Result& result) {
  const std::string line = to_json(result) + '\n';
  if (!is_file_) return write_all(fd_, line, path_);
  if (torn_) {
    repair_end(fd_, path_);
    torn_ = false;
  }
  struct stat before {};
  if (fstat(fd_, &before) != 0) throw_io("write to", path_);
  try {
    write_all(fd_, line, path_);
    if (fdatasync(fd_) != 0) throw_io("write to", path_);
  } catch (const Error&) {
    // A full disk may have taken half a line; without it the file stays whole.
    torn_ = ftruncate(fd_, before.st_size) != 0;
    throw;
  }
}

void expect_possible(const Result& result) {
  each_field(Amounts{}, result);
  expect_interval("speedup", result.speedup);
  expect_labels(result);
  if (result.holds_at) expect_sizes(*result.holds_at);
  if (result.workloads) expect_workloads(*result.workloads);
  if (result.correct()) expect_measured(result);
}

using Json = nlohmann::ordered_json;

std::string Experiment::key() const {
  Json key = {candidate_hash, set,    to_string(task), variables_json<Json>(variables),
              device,         driver, baseline,        settings,
              version};
  if (dtype != DType::f32) key.push_back(name_of(dtype));  // Records from before know of no other.
  return json_text(key);
}

std::vector<Diagnostic> diagnostics_of(const Error& error) {
  std::vector<Diagnostic> places;
  for (const Error& each : error.all()) {
    const Location& place = each.location();
    if (place.file.empty()) continue;
    places.push_back({"error", shown(place.file), place.line, place.column,
                      shown(each.message(), limits::kMessageBytes)});
  }
  return places;
}

std::string in_words(const SanitizerFinding& finding) {
  const std::string line = finding.line > 0 ? ":" + std::to_string(finding.line) : "";
  const std::string place = finding.file.empty() ? "" : " (" + finding.file + line + ")";
  return finding.checker + ": kernel " + finding.kernel + place + ": " + finding.text;
}

void drop_times(Result& result) {
  result.samples = 0;
  result.speedup = {};
  result.workloads.reset();
  result.candidate_ms = result.baseline_ms = result.setup_ms = 0;
  result.gbytes_per_s = result.tflops = 0;
}

std::string to_json(const Result& result) {
  Json json = fields_json<Json>(result);
  json["task"] = to_string(result.task);  // Its meaning is in the settings.
  return json_text(json);
}

std::string result_json_schema() {
  Json schema = json_schema_of<Json, Result>();
  schema["properties"]["verdict"]["enum"] = names_to(Verdict::compiles);
  return json_text(schema);
}

/// Of several files of one name, the one that it was judged by; where that name is known at all.
static void read_meaning(Result& result) {
  constexpr std::string_view kBefore = " task=";
  constexpr size_t kDigits = 16;
  const size_t at = result.settings.find(kBefore);
  if (result.task.meaning == 0 || at == std::string::npos) return;
  result.task.meaning =
      meaning_from_text(std::string_view(result.settings).substr(at + kBefore.size(), kDigits));
}

Result unchecked_result(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  Result result;
  read_value(JsonField(json, kNoFile, "result"), result, {.reals = Reals::or_infinity});
  result.settings = settings_of_today(result.settings);
  read_meaning(result);
  return result;
}

Result result_from_json(const std::string& line) {
  Result result = unchecked_result(line);
  expect_possible(result);
  return result;
}

}  // namespace kbench
