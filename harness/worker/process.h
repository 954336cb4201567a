// A child process with a job on its standard input, answers on descriptor 3, and its output kept.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::worker {

/// An open descriptor, closed on destruction.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

/// How a child ended.
struct Exit {
  bool ended = false;
  int status = 0;  ///< exit status, when it was not a signal
  int signal = 0;
};
/// "killed by SIGSEGV (Segmentation fault)", "exited with status 3".
std::string describe(const Exit& exit);

/// Starts a program in a process group of its own; destruction kills the group. Not thread-safe;
/// several objects may live in several threads.
class ChildProcess {
 public:
  /// Throws Error: kNotFound when the program cannot be run, kIo.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const std::string& input_line);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until there is something to read, or for that long, and returns whole lines read from
  /// descriptor 3.
  std::vector<std::string> read_answers(std::chrono::milliseconds wait);
  /// No more answers can come.
  bool answers_ended() const { return !answers_.open(); }
  /// Ended or not, without waiting.
  Exit poll();
  /// Waits that long for the child to end by itself, then kills it.
  Exit finish(std::chrono::milliseconds grace);
  /// SIGKILL to its process group; waits for the end, though not forever.
  void kill();
  /// Resident memory; 0 when it is not known.
  int64_t resident_bytes() const;
  /// The end of what it wrote to standard output and standard error.
  const std::string& output() const { return output_text_; }

 private:
  void read_output();

  pid_t pid_ = -1;
  Exit exit_;
  Descriptor input_, answers_, output_;
  std::string answer_text_, output_text_;
};

}  // namespace kbench::worker
