#include "harness/worker/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "harness/worker/protocol.h"
#include "kbench/error.h"

namespace kbench::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kOutputKept = 4096;
/// A process that does not die of SIGKILL is stuck in the kernel; waiting longer would not help.
constexpr std::chrono::seconds kKillPatience(30);

[[noreturn]] void throw_io(const char* what, int error) {
  throw Error(ErrorCode::kIo,
              std::string("cannot start a worker process: ") + what + ": " + std::strerror(error));
}

/// The descriptor moved above the ones the child gets, so that placing those cannot overwrite it.
Descriptor lift(int fd) {
  const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  const int error = errno;
  close(fd);
  if (lifted < 0) throw_io("descriptors", error);
  return Descriptor(lifted);
}

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_io("pipe", errno);
  Descriptor read = lift(ends[0]);
  return {std::move(read), lift(ends[1])};
}

/// A socket, not a pipe: writing to a child that has died must not raise SIGPIPE here.
std::pair<Descriptor, Descriptor> make_input() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_io("socket", errno);
  Descriptor read = lift(ends[0]);
  return {std::move(read), lift(ends[1])};
}

/// Appends what can be read now; closes at the end of the stream.
void drain(Descriptor& from, std::string& to) {
  char buffer[4096];
  while (from.open()) {
    const ssize_t n = read(from.get(), buffer, sizeof buffer);
    if (n > 0) {
      to.append(buffer, static_cast<size_t>(n));
    } else if (n == 0) {
      from.reset();
    } else if (errno != EINTR) {
      if (errno != EAGAIN) from.reset();
      return;
    }
  }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string describe(const Exit& exit) {
  if (exit.signal == 0) return "exited with status " + std::to_string(exit.status);
  const char* name = sigabbrev_np(exit.signal);
  const char* meaning = sigdescr_np(exit.signal);
  return "killed by SIG" + std::string(name ? name : std::to_string(exit.signal)) +
         (meaning ? " (" + std::string(meaning) + ")" : "");
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& input_line) {
  auto [input_read, input_write] = make_input();
  auto [answers_read, answers_write] = make_pipe();
  auto [output_read, output_write] = make_pipe();

  static char name[] = "kbench";
  std::vector<char*> argv = {name};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input_read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_write.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answers_write.get(), kAnswerDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  const int error =
      posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(ErrorCode::kNotFound,
                "cannot run the worker program '" + program + "': " + std::strerror(error));
  }
  answers_ = std::move(answers_read);
  output_ = std::move(output_read);
  fcntl(answers_.get(), F_SETFL, O_NONBLOCK);
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);

  const std::string line = input_line + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t n = send(input_write.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // It has died already: poll() will say how.
    sent += static_cast<size_t>(n);
  }
}

ChildProcess::~ChildProcess() { kill(); }

std::vector<std::string> ChildProcess::read_answers(std::chrono::milliseconds wait) {
  pollfd waits[2] = {{answers_.get(), POLLIN, 0}, {output_.get(), POLLIN, 0}};
  if (::poll(waits, 2, static_cast<int>(wait.count())) > 0) {
    drain(answers_, answer_text_);
    read_output();
  }
  std::vector<std::string> lines;
  for (size_t end; (end = answer_text_.find('\n')) != std::string::npos;) {
    lines.push_back(answer_text_.substr(0, end));
    answer_text_.erase(0, end + 1);
  }
  return lines;
}

void ChildProcess::read_output() {
  drain(output_, output_text_);
  if (output_text_.size() > kOutputKept) {
    output_text_.erase(0, output_text_.size() - kOutputKept);
  }
}

Exit ChildProcess::poll() {
  if (exit_.ended || pid_ < 0) return exit_;
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(pid_, &status, WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return exit_;
  exit_.ended = true;
  if (ended < 0) {
    exit_.status = -1;
  } else if (WIFSIGNALED(status)) {
    exit_.signal = WTERMSIG(status);
  } else {
    exit_.status = WEXITSTATUS(status);
  }
  read_output();
  return exit_;
}

Exit ChildProcess::finish(std::chrono::milliseconds grace) {
  const auto deadline = Clock::now() + grace;
  while (!poll().ended && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill();
  return exit_;
}

void ChildProcess::kill() {
  if (pid_ < 0 || exit_.ended) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  const auto deadline = Clock::now() + kKillPatience;
  while (!poll().ended && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int64_t ChildProcess::resident_bytes() const {
  const std::string path = "/proc/" + std::to_string(pid_) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  long long total = 0, resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace kbench::worker
