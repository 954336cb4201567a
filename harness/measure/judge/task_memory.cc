#include "harness/measure/judge/task_memory.h"

#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "harness/measure/eager/eager.h"

namespace kbench::judge {
namespace {

uint64_t next_serial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

TaskMemory::TaskMemory(vulkan::Device& device, BaselineProcess& baseline, const TaskAt& key,
                       uint64_t seed, std::unique_ptr<TaskMemory> before)
    : key_(key), task_(&find_task(key.task)), graph_(build_graph(key)), serial_(next_serial()) {
  number_items();
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  trial::TaskLayout layout(*graph_, eager::EagerGraph::arena_bytes(*graph_, traits));
  const auto place_all = [&](auto place_one) {
    place_one(&TaskMemory::given_, layout.given, SlabUse::candidate);
    place_one(&TaskMemory::truth_, layout.truth, SlabUse::baseline);
    place_one(&TaskMemory::arena_, layout.arena, SlabUse::baseline);
    place_one(&TaskMemory::outputs_, layout.outputs, SlabUse::candidate);
  };
  std::vector<uint64_t> kept;
  if (before) {  // What cannot be taken over is given back before anything is allocated.
    place_all([&](Slab TaskMemory::*slab, const trial::SlabLayout& wanted, SlabUse use) {
      Slab& old = (*before).*slab;
      if (!old.can_hold(wanted, use)) old = Slab();
      if (!old.empty()) kept.push_back(old.memory());
    });
  }
  baseline.prepare(key, seed, kept);
  place_all([&](Slab TaskMemory::*slab, trial::SlabLayout& wanted, SlabUse use) {
    Slab old = before ? std::move((*before).*slab) : Slab();
    this->*slab = Slab(device, std::move(wanted), std::move(old), use);
  });
  Attachment attachment = baseline.attachment();
  place(attachment, true, truth_);
  const int arena = attachment.add(arena_, false);
  if (arena >= 0) attachment.message.wanted.push_back(arena_.place(0, arena));
  baseline.attach(attachment);
}

TaskMemory::TaskMemory(vulkan::Device& device, const TaskAt& key)
    : key_(key),
      task_(&find_task(key.task)),
      graph_(build_graph(key)),
      serial_(next_serial()),
      awaited_(false) {
  number_items();
  trial::TaskLayout layout(*graph_, 0);
  given_ = Slab(device, std::move(layout.given), Slab(), SlabUse::candidate);
  truth_ = Slab(device, std::move(layout.truth), Slab(), SlabUse::baseline);
  outputs_ = Slab(device, std::move(layout.outputs), Slab(), SlabUse::candidate);
}

void TaskMemory::number_items() {
  int items = 0;
  for (const Graph::ValueInfo& value : graph_->values()) {
    item_of_.push_back(value.kind == Graph::Kind::intermediate ? -1 : items++);
  }
}

void TaskMemory::wait_baseline(BaselineProcess& baseline) {
  if (!std::exchange(awaited_, false)) return;
  baseline.wait_prepared();
  baseline.runner().receive<runner::Attached>(kAttachSeconds);
}

void TaskMemory::upload_constants(vulkan::Device& device) {
  if (std::exchange(uploaded_, true)) return;
  for (size_t id = 0; id < graph_->values().size(); ++id) {
    const Graph::ValueInfo& value = graph_->values()[id];
    if (value.kind != Graph::Kind::constant) continue;
    const vulkan::Region to = given(static_cast<int>(id));
    device.upload(*to.buffer, to.offset,
                  {value.data.raw(), static_cast<size_t>(value.data.bytes())});
  }
}

vulkan::Region TaskMemory::given(int value) const {
  return given_.tensor(static_cast<size_t>(item_of_.at(static_cast<size_t>(value))));
}

void TaskMemory::place(Attachment& attachment, bool given_read_only, const Slab& outputs) const {
  const int given = attachment.add(given_, given_read_only);
  for (const int item : item_of_) {
    attachment.message.given.push_back(item < 0 ? runner::Place{}
                                                : given_.place(static_cast<size_t>(item), given));
  }
  const int slab = attachment.add(outputs, false);
  for (size_t i = 0; i < graph_->outputs().size(); ++i) {
    attachment.message.outputs.push_back(outputs.place(i, slab));
  }
}

uint64_t TaskMemory::bytes() const {
  uint64_t total = 0;
  for (const Slab* slab : {&given_, &truth_, &arena_, &outputs_})
    total += slab->empty() ? 0 : slab->buffer().size();
  return total;
}

}  // namespace kbench::judge
