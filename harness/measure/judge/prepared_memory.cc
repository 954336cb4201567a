// The memory of a prepared trial: from where it comes, and whether there is enough.
#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

#include "harness/measure/judge/prepared_trial.h"
#include "harness/measure/process/cgroups.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/error.h"

namespace kbench::judge {

/// Whether the judge has added this run itself. It neither uses nor disturbs what was made ready
/// for the requests to come.
bool PreparedTrial::alone() const { return request_.values_only; }

TaskMemory* PreparedTrial::task() const {
  return own_task_ ? own_task_.get() : context_.supply.task();
}

bool PreparedTrial::has_task_memory() const {
  return task() != nullptr && task()->key() == build_.key();
}

void PreparedTrial::enter(Phase phase) {
  if (!alone()) context_.supply.enter(phase, request_);
}

/// Does not ask for free memory if the task's is allocated already: the driver answers only once it
/// is done with the calls of all processes.
bool PreparedTrial::task_fits() {
  if (alone()) {
    own_task_ = std::make_unique<TaskMemory>(context_.store, build_.key());
    return true;
  }
  if (!question().check) {
    bool there = has_task_memory();
    if (!there && context_.supply.take_task(build_)) {
      enter(Phase::preparing);
      there = true;
    }
    report_.lap("task");
    if (there) return true;
  }
  const vulkan::DeviceSnapshot& snapshot = context_.device.snapshot();
  const uint64_t needed = trial::required_bytes(build_.graph(), snapshot);
  uint64_t available = 0;
  const auto enough = [&] {
    available = context_.device.available_bytes() + context_.store.bytes();
    return needed <= available;
  };
  if (enough()) return true;
  for (const uint64_t bytes : {needed - available, kAllBytes}) {
    context_.supply.make_room(bytes);
    context_.supply.wait_for_memory(needed);
    if (enough()) return true;
  }
  return report_.refuse(Verdict::does_not_fit, "the task needs " + trial::gigabytes(needed) +
                                                   " of device memory, " + snapshot.name + " has " +
                                                   trial::gigabytes(available) +
                                                   " free: choose a smaller preset");
}

bool PreparedTrial::fits() {
  memory_.wanted = built_.wanted;
  trial::SlabLayout layout;
  for (const runner::Wanted& wanted : memory_.wanted) {
    const uint64_t held = wanted.words.size() * sizeof(uint32_t);
    if (held > 0 && held != wanted.bytes) {
      throw Error(ErrorCode::kInternal, "data of another size than its buffer's");
    }
    layout.add(wanted.name, wanted.bytes);
  }
  if (layout.empty() && !question().check) return true;
  // A trial's task memory is allocated by now; a check allocates none.
  const vulkan::DeviceSnapshot& snapshot = context_.device.snapshot();
  const uint64_t task = question().check ? trial::required_bytes(build_.graph(), snapshot) : 0;
  uint64_t available = context_.device.available_bytes() + context_.store.unused_bytes();
  // See RunnerSupply::release_dropped(): no device may be filled to the end.
  const uint64_t reserve = software() ? 0 : snapshot.device_local_bytes / kReserve;
  if (layout.bytes() > available) {
    available = make_room(layout.bytes());
  } else if (layout.bytes() + reserve > available) {
    give_back(layout.bytes() + reserve - available);
  }
  if (snapshot.software()) {  // Its memory is the host's, and others live there.
    const auto host = static_cast<uint64_t>(process::available_host_bytes());
    if (host > 0) available = std::min(available, host / 2);
  }
  if (layout.bytes() > available || task > available - layout.bytes()) {
    return report_.refuse(Verdict::out_of_memory,
                          "its temporaries need " + trial::gigabytes(layout.bytes()) +
                              " beside the task's own tensors; " + snapshot.name + " has " +
                              trial::gigabytes(available) + " free");
  }
  if (question().check) return true;
  with_room(layout.bytes(),
            [&] { memory_.slab = Slab(context_.store, layout, SlabUse::temporaries); });
  return true;
}

/// Makes something of so many bytes. Memory that is not used may be held by runners, too, until
/// they are told to give it back; and a driver may refuse what it says is free, for as long as it
/// takes back what ended processes held.
void PreparedTrial::with_room(uint64_t bytes, const std::function<void()>& make) {
  constexpr std::chrono::milliseconds kLookEvery(100);
  const auto fails = [&] {
    try {
      make();
      return false;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kOutOfMemory) throw;
      return true;
    }
  };
  if (!fails()) return;
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::seconds most(software() ? 0 : 5);
  make_room(bytes);
  if (!fails()) return;
  give_back(kAllBytes);
  while (std::chrono::steady_clock::now() - start < most) {
    if (!fails()) return;
    std::this_thread::sleep_for(kLookEvery);
  }
  make();
}

void PreparedTrial::give_back(uint64_t bytes) {
  context_.supply.make_room(bytes);
  build_.release_memory();
  context_.opponents.release_memory();
}

uint64_t PreparedTrial::make_room(uint64_t bytes) {
  give_back(bytes);
  const uint64_t free = context_.supply.wait_for_memory(bytes);
  if (free >= bytes) return free;
  give_back(kAllBytes);
  return context_.supply.wait_for_memory(bytes);
}

/// PyTorch's processes take memory of their own: inputs, parameters, outputs, and what their
/// kernels work in, by about as much as the baseline's. Does not wait for it: it may be enough.
void PreparedTrial::leave_room_for_torch() {
  const uint64_t processes = (opponent_.python() ? 1 : 0) + (lane().has_own_temporaries() ? 1 : 0);
  if (processes == 0 || software()) return;
  constexpr uint64_t kContext = uint64_t{1} << 30;
  const uint64_t own =
      trial::required_bytes(build_.graph(), context_.device.snapshot()) + memory_.slab_bytes();
  const uint64_t needed = processes * (own + kContext);
  if (const uint64_t free = context_.device.available_bytes(); free < needed) {
    give_back(needed - free);
  }
}

void PreparedTrial::allocate() {
  const TaskMemory& task_memory = *task();
  leave_room_for_torch();
  build_.attach(task_memory);
  Attachment attachment = Attachment::second_part(candidate().imported());
  const int slab = attachment.add(memory_.slab, false);
  for (size_t i = 0; i < memory_.wanted.size(); ++i) {
    attachment.message.wanted.push_back(memory_.slab.place(i, slab));
  }
  candidate().attach(attachment);
  redzones_.emplace(
      std::vector<const Slab*>{&task_memory.given(), &task_memory.outputs(), &memory_.slab});
  if (context_.kernels_prepared.valid()) context_.kernels_prepared.get();
  learn_clock();
  runner::Refused refused;  // CUDA's own driver, opened only now, may refuse the candidate.
  if (!candidate().receive<runner::Attached>(kAttachSeconds, refused)) throw refused;
  report_.lap("import");
  at_baseline_ = !alone();
  task()->finish(context_.device, alone() ? nullptr : &context_.supply.baseline());
  at_baseline_ = false;
  report_.lap("task");
  attach_opponent();
}

/// The first time it takes a third of a second to learn the device's full clock: meanwhile memory
/// is imported, unless another process's trial has the device.
void PreparedTrial::learn_clock() {
  if (context_.clock.learned()) return;
  std::stop_source at_once;
  at_once.request_stop();
  context_.lock.take({}, at_once.get_token());
  if (context_.lock.held()) context_.clock.raise(context_.kernels);
}

/// The opponent's time counts in no limit of the candidate's.
void PreparedTrial::attach_opponent() {
  if (opponent_.runner() != nullptr) {
    deadline_.passed();
    at_baseline([this] {
      opponent_.attach(*task(), lane().repeats_calls() ? &built_ : nullptr, memory_.slab);
    });
    deadline_.leave_out();
  }
  report_.lap("opponent");
}

}  // namespace kbench::judge
