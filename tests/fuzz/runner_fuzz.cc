// What a runner may send its judge: a stream of frames, and the messages in them.
#include <sys/socket.h>

#include "harness/measure/process/channel.h"
#include "harness/measure/runner/protocol.h"
#include "tests/fuzz/fuzz.h"

namespace kbench::fuzz {
namespace {

template <class M>
void message(uint32_t kind, std::string_view payload) {
  if (kind != static_cast<uint32_t>(M::kKind)) return;
  succeeds([&] {
    const std::string once = runner::encode(runner::decode<M>(payload));
    promise(runner::encode(runner::decode<M>(once)) == once, "a message survives its own form");
  });
}

void every_message(uint32_t kind, std::string_view payload) {
  message<runner::Opened>(kind, payload);
  message<runner::Load>(kind, payload);
  message<runner::ReadFile>(kind, payload);
  message<runner::File>(kind, payload);
  message<runner::Loaded>(kind, payload);
  message<runner::Build>(kind, payload);
  message<runner::Prepare>(kind, payload);
  message<runner::Built>(kind, payload);
  message<runner::Attach>(kind, payload);
  message<runner::Attached>(kind, payload);
  message<runner::Run>(kind, payload);
  message<runner::Ran>(kind, payload);
  message<runner::Refused>(kind, payload);
  message<runner::Failed>(kind, payload);
  message<runner::Profile>(kind, payload);
  message<runner::Profiled>(kind, payload);
}

/// The bytes as they may come through the socket, whatever they are.
void stream(const uint8_t* data, size_t size) {
  auto [socket, sender] = process::make_socket_pair();
  process::Channel channel(std::move(socket));
  promise(::send(sender.get(), data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size),
          "the socket takes what the fuzzers send");
  sender.reset();
  constexpr size_t kMostPayload = 4096;
  succeeds([&] {
    while (const auto frame = channel.receive(std::chrono::milliseconds(0), kMostPayload)) {
      promise(frame->payload.size() <= kMostPayload, "a message is no longer than allowed");
      every_message(frame->kind, frame->payload);
    }
  });
}

}  // namespace
}  // namespace kbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size == 0 || size > fuzz::kMostBytes) return 0;
  fuzz::every_message(data[0], fuzz::text_of(data + 1, size - 1));
  fuzz::stream(data, size);
  return 0;
}
