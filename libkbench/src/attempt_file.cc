#include <fcntl.h>
#include <tbb/parallel_for.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "kbench/attempt.h"
#include "kbench/error.h"
#include "libkbench/src/files.h"
#include "libkbench/src/unique_fd.h"

namespace kbench {
namespace {

/// What every line begins with: a last line that does not is not torn but foreign.
constexpr std::string_view kLineStart = "{\"model\":";
constexpr size_t kBlock = size_t{4} << 20;  ///< read and parsed at once

bool is_torn(std::string_view line, bool has_newline) {
  const size_t zero = line.find('\0');
  if (has_newline && zero == line.npos) return false;
  const std::string_view text = line.substr(0, zero);
  return text.substr(0, kLineStart.size()) == kLineStart.substr(0, text.size());
}

struct Line {
  std::string_view text;
  int number = 0;
  bool has_newline = false;
  bool last = false;  ///< of the file
  Attempt attempt = {};
  bool skipped = false;
  std::string error = {};
};

void parse(Line& line) {
  line.skipped = line.text.empty();
  if (line.skipped) return;
  try {
    line.attempt = attempt_from_json(std::string(line.text));
  } catch (const Error& e) {
    line.skipped = line.last && is_torn(line.text, line.has_newline);
    if (!line.skipped) line.error = e.message();
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
  std::vector<Line> next() {
    text_.erase(0, used_);
    used_ = 0;
    size_t end = text_.npos;
    while (!at_end_ && (text_.size() < kBlock || (end = text_.rfind('\n')) == text_.npos)) more();
    // Zero bytes behind the last line are no line.
    if (at_end_) text_.resize(text_.find_last_not_of('\0') + 1);
    used_ = at_end_ ? text_.size() : end + 1;
    std::vector<Line> lines;
    std::string_view rest = std::string_view(text_).substr(0, used_);
    while (!rest.empty()) {
      const size_t newline = rest.find('\n');
      const bool has_newline = newline != rest.npos;
      lines.push_back({rest.substr(0, newline), ++number_, has_newline});
      rest.remove_prefix(has_newline ? newline + 1 : rest.size());
    }
    if (at_end_ && !lines.empty()) lines.back().last = true;
    return lines;
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
  size_t used_ = 0;  ///< of text_, by the lines handed out
  int number_ = 0;
  bool at_end_ = false;
};

}  // namespace

void read_attempts(const std::string& path, const std::function<void(const Attempt&)>& take) {
  Blocks blocks(path);
  for (std::vector<Line> lines = blocks.next(); !lines.empty(); lines = blocks.next()) {
    tbb::parallel_for(size_t{0}, lines.size(), [&](size_t i) { parse(lines[i]); });
    for (const Line& line : lines) {
      if (!line.error.empty()) {
        throw Error(ErrorCode::kParse, Location{path, line.number, 0}, line.error);
      }
      if (!line.skipped) take(line.attempt);
    }
  }
}

std::vector<Attempt> read_attempts(const std::string& path) {
  std::vector<Attempt> all;
  read_attempts(path, [&](const Attempt& attempt) { all.push_back(attempt); });
  return all;
}

}  // namespace kbench
