#include "harness/measure/runner/imported_memory.h"

#include <fcntl.h>

#include <string>
#include <utility>

#include "harness/measure/trial/slab_layout.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

void check_place(const std::string& name, const vulkan::Region& region, uint64_t bytes) {
  const uint64_t own = trial::place_bytes(bytes);
  if (region.size == own) return;
  throw Error(ErrorCode::kInvalidArgument, "the judge's memory has " + std::to_string(region.size) +
                                               " bytes for " + shown(name, 100) +
                                               ", the runner's tensor " + std::to_string(own));
}

}  // namespace

UniqueFd duplicate(const UniqueFd& descriptor) {
  UniqueFd copy(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.open()) {
    throw Error(ErrorCode::kInternal, "no descriptor is left for the shared memory");
  }
  return copy;
}

void ImportedMemory::add(const Attach& attach, std::vector<UniqueFd> descriptors) {
  if (descriptors.size() != attach.slabs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(descriptors.size()) + " descriptors for " +
                    std::to_string(attach.slabs.size()) + " slabs of memory");
  }
  for (size_t i = 0; i < descriptors.size(); ++i) {
    const Attach::Slab& slab = attach.slabs[i];
    UniqueFd kept = keep_descriptors_ ? duplicate(descriptors[i]) : UniqueFd();
    slabs_.push_back({device_.import_shared(
                          {std::move(descriptors[i]), slab.bytes, slab.memory_type},
                          slab.read_only ? vulkan::Access::read_only : vulkan::Access::read_write),
                      std::move(kept), slab.read_only});
  }
  add(attach.given, given_);
  add(attach.outputs, outputs_);
  add(attach.wanted, wanted_);
}

void ImportedMemory::keep(const std::vector<int>& slabs) {
  std::deque<Slab> kept;
  for (const int slab : slabs) {
    const auto index = static_cast<size_t>(slab);
    if (index >= slabs_.size() || !slabs_[index].buffer) {
      throw Error(ErrorCode::kInvalidArgument, "no such slab of shared memory can be kept");
    }
    kept.push_back(std::exchange(slabs_[index], {}));
  }
  slabs_ = std::move(kept);
  forget_places();
}

std::optional<size_t> ImportedMemory::slab_of(const vulkan::Region& region) const {
  for (size_t i = 0; i < slabs_.size(); ++i) {
    if (&slabs_[i].buffer == region.buffer) return i;
  }
  return std::nullopt;
}

void ImportedMemory::forget_places() {
  given_.clear();
  outputs_.clear();
  wanted_.clear();
}

void ImportedMemory::check_types(const Graph& graph, const std::vector<Wanted>& wanted) const {
  const auto bytes_of = [&](int id) {
    return static_cast<uint64_t>(graph.stored_type(id).bytes());
  };
  if (given_.empty() && outputs_.empty() && wanted_.empty()) return;
  const auto& values = graph.values();
  if (given_.size() != values.size() || outputs_.size() != graph.outputs().size() ||
      wanted_.size() != wanted.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the judge's memory is laid out for another task");
  }
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].kind == Graph::Kind::intermediate) continue;
    check_place(values[id].name, given_[id], bytes_of(static_cast<int>(id)));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    check_place(graph.output_name(i), outputs_[i], bytes_of(graph.outputs()[i]));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    check_place(wanted[i].name, wanted_[i], wanted[i].bytes);
  }
}

void ImportedMemory::add(const std::vector<Place>& places,
                         std::vector<vulkan::Region>& regions) const {
  for (const Place& place : places) {
    if (place.bytes == 0) {
      regions.emplace_back();
      continue;
    }
    const auto slab = static_cast<size_t>(place.slab);
    const uint64_t size = slab < slabs_.size() ? slabs_[slab].buffer.size() : 0;
    if (place.offset > size || place.bytes > size - place.offset) {
      throw Error(ErrorCode::kInvalidArgument, "a tensor outside the shared memory");
    }
    regions.push_back({&slabs_[slab].buffer, place.offset, place.bytes});
  }
}

}  // namespace kbench::runner
