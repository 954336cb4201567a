#include "harness/measure/process/fd_pair.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "kbench/error.h"

namespace kbench::process {
namespace {

[[noreturn]] void throw_io(const char* what, int error) {
  throw Error(ErrorCode::kIo, std::string("cannot make a ") + what + ": " + std::strerror(error));
}

/// Moves the descriptor above the numbers of a child's descriptors, so that placing those in the
/// child cannot overwrite it.
UniqueFd lift(int fd) {
  constexpr int kFirstFree = 10;
  const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree);
  const int error = errno;
  close(fd);
  if (lifted < 0) throw_io("descriptor", error);
  return UniqueFd(lifted);
}

std::pair<UniqueFd, UniqueFd> lift(const int (&ends)[2]) {
  UniqueFd first = lift(ends[0]);
  return {std::move(first), lift(ends[1])};
}

}  // namespace

std::pair<UniqueFd, UniqueFd> make_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_io("socket", errno);
  return lift(ends);
}

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_io("pipe", errno);
  return lift(ends);
}

void make_nonblocking(const UniqueFd& descriptor) {
  if (fcntl(descriptor.get(), F_SETFL, O_NONBLOCK) != 0) throw_io("descriptor", errno);
}

}  // namespace kbench::process
