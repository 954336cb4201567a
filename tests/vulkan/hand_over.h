// Shared memory between two processes of a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "harness/measure/vulkan/buffer.h"

namespace kbench::vulkan {

struct HandOver {
  uint64_t bytes = 0;
  uint32_t memory_type = 0;
};
union Ancillary {
  char bytes[CMSG_SPACE(sizeof(int))];
  cmsghdr aligned;
};

/// Sends a description of shared memory over a Unix socket.
inline void hand_over(int socket, const SharedMemory& shared) {
  HandOver message{shared.bytes, shared.memory_type};
  iovec part{&message, sizeof message};
  Ancillary ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &ancillary;
  header.msg_controllen = sizeof ancillary;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = shared.descriptor.get();
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  ASSERT_EQ(sendmsg(socket, &header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof message));
}

/// Waits for one and returns it.
inline SharedMemory take_over(int socket) {
  HandOver message;
  iovec part{&message, sizeof message};
  Ancillary ancillary{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = &ancillary;
  header.msg_controllen = sizeof ancillary;
  EXPECT_EQ(recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL),
            static_cast<ssize_t>(sizeof message));
  int fd = -1;
  if (const cmsghdr* rights = CMSG_FIRSTHDR(&header)) {
    std::memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  }
  return {.descriptor = UniqueFd(fd), .bytes = message.bytes, .memory_type = message.memory_type};
}

}  // namespace kbench::vulkan
