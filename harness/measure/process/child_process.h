// A child process in a group of its own, with only the descriptors and variables it is given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/process/fd_pair.h"

namespace kbench::process {

/// How a child ended.
struct Exit {
  bool ended = false;
  int status = 0;  ///< exit status, when it was not a signal
  int signal = 0;
};
/// "killed by SIGSEGV (Segmentation fault)", "exited with status 3".
std::string describe(const Exit& exit);
/// True for SIGKILL and SIGTERM that nobody here sent: the kernel's memory killer, or an operator.
bool ended_from_outside(const Exit& exit);

struct Spawn {
  std::string program;
  std::vector<std::string> arguments;
  /// Ours -> theirs. UniqueFd 0 is /dev/null unless it is given; 1 and 2 are kept (output());
  /// no other is open in the child.
  std::vector<std::pair<int, int>> descriptors;
  /// "NAME=value"; empty: this process's own.
  std::optional<std::vector<std::string>> environment;
  /// Start in a folder that is empty and stays so: it is removed before the child runs.
  bool empty_folder = false;
};

/// The last line of a text that is not blank, escaped and shortened for a message; "" for none.
std::string last_line(std::string_view text, size_t longest);

/// Destruction kills the whole group. Not thread-safe; several objects may live in several threads.
/// In a fork of the process that made it, it has ended, and nothing that is done to it reaches the
/// child: that is the other process's.
class ChildProcess {
 public:
  /// Throws Error: kNotFound when the program cannot be run, kInternal when the system has no
  /// process or memory left for it, kIo.
  explicit ChildProcess(const Spawn& spawn);
  /// A child that was made otherwise and leads a group; `output`: where its words come out.
  ChildProcess(pid_t child, UniqueFd output);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return pid_; }
  /// False in a fork of the process that made it.
  bool is_ours() const;
  /// Ended or not, without waiting.
  Exit poll();
  /// Waits that long for the child to end by itself, then kills it.
  Exit finish(std::chrono::milliseconds grace);
  /// SIGKILL to its process group, without waiting.
  void begin_kill();
  /// The same, and waits for the end, though not forever.
  void kill();
  /// Stops all of the child's threads; when this returns true none runs. False when it has ended.
  bool stop();
  void resume();
  /// Resident memory that it shares with nobody, bytes; 0 when it is not known.
  int64_t own_bytes() const;
  /// The end of what it wrote to standard output and standard error.
  const std::string& output();
  /// The last line of output().
  std::string last_words() { return last_line(output(), 200); }
  /// Readable when output() has more to take; for poll().
  int output_descriptor() const { return output_.get(); }

 private:
  pid_t pid_ = -1;
  pid_t owner_;  ///< the process that made it
  bool stopped_ = false;
  Exit exit_;
  UniqueFd output_;
  std::string output_text_;
};

/// An empty folder that no longer has a name: nothing can be made in it. Not open where none can be
/// had.
UniqueFd nameless_folder();

/// Kills it, and waits for its end on a thread of its own, where there is one to be had: drivers
/// take tenths of a second to tear down what a process held.
void end_in_background(std::unique_ptr<ChildProcess> process);

}  // namespace kbench::process
