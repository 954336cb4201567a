#include "harness/measure/judge/baseline_process.h"

#include <utility>

#include "kbench/task_file.h"

namespace kbench::judge {
namespace {

/// Compiling the baseline of a large network and running its reference at small sizes.
constexpr double kPrepareSeconds = 600;

}  // namespace

void BaselineProcess::prepare(const TaskAt& key, uint64_t seed) {
  TaskAt truth = key;
  truth.dtype = DType::f32;  // Whatever the task stores, the truth is computed in float32.
  if (told_ == truth) return;
  wait_prepared();
  runner::Prepare request{.at = truth,
                          .seed = seed,
                          .verified = false,
                          .cache_folder = "",
                          .cache_subject = "",
                          .task_files = own_task_files()};
  if (cache_ != nullptr) {
    // A note has a task's name alone, and a file of that name may say something else.
    request.verified = key.task.own.empty() && cache_->notes.has(key.task);
    request.cache_folder = cache_->folder;
    request.cache_subject = cache_->subject;
  }
  // To be held to the reference it has to run on the device.
  runner_.stand_by(!request.verified);
  runner_.send(request);
  told_ = truth;
  pending_ = true;
}

void BaselineProcess::wait_prepared() {
  if (!std::exchange(pending_, false)) return;
  runner_.receive<runner::Built>(kPrepareSeconds);
  runner_.stand_by(false);
  const bool as_noted = told_->preset != name_of(Preset::smoke) || told_->variables.empty();
  if (cache_ != nullptr && as_noted && told_->task.own.empty()) cache_->notes.add(told_->task);
}

void BaselineProcess::release_memory() {
  wait_prepared();
  runner_.release_memory();
}

}  // namespace kbench::judge
