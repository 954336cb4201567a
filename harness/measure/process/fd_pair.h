// Pairs of connected file descriptors.
#pragma once

#include <utility>

#include "libkbench/base/unique_fd.h"

namespace kbench::process {

/// Two connected ends of a Unix stream socket, closed in programs that are executed. Not a pipe:
/// writing to a peer that has died must not raise SIGPIPE. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_socket_pair();
/// The reading and the writing end of a pipe, closed in programs that are executed. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_pipe();
/// Reads and writes return at once when they would wait. Throws kIo.
void make_nonblocking(const UniqueFd& descriptor);

}  // namespace kbench::process
