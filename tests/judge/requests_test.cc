// What a judge reads, in a process of its own, which ends with its client.
#include "harness/measure/judge/requests.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/channel.h"
#include "libkbench/base/files.h"

namespace kbench::judge {
namespace {

/// A fork that does this and exits with its answer.
pid_t forked(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  return child;
}

/// A fork whose standard input is that socket.
pid_t judge_on(UniqueFd socket, const std::function<int(Requests&)>& work) {
  return forked([&] {
    dup2(socket.get(), STDIN_FILENO);
    closefrom(STDERR_FILENO + 1);
    Requests requests;
    return work(requests);
  });
}

[[noreturn]] void wait_for_ever() {
  for (;;) pause();
}

TEST(Requests, AreTakenLineByLineWhateverTheirLength) {
  auto [ours, theirs] = process::make_socket_pair();
  const std::string large(300000, 'x');
  const pid_t judge = judge_on(std::move(theirs), [&](Requests& requests) {
    if (requests.next().line != "one") return 1;
    if (requests.next().line != large) return 2;
    const Requests::Received last = requests.next();
    if (last.line != "three") return 4;
    while (!last.cancelled.stop_requested()) usleep(1000);
    return 0;
  });
  const std::string text = "one\n" + large + "\nthree\n" + judge::kCancelLine + "\n";
  write_all(ours.get(), text, "a socket");
  int status = 0;
  ASSERT_EQ(waitpid(judge, &status, 0), judge);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Requests, EndTheProcessWithTheClientDespiteSharedSockets) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // The judge's parent will be this.
  const auto ends = process::make_pipe();
  const pid_t client = forked([&]() -> int {
    auto [ours, theirs] = process::make_socket_pair();
    const pid_t judge = judge_on(std::move(theirs), [](Requests& requests) -> int {
      requests.next();
      wait_for_ever();
    });
    theirs.reset();
    const pid_t holder = forked([]() -> int { wait_for_ever(); });
    const std::array<pid_t, 2> made = {judge, holder};
    if (write(ends.second.get(), made.data(), sizeof made) != sizeof made) return 1;
    wait_for_ever();
  });
  std::array<pid_t, 2> made = {};
  ASSERT_EQ(read(ends.first.get(), made.data(), sizeof made), static_cast<ssize_t>(sizeof made));
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 6000 && ended == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = waitpid(made[0], &status, WNOHANG);
  }
  EXPECT_EQ(ended, made[0]);
  for (const pid_t each : made) kill(each, SIGKILL);
  waitpid(made[1], nullptr, 0);
  if (ended == 0) waitpid(made[0], nullptr, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace kbench::judge
