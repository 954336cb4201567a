#include "harness/measure/judge/slab.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace kbench::judge {
namespace {

uint64_t next_memory() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

Slab::Slab(vulkan::Device& device, trial::SlabLayout layout) : layout_(std::move(layout)) {
  if (layout_.empty()) return;
  buffer_ = device.allocate_shared(layout_.bytes());
  memory_ = next_memory();
}

Slab::Slab(vulkan::Device& device, trial::SlabLayout layout, Slab before, SlabUse use) {
  if (before.can_hold(layout, use)) {
    *this = std::move(before);
    layout_ = std::move(layout);
    return;
  }
  before = Slab();
  *this = Slab(device, std::move(layout));
}

bool Slab::can_hold(const trial::SlabLayout& layout, SlabUse use) const {
  if (empty() || layout.empty() || buffer_.size() < layout.bytes()) return false;
  return use == SlabUse::baseline || buffer_.size() - layout.bytes() <= layout.bytes() / 8;
}

vulkan::Region Slab::tensor(size_t item) const {
  const trial::SlabLayout::Item& at = layout_.items().at(item);
  return {&buffer_, at.offset, at.bytes};
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
