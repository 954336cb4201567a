#include "harness/measure/judge/task_memory.h"

#include <atomic>
#include <utility>

#include "harness/measure/eager/eager.h"
#include "libkbench/core/own_tasks.h"

namespace kbench::judge {
namespace {

uint64_t next_serial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

TaskMemory::TaskMemory(vulkan::Device& device, SlabStore& store, BaselineProcess& baseline,
                       const TaskAt& key, uint64_t seed)
    : key_(key), task_(hold_task(key.task)), graph_(build_graph(key)), serial_(next_serial()) {
  number_items();
  baseline.prepare(key, seed);
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  make_slabs(store, eager::EagerGraph::arena_bytes(*graph_, traits));
  import_into(store, baseline);
}

void TaskMemory::import_into(const SlabStore& store, BaselineProcess& baseline) {
  Attachment attachment(baseline.runner().imported(), store);
  place_truth(attachment);
  const int index = attachment.add(intermediates_, false);
  if (index >= 0) attachment.message.wanted.push_back(intermediates_.place(0, index));
  // A first part, as RunnerProcess::begin_release() may have sent one, of which this is no second.
  attachment.message.more = true;
  baseline.runner().attach(attachment);
  baseline.runner().attach(Attachment::second_part(baseline.runner().imported()));
}

void TaskMemory::import_again(SlabStore& store, BaselineProcess& baseline) {
  wait_baseline(baseline);
  import_into(store, baseline);
  awaited_ = true;
  wait_baseline(baseline);
}

TaskMemory::TaskMemory(SlabStore& store, const TaskAt& key)
    : key_(key),
      task_(hold_task(key.task)),
      graph_(build_graph(key)),
      serial_(next_serial()),
      awaited_(false) {
  number_items();
  make_slabs(store, 0);
}

void TaskMemory::make_slabs(SlabStore& store, uint64_t intermediate_bytes) {
  trial::TaskLayout layout(*graph_, intermediate_bytes);
  given_ = Slab(store, std::move(layout.given), SlabUse::given);
  wide_ = Slab(store, std::move(layout.wide), SlabUse::wide);
  truth_ = Slab(store, std::move(layout.truth), SlabUse::truth);
  intermediates_ = Slab(store, std::move(layout.arena), SlabUse::intermediates);
  outputs_ = Slab(store, std::move(layout.outputs), SlabUse::outputs);
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
  // Each slab's memory may have been another task's meanwhile.
  for (const Slab* slab : {&given_, &wide_}) {
    if (slab->empty() || slab->constants_of() == serial_) continue;
    slab->constants_of() = serial_;
    for (size_t id = 0; id < graph_->values().size(); ++id) {
      const Graph::ValueInfo& value = graph_->values()[id];
      if (value.kind != Graph::Kind::constant) continue;
      const DType dtype = (slab == &given_ ? graph_->stored(value.type) : value.type).dtype;
      const Tensor data = dtype == value.type.dtype ? value.data : value.data.converted(dtype);
      const vulkan::Region to = slab->tensor(static_cast<size_t>(item_of_[id]));
      device.upload(*to.buffer, to.offset, {data.raw(), static_cast<size_t>(data.bytes())});
    }
  }
}

vulkan::Region TaskMemory::given(int value) const {
  return given_.tensor(static_cast<size_t>(item_of_.at(static_cast<size_t>(value))));
}

vulkan::Region TaskMemory::wide(int value) const {
  return given_to_truth().tensor(static_cast<size_t>(item_of_.at(static_cast<size_t>(value))));
}

void TaskMemory::place(Attachment& attachment, bool given_read_only, const Slab& outputs) const {
  place(attachment, given_, given_read_only, outputs);
}

void TaskMemory::place_truth(Attachment& attachment) const {
  place(attachment, given_to_truth(), true, truth_);
}

void TaskMemory::place(Attachment& attachment, const Slab& slab_of_given, bool read_only,
                       const Slab& outputs) const {
  const int given = attachment.add(slab_of_given, read_only);
  for (const int item : item_of_) {
    attachment.message.given.push_back(
        item < 0 ? runner::Place{} : slab_of_given.place(static_cast<size_t>(item), given));
  }
  const int slab = attachment.add(outputs, false);
  for (size_t i = 0; i < graph_->outputs().size(); ++i) {
    attachment.message.outputs.push_back(outputs.place(i, slab));
  }
}

uint64_t TaskMemory::bytes() const {
  uint64_t total = 0;
  for (const Slab* slab : {&given_, &wide_, &truth_, &intermediates_, &outputs_})
    total += slab->empty() ? 0 : slab->buffer().size();
  return total;
}

}  // namespace kbench::judge
