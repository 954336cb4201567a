#include "harness/measure/process/prototype.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kbench/error.h"

namespace kbench::process {
namespace {

/// The prototype's channel to the asking process; in a copy its own descriptor replaces it.
constexpr int kRequests = kCopyDescriptor;
constexpr uint32_t kCopy = 1, kCopied = 2;
constexpr size_t kOutput = 0, kFolder = 1, kGiven = 2;  ///< places of a request's descriptors
constexpr size_t kMostBytes = 4096;
/// Getting ready takes a fifth of a second, on a busy machine seconds.
constexpr std::chrono::seconds kCopyPatience(60);

Spawn with_requests(Spawn spawn, const UniqueFd& requests) {
  spawn.descriptors = {{requests.get(), kRequests}};
  return spawn;
}

std::string bytes_of(pid_t pid) { return {reinterpret_cast<const char*>(&pid), sizeof pid}; }

/// In the copy: closes all other descriptors, and waits until its parent is the asking process.
std::string become_copy(Frame order, pid_t between) {
  if (fchdir(order.descriptors[kFolder].get()) != 0) _exit(1);
  dup2(order.descriptors[kOutput].get(), STDOUT_FILENO);
  dup2(order.descriptors[kOutput].get(), STDERR_FILENO);
  std::string told = std::move(order.payload);
  constexpr int kOutOfTheWay = 64;  // Of the numbers that they are to have.
  std::vector<int> aside;
  for (size_t i = kGiven; i < order.descriptors.size(); ++i) {
    aside.push_back(fcntl(order.descriptors[i].get(), F_DUPFD, kOutOfTheWay));
  }
  order = {};
  int next = kCopyDescriptor;
  for (const int each : aside) dup2(each, next++);
  closefrom(next);
  while (getppid() == between) usleep(50);
  return told;
}

/// Forks twice and ends the process between, so that the copy becomes a child of the asking
/// process, which is a subreaper. Returns the copy's id, 0 on failure; nothing in the copy itself.
std::optional<pid_t> fork_for_another(pid_t& between) {
  auto [read_end, write_end] = make_pipe();
  between = fork();
  if (between < 0) return 0;
  if (between == 0) {
    between = getpid();
    const pid_t copy = fork();
    if (copy == 0) return std::nullopt;
    if (copy > 0) {
      setpgid(copy, copy);
      if (write(write_end.get(), &copy, sizeof copy) != sizeof copy) ::kill(copy, SIGKILL);
    }
    _exit(0);
  }
  write_end.reset();
  pid_t copy = 0;
  const bool known = read(read_end.get(), &copy, sizeof copy) == sizeof copy;
  TEMP_FAILURE_RETRY(waitpid(between, nullptr, 0));
  return known ? copy : 0;
}

}  // namespace

Prototype::Prototype(Spawn spawn)
    : ends_(make_socket_pair()),
      process_(with_requests(std::move(spawn), ends_.second)),
      channel_(std::move(ends_.first)) {
  ends_.second.reset();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::unique_ptr<ChildProcess> Prototype::copy(const std::string& told,
                                              const std::vector<int>& descriptors) {
  const std::lock_guard lock(mutex_);
  auto [output_read, output_write] = make_pipe();
  UniqueFd folder = nameless_folder();
  if (!folder.open()) folder = UniqueFd(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::vector<int> given = {output_write.get(), folder.get()};
  given.insert(given.end(), descriptors.begin(), descriptors.end());
  channel_.send(kCopy, told, given);
  const auto frame = channel_.receive(kCopyPatience, kMostBytes);
  pid_t pid = 0;
  if (frame && frame->kind == kCopied && frame->payload.size() == sizeof pid) {
    std::memcpy(&pid, frame->payload.data(), sizeof pid);
  }
  if (pid > 0) return std::make_unique<ChildProcess>(pid, std::move(output_read));
  process_.kill();
  const std::string said = process_.last_words();
  throw Error(ErrorCode::kIo, "a process could not be copied" + (said.empty() ? "" : ": " + said));
}

std::string serve_copies() {
  std::optional<Channel> channel;
  channel.emplace(UniqueFd(kRequests));
  for (;;) {
    std::optional<Frame> frame;
    try {
      constexpr std::chrono::hours kForever(24);
      frame = channel->receive(kForever, kMostBytes);
      if (!frame && channel->ended()) _exit(0);
      if (!frame) continue;
      if (frame->kind != kCopy || frame->descriptors.size() <= kGiven) _exit(1);
      pid_t between = 0;
      const std::optional<pid_t> copy = fork_for_another(between);
      if (!copy) {
        channel.reset();  // become_copy() reuses its number.
        return become_copy(*std::move(frame), between);
      }
      channel->send(kCopied, bytes_of(*copy));
    } catch (const Error&) {
      _exit(0);
    }
  }
}

}  // namespace kbench::process
