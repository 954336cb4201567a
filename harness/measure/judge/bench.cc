#include "harness/measure/judge/bench.h"

#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "harness/measure/eager/eager.h"

namespace kbench::judge {
namespace {

constexpr double kAttachSeconds = 120;

uint64_t next_serial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

Bench::Bench(vulkan::Device& device, Opponent& opponent, const TaskAt& key, uint64_t seed,
             std::unique_ptr<Bench> before)
    : key_(key), task_(&find_task(key.task)), graph_(build_graph(key)), serial_(next_serial()) {
  number_items();
  const eager::DeviceTraits traits = eager::traits_of(device.snapshot());
  trial::TaskLayout layout(*graph_, eager::EagerGraph::arena_bytes(*graph_, traits));
  const auto place_all = [&](auto place_one) {
    place_one(&Bench::given_, layout.given, SlabUse::candidates);
    place_one(&Bench::truth_, layout.truth, SlabUse::opponents);
    place_one(&Bench::arena_, layout.arena, SlabUse::opponents);
    place_one(&Bench::outputs_, layout.outputs, SlabUse::candidates);
  };
  std::vector<uint64_t> kept;
  if (before) {  // What cannot be taken over is given back before anything is allocated.
    place_all([&](Slab Bench::*slab, const trial::SlabLayout& wanted, SlabUse use) {
      Slab& old = (*before).*slab;
      if (!old.can_hold(wanted, use)) old = Slab();
      if (!old.empty()) kept.push_back(old.memory());
    });
  }
  opponent.prepare(key, seed, kept);
  place_all([&](Slab Bench::*slab, trial::SlabLayout& wanted, SlabUse use) {
    Slab old = before ? std::move((*before).*slab) : Slab();
    this->*slab = Slab(device, std::move(wanted), std::move(old), use);
  });
  Attachment attachment = opponent.attachment();
  place(attachment, true, truth_);
  const int arena = attachment.add(arena_, false);
  if (arena >= 0) attachment.message.wanted.push_back(arena_.place(0, arena));
  opponent.attach(attachment);
}

Bench::Bench(vulkan::Device& device, const TaskAt& key)
    : key_(key),
      task_(&find_task(key.task)),
      graph_(build_graph(key)),
      serial_(next_serial()),
      awaited_(false) {
  number_items();
  trial::TaskLayout layout(*graph_, 0);
  given_ = Slab(device, std::move(layout.given), Slab(), SlabUse::candidates);
  truth_ = Slab(device, std::move(layout.truth), Slab(), SlabUse::opponents);
  outputs_ = Slab(device, std::move(layout.outputs), Slab(), SlabUse::candidates);
}

void Bench::number_items() {
  int items = 0;
  for (const Graph::ValueInfo& value : graph_->values()) {
    item_of_.push_back(value.kind == Graph::Kind::intermediate ? -1 : items++);
  }
}

void Bench::wait_opponent(Opponent& opponent) {
  if (!std::exchange(awaited_, false)) return;
  opponent.wait_prepared();
  opponent.runner().receive<runner::Attached>(kAttachSeconds);
}

void Bench::upload_constants(vulkan::Device& device) {
  if (std::exchange(uploaded_, true)) return;
  for (size_t id = 0; id < graph_->values().size(); ++id) {
    const Graph::ValueInfo& value = graph_->values()[id];
    if (value.kind != Graph::Kind::constant) continue;
    const vulkan::Region to = given(static_cast<int>(id));
    device.upload(*to.buffer, to.offset,
                  {value.data.raw(), static_cast<size_t>(value.data.bytes())});
  }
}

vulkan::Region Bench::given(int value) const {
  return given_.tensor(static_cast<size_t>(item_of_.at(static_cast<size_t>(value))));
}

void Bench::place(Attachment& attachment, bool given_read_only, const Slab& outputs) const {
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

uint64_t Bench::bytes() const {
  uint64_t total = 0;
  for (const Slab* slab : {&given_, &truth_, &arena_, &outputs_})
    total += slab->empty() ? 0 : slab->buffer().size();
  return total;
}

}  // namespace kbench::judge
