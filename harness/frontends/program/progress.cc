#include "harness/frontends/program/progress.h"

#include <unistd.h>

#include <algorithm>

#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"

namespace kbench::program {
namespace {

/// "[12/48]", with the count padded to the width of the total.
std::string position(size_t done, size_t total) {
  const std::string all = std::to_string(total);
  std::string count = std::to_string(done);
  count.insert(0, all.size() - std::min(all.size(), count.size()), ' ');
  return "[" + count + "/" + all + "]";
}

}  // namespace

Progress::Progress(std::FILE* stream, size_t total)
    : stream_(stream), terminal_(isatty(fileno(stream)) == 1), total_(total) {}

void Progress::begin(const std::string& name) {
  current_ = shown(name);
  draw();
}

void Progress::begin(const std::string& name, std::string_view stage) {
  begin(name + (stage == judge::kQueueStage ? "  waits for the device" : ""));
}

void Progress::finish(const std::string& name, const Result& result) {
  std::string outcome(name_of(result.verdict));
  if (result.correct()) {
    outcome += "  " + format_speedup(result.speedup) + "  " + format_ms(result.candidate_ms);
    if (passed_uncertified(result)) outcome += "  certificate " + result.certificate;
  }
  finish(name, outcome);
}

void Progress::finish(const std::string& name, const std::string& outcome) {
  advance();
  if (terminal_) return;
  note(position(std::min(done_, total_), total_) + " " + shown(name) + "  " +
       shown_message(outcome));
}

void Progress::advance() {
  ++done_;
  current_.clear();
  draw();
}

void Progress::note(const std::string& line) {
  hide();
  std::fprintf(stream_, "%s\n", line.c_str());
  std::fflush(stream_);
  draw();
}

void Progress::warn(const std::string& line) {
  hide();
  program::warn(line);
  draw();
}

void Progress::close() {
  hide();
  total_ = 0;
}

void Progress::draw() {
  if (!terminal_ || total_ == 0) return;
  constexpr size_t kBarWidth = 24;
  const size_t done = std::min(done_, total_);
  const size_t filled = kBarWidth * done / total_;
  std::string line = position(done, total_) + " " + std::string(filled, '#') +
                     std::string(kBarWidth - filled, '.');
  if (done > 0 && done < total_) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const double left = elapsed.count() / double(done) * double(total_ - done);
    line += " " + format_seconds(left) + " left";
  }
  line += "  " + current_;
  const size_t width = terminal_width(stream_);
  if (line.size() >= width) {
    size_t end = width - 1;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
    line.resize(end);  // at the start of a character
  }
  std::fprintf(stream_, "\r\033[K%s", line.c_str());
  std::fflush(stream_);
  drawn_ = true;
}

void Progress::hide() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace kbench::program
