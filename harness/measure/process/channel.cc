#include "harness/measure/process/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

struct Header {
  uint32_t kind, bytes, descriptors;
};

/// An Attach has a few; the kernel's own limit is 253.
constexpr size_t kMostDescriptors = 64;

[[noreturn]] void gone(const char* doing) {
  throw Error(ErrorCode::kIo, std::string("the other process is gone while ") + doing);
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

Channel::Channel(UniqueFd socket, std::chrono::milliseconds patience)
    : socket_(std::move(socket)), patience_(patience) {
  make_nonblocking(socket_);
}

void Channel::send(uint32_t kind, std::string_view payload, std::span<const int> descriptors) {
  const Header header{kind, static_cast<uint32_t>(payload.size()),
                      static_cast<uint32_t>(descriptors.size())};
  if (payload.size() > UINT32_MAX || descriptors.size() > kMostDescriptors) {
    throw Error(ErrorCode::kInternal, "a message too large to send");
  }
  std::string text(reinterpret_cast<const char*>(&header), sizeof header);
  text += payload;
  std::vector<char> control(CMSG_SPACE(sizeof(int) * kMostDescriptors));
  for (size_t sent = 0; sent < text.size();) {
    iovec part{text.data() + sent, text.size() - sent};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (sent == 0 && !descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* attached = CMSG_FIRSTHDR(&message);
      attached->cmsg_level = SOL_SOCKET;
      attached->cmsg_type = SCM_RIGHTS;
      attached->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(attached), descriptors.data(), descriptors.size_bytes());
    }
    const ssize_t n = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait{socket_.get(), POLLOUT, 0};
      if (poll(&wait, 1, static_cast<int>(patience_.count())) == 0) gone("it takes no messages");
    } else if (n == 0 || errno != EINTR) {
      gone("it is sent a message");
    }
  }
}

bool Channel::read_some(size_t most_bytes) {
  std::array<char, 64 << 10> bytes;
  const size_t room = sizeof(Header) + most_bytes - std::min(buffer_.size(), most_bytes);
  iovec part{bytes.data(), std::min(bytes.size(), room)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (n < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return false;
    ended_ = true;  // The other end has reset the connection.
    buffer_.clear();
    return false;
  }
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
      descriptors_.emplace_back(fd);
    }
  }
  if (n == 0) {
    ended_ = true;
    buffer_.clear();  // an incomplete message
    return false;
  }
  if (descriptors_.size() > kMostDescriptors || (message.msg_flags & MSG_CTRUNC) != 0) {
    throw Error(ErrorCode::kParse, "a message with too many descriptors");
  }
  buffer_.append(bytes.data(), static_cast<size_t>(n));
  return true;
}

std::optional<Frame> Channel::take(size_t most_bytes) {
  if (buffer_.size() < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, buffer_.data(), sizeof header);
  if (header.bytes > most_bytes || header.descriptors > descriptors_.size()) {
    throw Error(ErrorCode::kParse, "a message of " + std::to_string(header.bytes) +
                                       " bytes where " + std::to_string(most_bytes) +
                                       " are allowed, or without its descriptors");
  }
  if (buffer_.size() < sizeof header + header.bytes) return std::nullopt;
  Frame frame;
  frame.kind = header.kind;
  frame.payload = buffer_.substr(sizeof header, header.bytes);
  for (uint32_t i = 0; i < header.descriptors; ++i) {
    frame.descriptors.push_back(std::move(descriptors_.front()));
    descriptors_.pop_front();
  }
  buffer_.erase(0, sizeof header + header.bytes);
  return frame;
}

bool Channel::closed() const {
  pollfd end{socket_.get(), POLLRDHUP, 0};
  return ended_ || (poll(&end, 1, 0) > 0 && end.revents != 0);
}

std::optional<Frame> Channel::receive(std::chrono::milliseconds wait, size_t most_bytes) {
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    if (auto frame = take(most_bytes)) return frame;
    if (ended_) return std::nullopt;
    if (read_some(most_bytes)) continue;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (ended_ || left.count() <= 0) return std::nullopt;
    pollfd ready{socket_.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(left.count()));
  }
}

}  // namespace kbench::process
