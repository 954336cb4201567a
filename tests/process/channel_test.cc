// Frames between processes: complete ones, in any pieces, and malformed ones, which are refused.
#include "harness/measure/process/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <thread>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::process {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr size_t kMost = 1 << 20;
constexpr milliseconds kNow(0);

/// The bytes before a payload.
std::string header(uint32_t kind, uint32_t bytes, uint32_t descriptors) {
  const std::array<uint32_t, 3> words = {kind, bytes, descriptors};
  return {reinterpret_cast<const char*>(words.data()), sizeof words};
}

/// Writes raw bytes in one message with the descriptors.
void write_raw(int socket, const std::string& bytes, const std::vector<int>& descriptors = {}) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  std::vector<char> control(CMSG_SPACE(sizeof(int) * descriptors.size()));
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(attached), descriptors.data(), sizeof(int) * descriptors.size());
  }
  ASSERT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

/// A file with its own number as content.
UniqueFd file_saying(char what) {
  UniqueFd file(memfd_create("channel_test", MFD_CLOEXEC));
  EXPECT_EQ(pwrite(file.get(), &what, 1, 0), 1);
  return file;
}
char said_by(const UniqueFd& file) {
  char what = 0;
  EXPECT_EQ(pread(file.get(), &what, 1, 0), 1);
  return what;
}
auto open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() : ends_(make_socket_pair()), channel_(std::move(ends_.first)) {}

  int peer() const { return ends_.second.get(); }
  void close_peer() { ends_.second.reset(); }
  Channel make_peer_channel() { return Channel(std::move(ends_.second)); }
  /// The error for the next message.
  std::string refusal(size_t most_bytes = kMost) {
    const Error e = error_of([&] { channel_.receive(seconds(5), most_bytes); });
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    return e.what();
  }

  std::pair<UniqueFd, UniqueFd> ends_;
  Channel channel_;
};

TEST_F(ChannelTest, CarriesKindAndAnyBytes) {
  Channel other = make_peer_channel();
  const std::string bytes("\0\n\xff{}", 5);
  other.send(7, bytes);
  other.send(8, "");
  other.send(9, "third");
  const auto first = channel_.receive(seconds(5), kMost);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, 7u);
  EXPECT_EQ(first->payload, bytes);
  EXPECT_TRUE(first->descriptors.empty());
  EXPECT_EQ(channel_.receive(seconds(5), kMost).value().kind, 8u);
  EXPECT_EQ(channel_.receive(seconds(5), kMost).value().payload, "third");
  EXPECT_FALSE(channel_.receive(kNow, kMost));
  channel_.send(1, "back");
  EXPECT_EQ(other.receive(seconds(5), kMost).value().payload, "back");
}

TEST_F(ChannelTest, GivesNoFrameBeforeItsLastByte) {
  const std::string frame = header(5, 6, 0) + "abcdef";
  for (size_t i = 0; i + 1 < frame.size(); ++i) {
    write_raw(peer(), frame.substr(i, 1));
    ASSERT_FALSE(channel_.receive(kNow, kMost)) << i;
  }
  write_raw(peer(), frame.substr(frame.size() - 1) + header(6, 0, 0));
  EXPECT_EQ(channel_.receive(seconds(5), kMost).value().payload, "abcdef");
  EXPECT_EQ(channel_.receive(kNow, kMost).value().kind, 6u);
}

TEST_F(ChannelTest, CarriesAFrameLargerThanTheSocketHolds) {
  std::string bytes(size_t{3} << 20, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 4096);
  Channel other = make_peer_channel();
  std::thread sender([&] { other.send(1, bytes); });
  const auto frame = channel_.receive(seconds(30), bytes.size());
  sender.join();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload, bytes);
}

TEST_F(ChannelTest, BringsDescriptorsInOrderWithTheirFrame) {
  Channel other = make_peer_channel();
  std::vector<UniqueFd> files;
  for (const char what : {'a', 'b', 'c', 'd'}) files.push_back(file_saying(what));
  const std::array<int, 3> first = {files[0].get(), files[1].get(), files[2].get()};
  const std::array<int, 1> second = {files[3].get()};
  other.send(1, "three", first);
  other.send(2, "none");
  other.send(3, "one", second);
  std::string said;
  for (const size_t count : {3u, 0u, 1u}) {
    const auto frame = channel_.receive(seconds(5), kMost);
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->descriptors.size(), count) << frame->payload;
    for (const UniqueFd& file : frame->descriptors) {
      said += said_by(file);
      EXPECT_NE(fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  EXPECT_EQ(said, "abcd");
}

TEST_F(ChannelTest, RefusesAFrameOverTheLimitBeforeItsBytesCome) {
  write_raw(peer(), header(1, 101, 0));
  EXPECT_THAT(refusal(100), HasSubstr("101 bytes"));
}

TEST_F(ChannelTest, TakesAFrameOfExactlyTheLimit) {
  write_raw(peer(), header(1, 100, 0) + std::string(100, 'x') + header(2, 4000000000u, 0));
  EXPECT_EQ(channel_.receive(seconds(5), 100).value().payload.size(), 100u);
  EXPECT_THAT(refusal(100), HasSubstr("4000000000 bytes"));
}

TEST_F(ChannelTest, RefusesAFrameWithoutItsDescriptors) {
  const UniqueFd file = file_saying('x');
  write_raw(peer(), header(1, 0, 2), {file.get()});
  EXPECT_THAT(refusal(), HasSubstr("descriptors"));
}

TEST_F(ChannelTest, RefusesDescriptorsWithoutEndAndKeepsNoneOpen) {
  const UniqueFd file = file_saying('x');
  // Fifty with each byte of an incomplete frame.
  write_raw(peer(), "a", std::vector<int>(50, file.get()));
  write_raw(peer(), "b", std::vector<int>(50, file.get()));
  EXPECT_THAT(refusal(), HasSubstr("too many descriptors"));

  const auto before = open_descriptors();
  {
    auto [ours, theirs] = make_socket_pair();
    Channel other(std::move(ours));
    write_raw(theirs.get(), "c", std::vector<int>(40, file.get()));
    EXPECT_FALSE(other.receive(kNow, kMost));
    EXPECT_GE(open_descriptors(), before + 40);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ChannelTest, OfTooManyDescriptorsSendsNothing) {
  const std::vector<int> many(200, STDIN_FILENO);
  EXPECT_THROW(channel_.send(1, "", many), Error);
  char byte = 0;
  EXPECT_LT(recv(peer(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST_F(ChannelTest, GivesWhatWasSentBeforeTheEnd) {
  write_raw(peer(), header(1, 2, 0) + "ab" + header(2, 0, 0) + header(3, 10, 0) + "torn");
  close_peer();
  EXPECT_EQ(channel_.receive(seconds(5), kMost).value().payload, "ab");
  EXPECT_FALSE(channel_.ended());
  EXPECT_EQ(channel_.receive(seconds(5), kMost).value().kind, 2u);
  EXPECT_FALSE(channel_.receive(seconds(5), kMost));
  EXPECT_TRUE(channel_.ended());
}

TEST_F(ChannelTest, SaysThatTheOtherEndIsGone) {
  close_peer();
  const Error e = error_of([&] { channel_.send(1, std::string(1000, 'x')); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
}

TEST_F(ChannelTest, IsOutOfPatienceWithAPeerThatReadsNothing) {
  auto [ours, theirs] = make_socket_pair();
  Channel channel(std::move(ours), milliseconds(20));
  const Error e = error_of([&] { channel.send(1, std::string(size_t{8} << 20, 'x')); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_NE(std::string(e.what()).find("takes no messages"), std::string::npos) << e.what();
}

TEST_F(ChannelTest, IsNotHeldUpByAPeerThatSendsWithoutEnd) {
  std::thread flood([socket = peer()] {
    const std::string frames = header(1, 0, 0) + header(2, 50, 0) + std::string(50, 'x');
    std::string many;
    for (int i = 0; i < 1000; ++i) many += frames;
    while (send(socket, many.data(), many.size(), MSG_NOSIGNAL) > 0) continue;
  });
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(channel_.receive(seconds(5), 100)) << i;
  shutdown(peer(), SHUT_RDWR);
  flood.join();
  while (channel_.receive(kNow, 100)) continue;  // What was under way.
  EXPECT_TRUE(channel_.ended());
}

TEST_F(ChannelTest, WaitsNoLongerThanItIsTold) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(channel_.receive(milliseconds(20), kMost));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, milliseconds(19));
  EXPECT_FALSE(channel_.ended());
}

}  // namespace
}  // namespace kbench::process
