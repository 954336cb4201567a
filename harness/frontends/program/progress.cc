#include "harness/frontends/program/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "libkbench/base/start_thread.h"

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
    : stream_(stream), terminal_(isatty(fileno(stream)) == 1), total_(total) {
  if (!terminal_) return;
  ticker_ = start_thread<std::jthread>([this](const std::stop_token& stop) { tick(stop); });
}

void Progress::tick(const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  while (!stop.stop_requested()) {
    stopped_.wait_for(hold, stop, std::chrono::seconds(1), [] { return false; });
    if (!hidden_) draw();
  }
}

void Progress::begin(const std::string& name) {
  const std::lock_guard hold(mutex_);
  current_ = shown(name);
  draw();
}

void Progress::begin(const std::string& name, std::string_view stage) {
  constexpr std::pair<std::string_view, const char*> kStages[] = {
      {"load", "starts its process"},
      {"compile", "compiles"},
      {"warm-up", "prepares the task, and the values to hold it to"},
      {"sample", "measures and checks"},
      {judge::kQueueStage, "waits for the device"}};
  const auto known = std::ranges::find(kStages, stage, [](const auto& each) { return each.first; });
  begin(name + "  " + (known == std::end(kStages) ? std::string(stage) : known->second));
}

void Progress::finish(const std::string& name, const Result& result) {
  std::string outcome(name_of(result.verdict));
  if (result.correct()) {
    outcome += "  " + format_speedup(result.speedup) + "  " + format_ms(result.candidate_ms);
  }
  if (proves_nothing(result)) {
    outcome += result.certificate == kNotCertified ? "  not certified: it proves nothing"
                                                   : "  certificate " + result.certificate;
  }
  finish(name, outcome);
}

void Progress::finish(const std::string& name, const std::string& outcome) {
  const std::lock_guard hold(mutex_);
  advance();
  if (terminal_) return;
  note(position(std::min(done_, total_), total_) + " " + shown(name) + "  " +
       shown_message(outcome));
}

void Progress::advance() {
  const std::lock_guard hold(mutex_);
  ++done_;
  current_.clear();
  draw();
}

void Progress::note(const std::string& line) {
  const std::lock_guard hold(mutex_);
  hide();
  std::fprintf(stream_, "%s\n", line.c_str());
  std::fflush(stream_);
  draw();
}

void Progress::warn(const std::string& line) {
  const std::lock_guard hold(mutex_);
  hide();
  program::warn(line);
  draw();
}

void Progress::close() {
  const std::lock_guard hold(mutex_);
  hide();
  total_ = 0;
}

void Progress::draw() {
  hidden_ = false;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (!terminal_ || total_ == 0 || elapsed.count() < 1) return;
  constexpr size_t kBarWidth = 24;
  const size_t done = std::min(done_, total_);
  const size_t filled = kBarWidth * done / total_;
  std::string line;
  if (total_ > 1) {
    line = position(done, total_) + " " + std::string(filled, '#') +
           std::string(kBarWidth - filled, '.') + " ";
  }
  line += format_seconds(elapsed.count()) + "  " + current_;
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
  const std::lock_guard hold(mutex_);
  hidden_ = true;
  if (!drawn_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  drawn_ = false;
}

}  // namespace kbench::program
