#include "harness/measure/cuda/memory_maker.h"

#include <mutex>

#include "harness/measure/cuda/driver_calls.h"
#include "harness/measure/cuda/driver_state.h"

namespace kbench::cuda {

struct MemoryMaker::State : Driver::State {
  using Driver::State::State;
  std::mutex mutex;
};

MemoryMaker::MemoryMaker(const std::vector<std::string>& libraries)
    : state_(std::make_unique<State>(libraries)) {
  state_->load();
}

MemoryMaker::~MemoryMaker() = default;

void MemoryMaker::choose(const std::array<uint8_t, 16>& uuid) {
  state_->device = state_->find(uuid);
}

UniqueFd MemoryMaker::make(uint64_t bytes) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  driver::AllocationProperties properties;
  properties.location = s.device;
  driver::AllocationHandle memory = 0;
  s.check(s.calls.memory_create(&memory, bytes, &properties, 0), "cuMemCreate");
  int descriptor = -1;
  const driver::Result exported = s.calls.memory_export(&descriptor, memory, driver::kPosixFd, 0);
  s.calls.memory_release(memory);  // The descriptor keeps it from here on.
  s.check(exported, "cuMemExportToShareableHandle");
  return UniqueFd(descriptor);
}

}  // namespace kbench::cuda
