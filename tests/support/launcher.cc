// launcher PROGRAM ARGUMENTS...: runs a test, and ends all that it started and left, also where the
// test is killed. Its exit code, or the signal that ended it, is the test's.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

volatile pid_t test = 0;

void end_test(int) { kill(test, SIGKILL); }

void kill_children() {
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
  }
}

/// Waits two seconds for those that end by themselves, such as what empties the folder of a process
/// that was killed.
void wait_for_children() {
  for (int left = 200; left > 0;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) return;
    if (ended > 0) continue;
    usleep(10'000);
    --left;
  }
}

[[noreturn]] void become_test(char** command, pid_t launcher) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(127);
  execvp(command[0], command);
  std::perror(command[0]);
  _exit(127);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 127;
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // What its processes leave becomes this one's.
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // where ctest is killed
  sigset_t stops, before;
  sigemptyset(&stops);
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&stops, each);
  sigprocmask(SIG_BLOCK, &stops, &before);
  const pid_t launcher = getpid();
  test = fork();
  if (test < 0) return 127;
  if (test == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    become_test(arguments + 1, launcher);
  }
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) signal(each, end_test);
  sigprocmask(SIG_SETMASK, &before, nullptr);

  int status = 0;
  for (pid_t ended = 0; ended != test;) {
    ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) return 127;
  }
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) signal(each, SIG_IGN);
  wait_for_children();
  // A process that is killed hands its own to this one before it can be waited for.
  do kill_children();
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const rlimit none = {};
  setrlimit(RLIMIT_CORE, &none);  // The test has left its own.
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
