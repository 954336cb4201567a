// A candidate with kernels that no command list can launch: all its kernels are loaded by CUDA's
// own driver, and its steps become steps of that driver.
#include <algorithm>

#include "harness/measure/runner/candidate_program.h"
#include "harness/measure/runner/steps.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

cuda::DriverLaunch as_driver_launch(const ResolvedStep& launched) {
  return {.grid = launched.groups,
          .block = launched.block,
          .cluster = launched.cluster,
          .cooperative = launched.cooperative,
          .shared_bytes = launched.shared_bytes};
}

/// Fills by one word, or, where two words alternate, by copies of the part that is filled already.
void add_fill(const std::array<uint32_t, 2>& words, uint64_t to, uint64_t bytes,
              std::vector<cuda::DriverStep>& steps) {
  const auto [low, high] = words;
  if (low == high) {
    steps.push_back(cuda::FillStep{to, (bytes + 3) / 4, low});
    return;
  }
  steps.push_back(cuda::FillStep{to, 1, low});
  steps.push_back(cuda::FillStep{to + 4, 1, high});
  for (uint64_t done = 8; done < bytes; done *= 2) {
    steps.push_back(cuda::CopyStep{to, to + done, std::min(done, bytes - done)});
  }
}

}  // namespace

/// Why any kernel in any configuration needs CUDA's own driver; empty: none does. `step` is the
/// first step that needs it. A candidate is launched by one of the two, not by both.
std::string CandidateProgram::why_driver(const ResolvedStep*& step) const {
  std::vector<std::vector<const ResolvedStep*>> steps;  // by way, the same steps in each
  for (const ResolvedCandidate* way : ways_) steps.push_back(all_steps(*way));
  for (size_t i = 0; i < steps[0].size(); ++i) {
    step = steps[0][i];
    if (step->kernel < 0) continue;
    const auto index = static_cast<size_t>(step->kernel);
    for (const Variant& variant : kernels_[index].variants) {
      const ResolvedStep& way = *steps[variant.way][i];
      const std::string why = needs_driver(variant.kernel, as_launched(variant.kernel, way));
      if (!why.empty()) return "kernel " + candidate_.kernels[index].kernel->name + " " + why;
    }
  }
  return "";
}

/// Finds out whether CUDA's own driver is needed. It is opened later, since that disturbs
/// measurements on the device.
std::optional<Refusal> CandidateProgram::choose_lane() {
  const ResolvedStep* at_step = nullptr;
  why_driver_ = why_driver(at_step);
  if (why_driver_.empty()) return std::nullopt;
  why_driver_ = at(at_step->at) + why_driver_;
  for (const ResolvedStep* step : all_steps(candidate_)) {
    const bool op = step->kind == Step::Kind::op;
    const bool shader = step->kernel >= 0 && !kernels_[static_cast<size_t>(step->kernel)].cuda();
    if (!op && !shader) continue;
    return unsupported(at(step->at) + (op ? "a built-in operator" : "a shader") +
                       " cannot stand beside what CUDA's own driver launches: " + why_driver_);
  }
  return std::nullopt;
}

cuda::Driver& CandidateProgram::open_driver() {
  if (driver_) return *driver_;
  try {
    driver_ = std::make_unique<cuda::Driver>(device_.snapshot().device_uuid, cuda_.driver);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported) throw;
    throw Refused{Verdict::unsupported,
                  why_driver_ + ", which takes CUDA's own driver to launch it: " + e.message(),
                  {}};
  }
  for (size_t i = 0; i < kernels_.size(); ++i) {
    for (Variant& variant : kernels_[i].variants) load_by_driver(i, variant);
  }
  return *driver_;
}

void CandidateProgram::load_by_driver(size_t index, Variant& variant) {
  const kbench::Kernel& kernel = *candidate_.kernels[index].kernel;
  try {
    variant.loaded = driver_->load(variant.kernel.cubin, variant.kernel.entry);
  } catch (const cuda::DriverError& e) {
    if (e.code() == ErrorCode::kOutOfMemory) throw;
    throw Refused{Verdict::compile_error,
                  at(kernel.at) + "kernel " + kernel.name +
                      ": the driver refuses the compiled kernel: " + e.message(),
                  {}};
  }
  for (const ResolvedStep* step : steps_of(*ways_[variant.way], index)) {
    const std::string why =
        driver_->allow(variant.loaded, as_driver_launch(as_launched(variant.kernel, *step)));
    if (why.empty()) continue;
    throw Refused{Verdict::unsupported, at(step->at) + "kernel " + kernel.name + " " + why, {}};
  }
}

DriverPlan CandidateProgram::driver_plan(bool setup, const std::vector<uint64_t>& addresses) const {
  DriverPlan plan;
  const std::vector<PreparedStep>& steps = setup ? setup_ : dispatch_;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ResolvedStep& step = *steps[i].step;
    const auto part = [&](size_t which) {
      return addresses[static_cast<size_t>(step.bind[which])] + step.ranges[which].offset;
    };
    if (step.kernel >= 0) {
      const CompiledKernel& kernel = kernels_[static_cast<size_t>(step.kernel)];
      const ResolvedStep& launched = steps[i].launched[kernel.chosen];
      cuda::LaunchStep made{kernel.variants[kernel.chosen].loaded, as_driver_launch(launched),
                            launched.push};
      add_addresses(made.parameters, launched.addresses,
                    [&](size_t buffer) { return addresses[buffer]; });
      plan.steps.push_back(std::move(made));
    } else if (step.kind == Step::Kind::copy) {
      plan.steps.push_back(cuda::CopyStep{part(0), part(1), step.ranges[1].bytes});
    } else {
      add_fill(fill_words(step), part(0), step.ranges[0].bytes, plan.steps);
    }
    plan.of.resize(plan.steps.size(), i);
    const Location& place = step.at;
    plan.names.push_back(
        (step.kernel >= 0
             ? "kernel " + candidate_.kernels[static_cast<size_t>(step.kernel)].kernel->name
             : std::string(step.kind == Step::Kind::copy ? "a copy" : "a fill")) +
        " (" + shown(place.file) + ":" + std::to_string(place.line) + ")");
  }
  return plan;
}

}  // namespace kbench::runner
