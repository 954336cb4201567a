#include "harness/judge/opponent.h"

#include <utility>

namespace kbench::judge {
namespace {

/// Compiling the baseline of a large network and running its reference at small sizes.
constexpr double kPrepareSeconds = 600;
constexpr double kLetGoSeconds = 120;

}  // namespace

void Opponent::prepare(const BenchKey& key, uint64_t seed) {
  if (told_ == key) return;
  wait_prepared();
  runner::Prepare request{.task = key.task,
                          .preset = key.preset,
                          .overrides = key.overrides,
                          .seed = seed,
                          .verified = false,
                          .cache_folder = "",
                          .cache_subject = ""};
  if (memory_ != nullptr) {
    request.verified = memory_->notes.has(key.task);
    request.cache_folder = memory_->folder;
    request.cache_subject = memory_->subject;
  }
  runner_.stand_by(true);  // It may have to run on the device to be held to the reference.
  runner_.send(request);
  told_ = key;
  pending_ = true;
}

void Opponent::wait_prepared() {
  if (!std::exchange(pending_, false)) return;
  runner_.receive<runner::Built>(kPrepareSeconds);
  runner_.stand_by(false);
  const bool as_noted = told_->preset != name_of(Preset::smoke) || told_->overrides.empty();
  if (memory_ != nullptr && as_noted) memory_->notes.add(told_->task);
}

void Opponent::let_go() {
  wait_prepared();
  runner_.send(runner::Attach{});
  runner_.receive<runner::Attached>(kLetGoSeconds);
}

}  // namespace kbench::judge
