// A timeline of what the processes of a job did, in Chrome's trace event format, which Perfetto
// reads: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Each
// event is a line, appended by one write, so that several processes may write one file; the list
// that they form is not closed, as the format permits. Any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kbench::trace {

using Clock = std::chrono::steady_clock;  ///< one clock for all processes of a host

/// Empties the file and begins to write to it, in this process and in the judges that it starts.
/// Throws kIo.
void begin(const std::string& path, const std::string& process);
/// Goes on in the file that the process which started this one has begun, if it has.
void join(const std::string& process);
/// Whether anything is written: what is costly to describe is left out where it is not.
bool on();

/// A row of the timeline: a thread of this process, or a process that it speaks for.
struct Row {
  int64_t id = 0;         ///< a process's id, or a number of one's own; 0: this thread
  std::string_view name;  ///< said once
};
/// What took from `start` to `end`.
void add(std::string_view what, Clock::time_point start, Clock::time_point end,
         const Row& row = {});

/// What takes as long as this lives, on this thread's row.
class Span {
 public:
  explicit Span(std::string_view what) : what_(on() ? what : "") {}
  ~Span() {
    if (on()) add(what_, start_, Clock::now());
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  std::string what_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace kbench::trace
