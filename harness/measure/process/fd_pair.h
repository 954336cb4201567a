// Pairs of connected file descriptors.
#pragma once

#include <utility>

#include "libkbench/base/unique_fd.h"

namespace kbench::process {

/// Two connected ends of a Unix stream socket, closed on exec. Unlike for a pipe, MSG_NOSIGNAL
/// avoids SIGPIPE when the peer has ended. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_socket_pair();
/// The reading and the writing end of a pipe, closed on exec. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_pipe();
/// Sets O_NONBLOCK. Throws kIo.
void make_nonblocking(const UniqueFd& descriptor);

}  // namespace kbench::process
