#include "harness/judge/bench.h"

#include <span>
#include <utility>

#include "kbench/error.h"

namespace kbench::judge {
namespace {

/// Compiling the baseline of a large network and running its reference at small sizes.
constexpr double kPrepareSeconds = 600;
constexpr double kAttachSeconds = 120;

}  // namespace

void Bench::request(RunnerProcess& opponent, const BenchKey& key, uint64_t seed) {
  opponent.send(runner::Prepare{key.task, key.preset, key.overrides, seed});
}

Bench::Bench(vulkan::Device& device, RunnerProcess& opponent, const BenchKey& key)
    : key_(key),
      task_(&find_task(key.task)),
      graph_(build_graph(*task_, preset_from_name(key.preset), key.overrides)) {
  const auto built = opponent.receive<runner::Built>(kPrepareSeconds);
  const uint64_t arena_bytes = built.wanted.empty() ? 0 : built.wanted.front().bytes;
  trial::TaskLayout layout(*graph_, arena_bytes);
  given_ = Slab(device, std::move(layout.given));
  truth_ = Slab(device, std::move(layout.truth));
  arena_ = Slab(device, std::move(layout.arena));
  outputs_ = Slab(device, std::move(layout.outputs));
  int items = 0;
  for (const Graph::ValueInfo& value : graph_->values()) {
    item_of_.push_back(value.kind == Graph::Kind::intermediate ? -1 : items++);
  }
  for (size_t id = 0; id < graph_->values().size(); ++id) {
    const Graph::ValueInfo& value = graph_->values()[id];
    if (value.kind != Graph::Kind::constant) continue;
    const vulkan::Region to = given(static_cast<int>(id));
    device.upload(*to.buffer, to.offset,
                  {value.data.raw(), static_cast<size_t>(value.data.bytes())});
  }
  attach(opponent);
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

void Bench::attach(RunnerProcess& opponent) {
  Attachment attachment;
  place(attachment, true, truth_);
  const int arena = attachment.add(arena_, false);
  if (arena >= 0) attachment.message.wanted.push_back(arena_.place(0, arena));
  opponent.send(attachment.message, attachment.descriptors);
  opponent.receive<runner::Attached>(kAttachSeconds);
}

uint64_t Bench::bytes() const {
  uint64_t total = 0;
  for (const Slab* slab : {&given_, &truth_, &arena_, &outputs_}) total += slab->layout().bytes();
  return total;
}

}  // namespace kbench::judge
