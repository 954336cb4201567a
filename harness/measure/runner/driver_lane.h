// The lane of a candidate that CUDA's own driver launches, in the runner's process, on the memory
// that the judge shares.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "harness/measure/cuda/driver_list.h"
#include "harness/measure/runner/program.h"

namespace kbench::runner {

/// A list of setup's or dispatch's steps for the driver.
struct DriverPlan {
  std::vector<cuda::DriverStep> steps;
  std::vector<size_t> of;  ///< of each: index of the manifest's step, which may take several
  std::vector<std::string> names;  ///< of each of the manifest's: "kernel k (c.yaml:12)"
};

/// What a run of the plan said, as the runner tells the judge. Throws the error itself where it is
/// not the candidate's fault.
Refused refused_by(const cuda::StepError& error, const DriverPlan& plan);

class DriverLane : public Lane {
 public:
  /// The addresses of the candidate's buffers once the judge's memory is imported, by buffer index.
  using Import = std::function<std::vector<uint64_t>(const ImportedMemory&)>;
  using MakePlan = std::function<DriverPlan(bool setup, const std::vector<uint64_t>& addresses)>;
  /// Called first by attach(); what it throws is the answer to that.
  using Open = std::function<cuda::Driver&()>;
  DriverLane(Open open, Import import, MakePlan plan)
      : open_(std::move(open)), import_(std::move(import)), plan_(std::move(plan)) {}

  void attach(const ImportedMemory& memory) override;
  double run(bool setup, double seconds) override;
  double run_empty(double seconds) override;
  std::vector<double> profile(double seconds) override;
  /// Other configurations run from now on.
  void forget_lists();

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

/// Imports every slab that was kept and gives the address of each region; of an empty one 0.
std::vector<uint64_t> import_regions(cuda::Driver& driver, const ImportedMemory& memory,
                                     const std::vector<vulkan::Region>& regions);

}  // namespace kbench::runner
