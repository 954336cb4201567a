#include "harness/measure/runner/imported_memory.h"

#include <fcntl.h>

#include <utility>

#include "kbench/error.h"

namespace kbench::runner {

void ImportedMemory::add(const Attach& attach, std::vector<UniqueFd> descriptors) {
  if (descriptors.size() != attach.slabs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(descriptors.size()) + " descriptors for " +
                    std::to_string(attach.slabs.size()) + " slabs of memory");
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    const Attach::Slab& slab = attach.slabs[i];
    UniqueFd kept(keeps_ ? fcntl(descriptors[i].get(), F_DUPFD_CLOEXEC, 0) : -1);
    if (keeps_ && kept.get() < 0) {
      throw Error(ErrorCode::kInternal, "no descriptor is left for the shared memory");
    }
    slabs_.push_back(device_.import_shared(
        {std::move(descriptors[i]), slab.bytes, slab.memory_type},
        slab.read_only ? vulkan::Access::read_only : vulkan::Access::read_write));
    if (keeps_) kept_.push_back({std::move(kept), slab.bytes, &slabs_.back()});
  }
  add(attach.given, given_);
  add(attach.outputs, outputs_);
  add(attach.wanted, wanted_);
}

void ImportedMemory::keep(const std::vector<int>& slabs) {
  std::deque<vulkan::Buffer> kept;
  for (const int slab : slabs) {
    const auto index = static_cast<size_t>(slab);
    if (index >= slabs_.size() || !slabs_[index]) {
      throw Error(ErrorCode::kInvalidArgument, "no such slab of shared memory can be kept");
    }
    kept.push_back(std::exchange(slabs_[index], {}));
  }
  slabs_ = std::move(kept);
  given_.clear();
  outputs_.clear();
  wanted_.clear();
}

void ImportedMemory::add(const std::vector<Place>& places,
                         std::vector<vulkan::Region>& regions) const {
  for (const Place& place : places) {
    if (place.bytes == 0) {
      regions.emplace_back();
      continue;
    }
    const auto slab = static_cast<size_t>(place.slab);
    if (slab >= slabs_.size() || place.offset > slabs_[slab].size() ||
        place.bytes > slabs_[slab].size() - place.offset) {
      throw Error(ErrorCode::kInvalidArgument, "a tensor outside the shared memory");
    }
    regions.push_back({&slabs_[slab], place.offset, place.bytes});
  }
}

}  // namespace kbench::runner
