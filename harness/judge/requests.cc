#include "harness/judge/requests.h"

#include <unistd.h>

#include <iostream>
#include <thread>
#include <utility>

#include "harness/client/protocol.h"

namespace kbench::judge {

Requests::Requests() {
  std::thread([state = state_] {
    read(*state);
    _exit(3);
  }).detach();
}

void Requests::read(State& state) {
  // Of the request that came last: what is cancelled when its answer is on its way is nobody's.
  std::stop_source last;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == client::kCancelLine) {
      last.request_stop();
      continue;
    }
    last = std::stop_source();
    const std::lock_guard lock(state.mutex);
    state.waiting.push_back({std::move(line), last.get_token()});
    state.changed.notify_all();
  }
}

Requests::Received Requests::next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting.empty(); });
  Received received = std::move(state_->waiting.front());
  state_->waiting.pop_front();
  return received;
}

bool Requests::come_within(std::chrono::milliseconds wait) {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, wait, [&] { return !state_->waiting.empty(); });
}

}  // namespace kbench::judge
