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
  runner_.send(runner::Prepare{key.task, key.preset, key.overrides, seed});
  told_ = key;
  pending_ = true;
}

void Opponent::wait_prepared() {
  if (std::exchange(pending_, false)) runner_.receive<runner::Built>(kPrepareSeconds);
}

void Opponent::let_go() {
  wait_prepared();
  runner_.send(runner::Attach{});
  runner_.receive<runner::Attached>(kLetGoSeconds);
}

}  // namespace kbench::judge
