#include "tests/runner/attacks.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace kbench::runner {
namespace {

bool opens(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  close(fd);
  return true;
}

bool makes_socket(int domain, int type) {
  const int fd = socket(domain, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  close(fd);
  return true;
}

bool forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) return false;
  waitpid(child, nullptr, 0);
  return true;
}

bool reads_memory(pid_t process) {
  char here = 0;
  const iovec local{&here, 1}, remote{environ, 1};  // the parent is the same program
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == 1 || errno == EFAULT;
}

bool renices(pid_t process) {
  const auto id = static_cast<id_t>(process);
  return setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id)) == 0;  // as it is
}

bool pins(pid_t process) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 &&
         sched_setaffinity(process, sizeof set, &set) == 0;
}

bool limits(pid_t process) {
  rlimit limit{};
  return prlimit(process, RLIMIT_CORE, nullptr, &limit) == 0;
}

bool runs_programs() {
  char* const none[] = {nullptr};
  execve("/nonexistent/program", none, none);
  return errno == ENOENT;  // it looked for it
}

}  // namespace

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all = {
      {"write a file", [](const Target& t) { return opens(t.file, O_WRONLY); }, true},
      {"truncate a file", [](const Target& t) { return truncate(t.file.c_str(), 1) == 0; }},
      {"create a file", [](const Target& t) { return opens(t.file + ".new", O_WRONLY | O_CREAT); }},
      {"remove a file", [](const Target& t) { return unlink((t.file + ".old").c_str()) == 0; }},
      {"read a file", [](const Target& t) { return opens(t.file, O_RDONLY); }, true},
      {"read the accounts", [](const Target&) { return opens("/etc/passwd", O_RDONLY); }, true},
      {"list the root", [](const Target&) { return opens("/", O_RDONLY | O_DIRECTORY); }, true},
      {"run a program", [](const Target&) { return runs_programs(); }},
      {"start a process", [](const Target&) { return forks(); }},
      {"make a TCP socket", [](const Target&) { return makes_socket(AF_INET, SOCK_STREAM); }},
      {"make a Unix socket", [](const Target&) { return makes_socket(AF_UNIX, SOCK_DGRAM); }},
      {"signal the parent", [](const Target& t) { return kill(t.parent, 0) == 0; }},
      {"renice the parent", [](const Target& t) { return renices(t.parent); }},
      {"pin the parent", [](const Target& t) { return pins(t.parent); }},
      {"limit the parent", [](const Target& t) { return limits(t.parent); }},
      {"hold the parent",
       [](const Target& t) { return syscall(SYS_pidfd_open, t.parent, 0) >= 0; }},
      {"read the parent's environment",
       [](const Target& t) {
         return opens("/proc/" + std::to_string(t.parent) + "/environ", O_RDONLY);
       },
       true, false},
      {"trace the parent",
       [](const Target& t) { return ptrace(PTRACE_SEIZE, t.parent, nullptr, nullptr) == 0; }, false,
       false},
      {"read the parent's memory", [](const Target& t) { return reads_memory(t.parent); }, false,
       false},
      {"open the parent's memory",
       [](const Target& t) { return opens("/proc/" + std::to_string(t.parent) + "/mem", O_RDWR); },
       true, false},
  };
  return all;
}

}  // namespace kbench::runner
