// Pairs of connected descriptors, and messages with descriptors between two processes that need not
// trust each other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libkbench/base/files.h"

namespace kbench::process {

/// Two connected ends of a Unix stream socket, closed on exec. Unlike for a pipe, MSG_NOSIGNAL
/// avoids SIGPIPE when the peer has ended. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_socket_pair();
/// The reading and the writing end of a pipe, closed on exec. Throws kIo.
std::pair<UniqueFd, UniqueFd> make_pipe();
/// Sets O_NONBLOCK. Throws kIo.
void make_nonblocking(const UniqueFd& descriptor);

/// One message: a kind, bytes, and the descriptors sent along.
struct Frame {
  uint32_t kind = 0;
  std::string payload;
  std::vector<UniqueFd> descriptors;
};

/// One end of a Unix stream socket. However much the other end sends, it holds at most one message
/// of the size that receive() allows. Not thread-safe.
class Channel {
 public:
  /// `patience`: how long the other end may accept nothing of what is sent.
  explicit Channel(UniqueFd socket, std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Throws kIo if the other end is gone, or out of patience.
  void send(uint32_t kind, std::string_view payload, std::span<const int> descriptors = {});
  /// The next message; nothing if it has not arrived completely after `wait`, or at the end of the
  /// stream. Throws kParse for a message that is malformed or larger than `most_bytes`; the channel
  /// must not be used after that.
  std::optional<Frame> receive(std::chrono::milliseconds wait, size_t most_bytes);
  /// The other end has closed, and everything it sent has been received.
  bool ended() const { return ended_ && buffer_.empty(); }
  /// Whether the other end has closed, even where messages of it are still to be received.
  bool closed() const;

 private:
  std::optional<Frame> take(size_t most_bytes);
  bool read_some(size_t most_bytes);

  UniqueFd socket_;
  std::chrono::milliseconds patience_;
  std::string buffer_;
  std::deque<UniqueFd> descriptors_;
  bool ended_ = false;
};

}  // namespace kbench::process
