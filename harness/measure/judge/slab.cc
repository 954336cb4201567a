#include "harness/measure/judge/slab.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <utility>

namespace kbench::judge {
namespace {

uint64_t next_memory() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// Slabs are made of this size at least on a GPU, and as large as needed from the other on.
constexpr uint64_t kLeast = uint64_t{64} << 20, kMost = uint64_t{8} << 30;
/// More than a power of two: tensors often have just that, and redzones come beside them.
constexpr uint64_t kBeside = uint64_t{8} << 20;

/// A power of two and a little more. Each size is imported anew; what is too much is written and
/// read as redzone in every sample.
uint64_t with_room(uint64_t bytes) {
  if (bytes > kMost) return bytes;
  return std::bit_ceil(std::max(bytes, kLeast) - kBeside) + kBeside;
}

}  // namespace

std::shared_ptr<SlabStore::Memory> SlabStore::find(SlabUse use, uint64_t bytes) const {
  const bool in_reach =
      use != SlabUse::wide && use != SlabUse::truth && use != SlabUse::intermediates;
  const uint64_t most = !in_reach                       ? ~uint64_t{0}
                        : device_.snapshot().software() ? bytes + bytes / 8
                                                        : with_room(bytes);
  std::shared_ptr<Memory> best;
  for (const Kept& each : kept_) {
    const uint64_t size = each.memory->buffer.size();
    if (each.use != use || size < bytes || size > most) continue;
    if (!best || size < best->buffer.size()) best = each.memory;
  }
  return best;
}

std::shared_ptr<SlabStore::Memory> SlabStore::get(SlabUse use, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (auto found = find(use, bytes)) return found;
  const vulkan::DeviceSnapshot& snapshot = device_.snapshot();
  uint64_t size = spare_ && !snapshot.software() ? with_room(bytes) : bytes, kept = 0;
  for (const Kept& each : kept_) kept += each.memory->buffer.size();
  const uint64_t available = device_.available_bytes(), most = snapshot.device_local_bytes / 4 * 3;
  if (snapshot.software() || kept + size > most || size > available / 2) {
    size = bytes;
    const uint64_t above = kept + size > most ? kept + size - most : 0;
    const uint64_t lacking = size > available / 2 ? 2 * size - available : 0;
    drop(snapshot.software() ? kAllBytes : std::max(above, lacking));
  }
  auto memory = std::make_shared<Memory>();
  memory->buffer = device_.allocate_shared(size);
  memory->id = next_memory();
  kept_.push_back({use, memory});
  return memory;
}

bool SlabStore::holds(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(kept_, [id](const Kept& each) { return each.memory->id == id; });
}

uint64_t SlabStore::bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const Kept& each : kept_) bytes += each.memory->buffer.size();
  return bytes;
}

uint64_t SlabStore::unused_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const Kept& each : kept_) bytes += unused(each) ? each.memory->buffer.size() : 0;
  return bytes;
}

void SlabStore::drop_unused(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  drop(bytes);
}

void SlabStore::drop(uint64_t bytes) {
  std::ranges::stable_sort(kept_, std::greater<>(),
                           [](const Kept& each) { return each.memory->buffer.size(); });
  uint64_t dropped = 0;
  std::erase_if(kept_, [&](const Kept& each) {
    if (!unused(each) || dropped >= bytes) return false;
    dropped += each.memory->buffer.size();
    return true;
  });
}

Slab::Slab(SlabStore& store, trial::SlabLayout layout, SlabUse use) : layout_(std::move(layout)) {
  if (!layout_.empty()) memory_ = store.get(use, layout_.bytes());
}

vulkan::Region Slab::tensor(size_t item) const {
  const trial::SlabLayout::Item& at = layout_.items().at(item);
  return {&memory_->buffer, at.offset, at.bytes};
}

runner::Place Slab::place(size_t item, int index) const {
  const trial::SlabLayout::Item& at = layout_.items().at(item);
  return {index, at.offset, at.bytes};
}

Redzones::Redzones(const std::vector<const Slab*>& slabs) {
  for (const Slab* slab : slabs) {
    if (slab->empty()) continue;
    const uint64_t base = slab->buffer().address();
    uint64_t from = 0;
    const std::string* before = nullptr;
    const auto add = [&](uint64_t to, const std::string* behind) {
      stretches_.push_back({before, behind, base + from, to - from});
      trial::append_zone(pieces_, base + from, (to - from) / sizeof(uint32_t));
      stretch_of_.resize(pieces_.size(), stretches_.size() - 1);
    };
    for (const trial::SlabLayout::Item& item : slab->layout().items()) {
      add(item.offset, &item.name);
      from = item.end();
      before = &item.name;
    }
    add(slab->buffer().size(), nullptr);  // To the last byte of the allocation.
  }
}

std::string Redzones::describe(uint32_t piece, const trial::ZoneFinding& finding) const {
  const Stretch& stretch = stretches_.at(stretch_of_.at(piece));
  const uint64_t word = pieces_.at(piece).address + uint64_t{finding.first} * sizeof(uint32_t);
  const uint64_t past = word - stretch.address, short_of = stretch.bytes - past;
  const bool after = stretch.before && (!stretch.behind || past < short_of);
  return "wrote " + std::to_string(finding.changed) + " words outside " +
         (after ? *stretch.before : *stretch.behind) + ", the first " +
         std::to_string(after ? past : short_of) +
         (after ? " bytes past its end" : " bytes before its start");
}

Attachment::Attachment(const std::vector<uint64_t>& imported, const SlabStore& store) {
  for (size_t i = 0; i < imported.size(); ++i) {
    if (!store.holds(imported[i])) continue;
    message.kept.push_back(static_cast<int>(i));
    memories_.push_back(imported[i]);
  }
}

int Attachment::add(const Slab& slab, bool read_only) {
  if (slab.empty()) return -1;
  const auto known = std::ranges::find(memories_, slab.memory());
  if (known != memories_.end()) return static_cast<int>(known - memories_.begin());
  vulkan::SharedMemory memory =
      slab.buffer().share(read_only ? vulkan::Access::read_only : vulkan::Access::read_write);
  message.slabs.push_back({memory.bytes, memory.memory_type, read_only});
  descriptors.push_back(std::move(memory.descriptor));
  memories_.push_back(slab.memory());
  return static_cast<int>(memories_.size()) - 1;
}

}  // namespace kbench::judge
