#include "harness/measure/runner/python_group.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/runner/python_scratch.h"
#include "kbench/error.h"

namespace kbench::runner {

namespace {

constexpr double kGuardSeconds = 10;

/// The process group in a line of /proc/PID/stat; 0 for a zombie.
pid_t group_in(const std::string& line) {
  const size_t name = line.rfind(')');
  char state = 0;
  int parent = 0, group = 0;
  if (name == std::string::npos) return 0;
  if (std::sscanf(line.c_str() + name + 1, " %c %d %d", &state, &parent, &group) != 3) return 0;
  return state == 'Z' ? 0 : group;
}

[[noreturn]] void guard(pid_t group, const std::string& folder, int end) {
  setsid();  // Killing the maker's process group must not kill this process.
  const int kept = dup2(end, STDERR_FILENO + 1);
  for (int each = 0; each <= STDERR_FILENO; ++each) close(each);
  close_range(static_cast<unsigned>(kept) + 1, ~0u, 0);
  char byte = 0;
  if (TEMP_FAILURE_RETRY(read(kept, &byte, 1)) == 1) _exit(0);
  process::Deadline deadline(kGuardSeconds);
  // A process that has ended stays in its group until its parent has waited for it: zombies do not
  // count.
  while (kill(-group, SIGKILL) == 0 && size_of_group(group) > 0 && !deadline.passed()) usleep(1000);
  remove_tree(folder);
  _exit(0);
}

constexpr size_t kMostProcesses = 64;  // and 4 for each processor, as translations are parallel

}  // namespace

bool end_group(pid_t group, double seconds) {
  process::Deadline deadline(seconds);
  while (!deadline.passed()) {
    const bool none = kill(-group, SIGKILL) != 0 && errno == ESRCH;
    const pid_t ended = waitpid(-group, nullptr, WNOHANG);
    if (none && ended < 0 && errno == ECHILD) return true;
    if (ended == 0) usleep(1000);
  }
  return false;
}

std::optional<siginfo_t> end_of(pid_t child) {
  siginfo_t info{};
  const int got = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return got == 0 && info.si_pid == child ? std::optional(info) : std::nullopt;
}

size_t size_of_group(pid_t group) {
  size_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (std::getline(file, line) && group_in(line) == group) ++count;
  }
  return count;
}

GroupGuard::GroupGuard(pid_t group, const std::string& folder) : group_(group), folder_(folder) {
  start();
}

void GroupGuard::start() {
  auto [read_end, write_end] = process::make_pipe();
  pid_ = fork();
  if (pid_ < 0) throw Error(ErrorCode::kIo, "no process to watch Python's");
  if (pid_ == 0) guard(group_, folder_, read_end.get());
  end_ = std::move(write_end);
}

void GroupGuard::watch() {
  if (waitpid(pid_, nullptr, WNOHANG) == pid_) start();
}

GroupGuard::~GroupGuard() {
  const char byte = 1;
  TEMP_FAILURE_RETRY(write(end_.get(), &byte, 1));
  TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, 0));
}

std::string taken_too_much(pid_t group, const PythonScratch& scratch) {
  const size_t most = kMostProcesses + 4 * std::thread::hardware_concurrency();
  const std::string files = over_limit(scratch.path(), {});
  if (!files.empty()) {
    return "its Python file writes " + files + " into its scratch folder, the most that it may";
  }
  if (size_of_group(group) > most) {
    return "its Python file starts more than " + std::to_string(most) +
           " processes, the most that it may have at once";
  }
  return "";
}

}  // namespace kbench::runner
