// A child process in a group of its own, with only the descriptors and variables it is given; and
// those that are stopped while something is timed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/process/channel.h"
#include "libkbench/base/files.h"

namespace kbench::process {

/// How a child ended.
struct Exit {
  bool ended = false;
  int status = 0;  ///< exit status, when it was not a signal
  int signal = 0;
};
/// "killed by SIGSEGV (Segmentation fault)", "exited with status 3".
std::string describe(const Exit& exit);
/// Whether it was SIGKILL or SIGTERM: unless kbench sent it, the kernel's memory killer or a user
/// did.
bool ended_from_outside(const Exit& exit);

struct Spawn {
  std::string program;
  std::vector<std::string> arguments;
  std::string name = "kbench";  ///< its argument 0
  /// (number here, number in the child). In the child 0 is /dev/null unless it is given, 1 and 2 go
  /// to output(), and no others are open.
  std::vector<std::pair<int, int>> descriptors;
  /// "NAME=value"; nothing: this process's own.
  std::optional<std::vector<std::string>> environment;
  /// Start in an empty, already removed folder, in which nothing can be made.
  bool empty_folder = false;
};

/// The last line of a text that is not blank, escaped and shortened for a message; "" for none.
std::string last_line(std::string_view text, size_t longest);

/// The destructor kills the whole group. Not thread-safe, but different objects may be used on
/// different threads. In a fork of the process that made it, it counts as ended and cannot reach
/// the child.
class ChildProcess {
 public:
  /// Throws Error: kNotFound when the program cannot be run, kInternal when the system has no
  /// process or memory left for it, kIo.
  explicit ChildProcess(const Spawn& spawn);
  /// Takes over a child that leads its group; `output`: the reading end of its output.
  ChildProcess(pid_t child, UniqueFd output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return pid_; }
  /// False in a fork of the process that made it.
  bool is_ours() const;
  /// The state now, without waiting.
  Exit poll();
  /// Waits that long for the child to end, then kills it.
  Exit finish(std::chrono::milliseconds grace);
  /// Sends SIGKILL to its process group, without waiting.
  void begin_kill();
  /// The same, and waits for its end, 30 s at most.
  void kill();
  /// Stops all of the child's threads before it returns true. False if the child has ended.
  bool stop();
  void resume();
  /// Its resident memory that is not shared, bytes; 0 if unknown.
  int64_t own_bytes() const;
  /// The last 4 KiB that it wrote to standard output and standard error.
  const std::string& output();
  /// The last line of output().
  std::string last_words() { return last_line(output(), 200); }
  /// Readable when output() has more to read; for poll().
  int output_descriptor() const { return output_.get(); }

 private:
  pid_t pid_ = -1;
  pid_t owner_;  ///< the process that made it
  bool stopped_ = false;
  Exit exit_;
  UniqueFd output_;
  std::string output_text_;
};

/// An empty folder that has been removed, so that nothing can be made in it. Not open on failure.
UniqueFd nameless_folder();

/// Kills it and waits for its end on another thread, as drivers take tenths of a second to tear
/// down a process. Waits here if no thread can be started.
void end_in_background(std::unique_ptr<ChildProcess> process);

/// Processes that are stopped between pause() and resume(): on an H200, one process
/// opening the device lengthens one in ten runs of 2.5 ms by up to a half. Thread-safe.
class PausableProcesses {
 public:
  /// Membership of one process, until it is destroyed.
  class Entry {
   public:
    Entry() = default;
    Entry(Entry&& other) noexcept;
    Entry& operator=(Entry&& other) noexcept;
    ~Entry() { remove(); }
    /// The process is no longer paused, and is resumed if it was.
    void remove();

   private:
    friend class PausableProcesses;
    PausableProcesses* of_ = nullptr;
    std::list<UniqueFd>::iterator which_;
  };
  /// A child of this process that has not been waited for; or another of the user's processes,
  /// which may still run for a moment when pause() returns.
  Entry add(pid_t process);

  /// Stops all of them and waits for it, for 0.7 ms at most: one that is inside a longer system
  /// call stops at its end. Work that they have submitted to a device goes on.
  void pause();
  /// To be called once for each pause(); they go on after the last call.
  void resume();

 private:
  std::mutex mutex_;
  std::list<UniqueFd> children_;  ///< pidfds
  int paused_ = 0;                ///< how many scopes want them to stand still
};

/// Pauses them during a scope, which may lie in another.
class PausedScope {
 public:
  explicit PausedScope(PausableProcesses& pausable) : pausable_(pausable) { pausable_.pause(); }
  ~PausedScope() { pausable_.resume(); }
  PausedScope(const PausedScope&) = delete;
  PausedScope& operator=(const PausedScope&) = delete;

 private:
  PausableProcesses& pausable_;
};

}  // namespace kbench::process
