#include "kbench/attempt.h"

#include <fcntl.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/attempt_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

/// What every line begins with; a last line that begins otherwise is foreign, not torn.
constexpr std::string_view kAttemptStart = "{\"model\":";
constexpr size_t kBlock = size_t{4} << 20;  ///< read and parsed at once

struct Line {
  std::string_view text = {};
  int number = 0;
  int64_t at = 0;  ///< byte of the file at which it begins
  bool has_newline = false;
  bool last = false;  ///< of the file
};

/// A line's attempt, or why there is none.
struct Record {
  Attempt attempt = {};
  bool skipped = false;
  std::string error = {};
};

/// A record's memory is used again.
void parse(const Line& line, Record& record) {
  record.error.clear();
  record.skipped = line.text.empty();
  if (record.skipped || read_plain_attempt(line.text, record.attempt)) return;
  try {
    record.attempt = attempt_by_fields(std::string(line.text));
  } catch (const Error& e) {
    record.skipped = line.last && is_torn(line.text, line.has_newline, kAttemptStart);
    if (!record.skipped) record.error = e.message();
  }
}

/// A file's lines, a block of them at a time.
class Blocks {
 public:
  explicit Blocks(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), error_(errno) {
    if (!fd_.open() && error_ != ENOENT) throw_io("read", path, error_);
    at_end_ = !fd_.open();
  }

  /// Whole lines, and at the end of the file what is left; empty when there are no more. They are
  /// valid until the next call.
  const std::vector<Line>& next() {
    text_.erase(0, used_);
    start_ += static_cast<int64_t>(used_);
    used_ = 0;
    lines_.clear();
    size_t end = text_.npos;
    while (!at_end_ && (text_.size() < kBlock || (end = text_.rfind('\n')) == text_.npos)) more();
    // Zero bytes behind the last line are no line.
    if (at_end_) text_.resize(text_.find_last_not_of('\0') + 1);
    used_ = at_end_ ? text_.size() : end + 1;
    std::string_view rest = std::string_view(text_).substr(0, used_);
    while (!rest.empty()) {
      const size_t newline = rest.find('\n');
      const bool has_newline = newline != rest.npos;
      lines_.push_back(
          {rest.substr(0, newline), ++number_, start_ + (rest.data() - text_.data()), has_newline});
      rest.remove_prefix(has_newline ? newline + 1 : rest.size());
    }
    if (at_end_ && !lines_.empty()) lines_.back().last = true;
    return lines_;
  }

 private:
  void more() {
    const size_t before = text_.size();
    text_.resize(before + kBlock);
    ssize_t count = -1;
    while ((count = read(fd_.get(), text_.data() + before, kBlock)) < 0 && errno == EINTR) {
    }
    if (count < 0) throw_io("read", path_);
    text_.resize(before + static_cast<size_t>(count));
    at_end_ = count == 0;
  }

  std::string path_;
  UniqueFd fd_;
  int error_;  ///< of opening
  std::string text_;
  int64_t start_ = 0;  ///< byte of the file at which text_ begins
  size_t used_ = 0;    ///< of text_, by the lines handed out
  std::vector<Line> lines_;
  int number_ = 0;
  bool at_end_ = false;
};

}  // namespace

std::string_view name_of(Outcome outcome) {
  return name_in<Outcome::unanswered>(
      {"candidate", "no_candidate", "wrong_task", "truncated", "refused", "too_long", "unanswered"},
      outcome);
}

Outcome outcome_from_name(std::string_view name) {
  if (const auto outcome = value_named(name, Outcome::unanswered)) return *outcome;
  throw Error(ErrorCode::kInvalidArgument, "there is no outcome '" + std::string(name) + "'");
}

static void read_field(const JsonField& field, Outcome& outcome) {
  outcome = field.as(outcome_from_name);
}

/// Records from before do not know of it.
static bool is_left_out(const Attempt& attempt, std::string_view field) {
  return field == "general" && !attempt.general;
}

std::string to_json(const Attempt& attempt) {
  auto json = json_of<nlohmann::ordered_json>(attempt, Unset::null);
  json["task"] = to_string(attempt.task);
  return json_text(json);
}

static bool holds_its_point(const Interval& speedup) {
  return speedup.low <= speedup.point && speedup.point <= speedup.high;
}

bool is_possible(const Attempt& attempt) {
  const Interval& speedup = attempt.speedup;
  if (!holds_its_point(speedup)) return false;
  return !attempt.correct() || (attempt.outcome == Outcome::candidate && speedup.point > 0 &&
                                std::isfinite(speedup.point));
}

Attempt attempt_from_json(const std::string& line) {
  Attempt attempt;
  return read_plain_attempt(line, attempt) ? attempt : attempt_by_fields(line);
}

Attempt attempt_by_fields(const std::string& line) {
  static const std::string kNoFile;
  const nlohmann::json json = parse_json(line, kNoFile);
  const JsonField fields(json, kNoFile, "attempt");
  Attempt a;
  read_value(fields, a, {.reals = Reals::not_negative});
  const auto expect_least = [&](const char* name, int value, int least) {
    if (value < least) fields[name].fail("must be at least " + std::to_string(least));
  };
  expect_least("sample", a.sample, 1);
  expect_least("attempt", a.attempt, 1);
  expect_least("parent", a.parent, 0);
  each_field(
      [&](const char* name, const std::optional<int64_t>& tokens) {
        if (tokens.value_or(0) < 0) fields["usage"][name].fail("must not be negative");
      },
      a.usage);
  if (!holds_its_point(a.speedup)) fields["speedup"].fail("must be in order: low, point, high");
  if (!is_possible(a)) {
    fields["verdict"].fail("is passed, and there is no candidate or no speedup above 0");
  }
  return a;
}

void read_attempts(const std::string& path,
                   const std::function<void(const Attempt&, int64_t)>& take) {
  Blocks blocks(path);
  std::vector<Record> records;
  while (true) {
    const std::vector<Line>& lines = blocks.next();
    if (lines.empty()) break;
    if (records.size() < lines.size()) records.resize(lines.size());
    tbb::parallel_for(size_t{0}, lines.size(), [&](size_t i) { parse(lines[i], records[i]); });
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!records[i].error.empty()) {
        throw Error(ErrorCode::kParse, Location{path, lines[i].number, 0}, records[i].error);
      }
      if (!records[i].skipped) take(records[i].attempt, lines[i].at);
    }
  }
}

void read_attempts(const std::string& path, const std::function<void(const Attempt&)>& take) {
  read_attempts(path, [&](const Attempt& attempt, int64_t) { take(attempt); });
}

std::vector<Attempt> read_attempts(const std::string& path) {
  std::vector<Attempt> all;
  read_attempts(path, [&](const Attempt& attempt) { all.push_back(attempt); });
  return all;
}

std::vector<Attempt> read_attempts_at(const std::string& path, std::span<const int64_t> places) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Attempt> all;
  std::string line;
  for (const int64_t place : places) {
    file.clear();  // of the end, where the last line has none
    if (!file.seekg(place) || !std::getline(file, line)) throw_io("read", path);
    try {
      all.push_back(attempt_from_json(line.substr(0, line.find('\0'))));
    } catch (const Error& e) {
      throw Error(ErrorCode::kParse, Location{path},
                  "byte " + std::to_string(place) + ": " + e.message());
    }
  }
  return all;
}

}  // namespace kbench
