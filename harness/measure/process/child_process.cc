#include "harness/measure/process/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/start_thread.h"

namespace kbench::process {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kOutputKept = 4096;
/// A process that survives SIGKILL for so long is stuck in the kernel.
constexpr std::chrono::seconds kKillPatience(30);
constexpr std::chrono::milliseconds kLookEvery(1);

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// posix_spawn's two objects, destroyed together.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
};

/// A process stops only at the end of its system call. One that lasts longer than this waits for
/// another process's call and uses no device meanwhile.
constexpr std::chrono::microseconds kStopPatience(700);
constexpr std::chrono::microseconds kPollInterval(20);

void send(const UniqueFd& child, int signal) {
  syscall(SYS_pidfd_send_signal, child.get(), signal, nullptr, 0);
}

/// Stopped or ended, or no child of this process.
bool is_stopped(const UniqueFd& child) {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child.get());
  return waitid(P_PIDFD, id, &info, WSTOPPED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

}  // namespace

UniqueFd nameless_folder() {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) / "kbench_XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return {};
  UniqueFd folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  rmdir(path.c_str());
  return folder;
}

std::string describe(const Exit& exit) {
  if (exit.signal == 0) return "exited with status " + std::to_string(exit.status);
  const char* name = sigabbrev_np(exit.signal);
  const char* meaning = sigdescr_np(exit.signal);
  return "killed by SIG" + std::string(name ? name : std::to_string(exit.signal)) +
         (meaning ? " (" + std::string(meaning) + ")" : "");
}

bool ended_from_outside(const Exit& exit) {
  return exit.signal == SIGKILL || exit.signal == SIGTERM;
}

ChildProcess::ChildProcess(const Spawn& spawn) : owner_(getpid()) {
  auto [output_read, output_write] = make_pipe();
  make_nonblocking(output_read);
  SpawnSettings settings;
  posix_spawn_file_actions_t* actions = &settings.actions;
  posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions, output_write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions, output_write.get(), STDERR_FILENO);
  const UniqueFd folder = spawn.empty_folder ? nameless_folder() : UniqueFd();
  if (folder.open()) posix_spawn_file_actions_addfchdir_np(actions, folder.get());
  int first_closed = STDERR_FILENO + 1;
  for (const auto& each : spawn.descriptors) first_closed = std::max(first_closed, each.second + 1);
  std::vector<UniqueFd> out_of_the_way;  // Copies whose numbers are none of the child's.
  for (const auto& [ours, theirs] : spawn.descriptors) {
    const UniqueFd& copy = out_of_the_way.emplace_back(fcntl(ours, F_DUPFD_CLOEXEC, first_closed));
    posix_spawn_file_actions_adddup2(actions, copy.open() ? copy.get() : ours, theirs);
  }
  for (int gap = STDERR_FILENO + 1; gap < first_closed; ++gap) {
    const bool given = std::ranges::any_of(spawn.descriptors,
                                           [gap](const auto& each) { return each.second == gap; });
    if (!given) posix_spawn_file_actions_addclose(actions, gap);
  }
  posix_spawn_file_actions_addclosefrom_np(actions, first_closed);

  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);

  std::vector<std::string> arguments = {spawn.name};
  arguments.insert(arguments.end(), spawn.arguments.begin(), spawn.arguments.end());
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> variables =
      spawn.environment ? pointers(*spawn.environment) : std::vector<char*>{};
  const int error = posix_spawn(&pid_, spawn.program.c_str(), actions, &settings.attributes,
                                argv.data(), spawn.environment ? variables.data() : environ);
  if (error != 0) {
    pid_ = -1;
    const bool none_left = error == EAGAIN || error == ENOMEM;
    throw Error(none_left ? ErrorCode::kInternal : ErrorCode::kNotFound,
                "cannot run the program '" + spawn.program + "': " + std::strerror(error) +
                    (error == EAGAIN ? " (see ulimit -u, and a container's pids.max)" : ""));
  }
  output_ = std::move(output_read);
}

ChildProcess::ChildProcess(pid_t child, UniqueFd output)
    : pid_(child), owner_(getpid()), output_(std::move(output)) {
  make_nonblocking(output_);
}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::is_ours() const { return getpid() == owner_; }

Exit ChildProcess::poll() {
  if (!is_ours()) return {.ended = true, .status = -1};
  if (exit_.ended || pid_ < 0) return exit_;
  int status = 0;
  const auto ended = TEMP_FAILURE_RETRY(waitpid(pid_, &status, WNOHANG));
  if (ended == 0) return exit_;
  exit_.ended = true;
  if (ended < 0) {
    exit_.status = -1;
  } else if (WIFSIGNALED(status)) {
    exit_.signal = WTERMSIG(status);
  } else {
    exit_.status = WEXITSTATUS(status);
  }
  ::kill(-pid_, SIGKILL);  // The processes that it started.
  return exit_;
}

Exit ChildProcess::finish(std::chrono::milliseconds grace) {
  const auto deadline = Clock::now() + grace;
  while (!poll().ended && Clock::now() < deadline) std::this_thread::sleep_for(kLookEvery);
  kill();
  return exit_;
}

void ChildProcess::begin_kill() {
  if (pid_ < 0 || exit_.ended || !is_ours()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

void ChildProcess::kill() {
  if (pid_ < 0 || exit_.ended || !is_ours()) return;
  begin_kill();
  const auto deadline = Clock::now() + kKillPatience;
  while (!poll().ended && Clock::now() < deadline) std::this_thread::sleep_for(kLookEvery);
}

void end_in_background(std::unique_ptr<ChildProcess> process) {
  if (!process->is_ours()) return;
  process->begin_kill();
  try {
    start_thread<std::thread>([ending = std::move(process)] {
      ending->finish(kKillPatience);
    }).detach();
  } catch (const Error&) {  // No thread: the destructor has killed and waited.
  }
}

bool ChildProcess::stop() {
  if (poll().ended) return false;
  if (stopped_) return true;  // The kernel reports a stop only once.
  if (::kill(pid_, SIGSTOP) != 0) return false;
  siginfo_t info{};
  const auto got = TEMP_FAILURE_RETRY(
      waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT));
  if (got != 0 || info.si_code != CLD_STOPPED) return false;
  waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED);
  stopped_ = true;
  return true;
}

void ChildProcess::resume() {
  if (pid_ >= 0 && !exit_.ended && is_ours()) ::kill(pid_, SIGCONT);
  stopped_ = false;
}

int64_t ChildProcess::own_bytes() const {
  const std::string path = "/proc/" + std::to_string(pid_) + "/statm";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  long long total = 0, resident = 0, shared = 0;
  const int read = std::fscanf(file, "%lld %lld %lld", &total, &resident, &shared);
  std::fclose(file);
  return read == 3 ? (resident - shared) * sysconf(_SC_PAGESIZE) : 0;
}

const std::string& ChildProcess::output() {
  // Bounded, as a child may write faster than this reads.
  char buffer[4096];
  constexpr int kMostReads = 16;
  for (int i = 0; i < kMostReads && output_.open(); ++i) {
    const ssize_t n = read(output_.get(), buffer, sizeof buffer);
    if (n == 0) output_.reset();
    if (n <= 0) break;
    output_text_.append(buffer, static_cast<size_t>(n));
    if (output_text_.size() > kOutputKept) {
      output_text_.erase(0, output_text_.size() - kOutputKept);
    }
  }
  return output_text_;
}

std::string last_line(std::string_view text, size_t longest) {
  const size_t end = text.find_last_not_of(" \r\n\t");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  return shown(text.substr(text.find_last_of('\n') + 1), longest);
}

PausableProcesses::Entry::Entry(Entry&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), which_(other.which_) {}

PausableProcesses::Entry& PausableProcesses::Entry::operator=(Entry&& other) noexcept {
  remove();
  of_ = std::exchange(other.of_, nullptr);
  which_ = other.which_;
  return *this;
}

void PausableProcesses::Entry::remove() {
  PausableProcesses* const of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  const std::lock_guard lock(of->mutex_);
  if (of->paused_ > 0) send(*which_, SIGCONT);
  of->children_.erase(which_);
}

PausableProcesses::Entry PausableProcesses::add(pid_t child) {
  Entry entry;
  UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!handle.open()) return entry;  // It has ended, or the kernel is older than 5.3.
  const std::lock_guard lock(mutex_);
  if (paused_ > 0) send(handle, SIGSTOP);
  entry.which_ = children_.insert(children_.end(), std::move(handle));
  entry.of_ = this;
  return entry;
}

void PausableProcesses::pause() {
  const std::lock_guard lock(mutex_);
  if (paused_++ > 0) return;
  for (const UniqueFd& child : children_) send(child, SIGSTOP);
  const auto end = Clock::now() + kStopPatience;
  for (const UniqueFd& child : children_) {
    while (!is_stopped(child) && Clock::now() < end) std::this_thread::sleep_for(kPollInterval);
  }
}

void PausableProcesses::resume() {
  const std::lock_guard lock(mutex_);
  if (--paused_ > 0) return;
  for (const UniqueFd& child : children_) send(child, SIGCONT);
}

}  // namespace kbench::process
