#include "harness/measure/runner/driver_lane.h"

#include <set>
#include <string>
#include <utility>

#include "kbench/error.h"

namespace kbench::runner {
namespace {

/// The step that failed; where several ran as one, all their names.
std::string whose(const cuda::StepError& error, const DriverPlan& plan) {
  if (error.step >= 0) {
    return plan.names.at(static_cast<size_t>(error.step));
  }
  const std::set<std::string> names(plan.names.begin(), plan.names.end());
  constexpr size_t kMost = 4;
  if (names.empty() || names.size() > kMost) return "one of its kernels";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " or ") + name;
  return text;
}

}  // namespace

Refused refused_by(const cuda::StepError& failure, const DriverPlan& plan) {
  const cuda::DriverError& error = failure.error;
  const std::string what = ": " + error.message();
  const std::string who = whose(failure, plan);
  if (error.faulted()) {
    return {Verdict::out_of_bounds, who + " reached memory that is not its own" + what, {}};
  }
  if (error.crashed()) {
    return {Verdict::crashed, who + " ended on the device before its end" + what, {}};
  }
  if (error.too_much()) {
    return {Verdict::unsupported, who + " asks for more than the device gives" + what, {}};
  }
  throw Error(error.code(), who + what);
}

void DriverLane::attach(const ImportedMemory& memory) {
  for (auto& each : lists_) each.reset();
  driver_ = &open_();
  addresses_ = import_(memory);
}

DriverLane::List& DriverLane::list(bool setup) {
  std::unique_ptr<List>& made = lists_[setup ? 1 : 0];
  if (driver_ == nullptr) throw Error(ErrorCode::kInternal, "a lane without memory");
  if (!made) {
    DriverPlan plan = plan_(setup, addresses_);
    std::vector<cuda::LaunchStep> steps = plan.steps;
    made.reset(new List{std::move(plan), {*driver_, std::move(steps)}});
  }
  return *made;
}

double DriverLane::run(bool setup, double seconds) {
  List& made = list(setup);
  try {
    return made.list.run(seconds);
  } catch (const cuda::StepError& error) {
    throw refused_by(error, made.plan);
  }
}

double DriverLane::run_empty(double seconds) {
  try {
    return list(false).list.run_empty(seconds);
  } catch (const cuda::StepError& error) {
    throw Error(error.error.code(), error.error.message());
  }
}

Profiled DriverLane::profile(const Profile& request) {
  List& made = list(false);
  try {
    return {made.list.profile(kMostProfiledSteps, request.seconds), {}};
  } catch (const cuda::StepError& error) {
    throw refused_by(error, made.plan);
  }
}

std::vector<uint64_t> import_regions(cuda::Driver& driver, const ImportedMemory& memory,
                                     const std::vector<vulkan::Region>& regions) {
  std::vector<uint64_t> bases;
  for (const ImportedMemory::Slab& slab : memory.slabs()) {
    bases.push_back(driver.import(duplicate(slab.descriptor), slab.buffer.size()));
  }
  std::vector<uint64_t> addresses;
  for (const vulkan::Region& region : regions) {
    const auto slab = memory.slab_of(region);
    addresses.push_back(slab ? bases[*slab] + region.offset : 0);
  }
  return addresses;
}

}  // namespace kbench::runner
