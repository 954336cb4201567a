#include "harness/measure/cuda/memory_maker.h"

#include "harness/measure/cuda/driver_state.h"

namespace kbench::cuda {

MemoryMaker::MemoryMaker(const std::array<uint8_t, 16>& uuid,
                         const std::vector<std::string>& libraries)
    : state_(std::make_unique<Driver::State>(libraries)) {
  state_->load();
  state_->device = state_->find(uuid);
}

MemoryMaker::~MemoryMaker() = default;

UniqueFd MemoryMaker::make(uint64_t bytes) {
  Driver::State& s = *state_;
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
