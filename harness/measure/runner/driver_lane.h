// Runs a candidate by CUDA's own driver, in the runner's process, on the judge's shared memory.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "harness/measure/cuda/driver_list.h"
#include "harness/measure/runner/program.h"

namespace kbench::runner {

/// The driver's steps for setup or dispatch.
struct DriverPlan {
  std::vector<cuda::LaunchStep> steps;
  std::vector<std::string> names;  ///< of each, "kernel k (c.yaml:12)"
};

/// The verdict on the candidate whose step failed. Throws the error itself if it is not the
/// candidate's fault.
Refused refused_by(const cuda::StepError& error, const DriverPlan& plan);

class DriverLane : public Lane {
 public:
  /// Imports the judge's memory; returns the addresses of the candidate's buffers, by buffer index.
  using Import = std::function<std::vector<uint64_t>(const ImportedMemory&)>;
  using MakePlan = std::function<DriverPlan(bool setup, const std::vector<uint64_t>& addresses)>;
  /// Called first by attach(), which throws what it throws.
  using Open = std::function<cuda::Driver&()>;
  DriverLane(Open open, Import import, MakePlan plan)
      : open_(std::move(open)), import_(std::move(import)), plan_(std::move(plan)) {}

  void attach(const ImportedMemory& memory) override;
  double run(bool setup, double seconds) override;
  double run_empty(double seconds) override;
  Profiled profile(const Profile& request) override;

 private:
  struct List {
    DriverPlan plan;
    cuda::DriverList list;
  };
  List& list(bool setup);

  Open open_;
  cuda::Driver* driver_ = nullptr;
  Import import_;
  MakePlan plan_;
  std::vector<uint64_t> addresses_;
  std::array<std::unique_ptr<List>, 2> lists_;
};

/// Imports every kept slab and returns the address of each region; 0 for an empty one.
std::vector<uint64_t> import_regions(cuda::Driver& driver, const ImportedMemory& memory,
                                     const std::vector<vulkan::Region>& regions);

}  // namespace kbench::runner
