// A candidate whose kernels ask for what no command list gives: loaded by CUDA's own driver, all of
// it, and turned into steps for that.
#include <algorithm>
#include <cstring>

#include "harness/measure/runner/candidate_program.h"
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

/// A fill as words, and copies of what is filled where two words differ.
void add_fill(uint64_t element, size_t size, uint64_t to, uint64_t bytes,
              std::vector<cuda::DriverStep>& steps) {
  uint64_t words = element;
  for (; size < sizeof words; size *= 2) words |= words << (8 * size);
  const auto low = static_cast<uint32_t>(words), high = static_cast<uint32_t>(words >> 32);
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

/// Of any kernel in any configuration: a candidate runs in one way. `step` is one that needs it.
std::string CandidateProgram::why_driver(const ResolvedStep*& step) const {
  for (const Phase phase : {&ResolvedCandidate::setup, &ResolvedCandidate::dispatch}) {
    for (size_t i = 0; i < (candidate_.*phase).size(); ++i) {
      step = &(candidate_.*phase)[i];
      if (step->kernel < 0) continue;
      const auto index = static_cast<size_t>(step->kernel);
      for (const Variant& variant : kernels_[index].variants) {
        const ResolvedStep& way = (ways_[variant.way]->*phase)[i];
        const std::string why = needs_driver(variant.kernel, as_launched(variant.kernel, way));
        if (!why.empty()) return "kernel " + candidate_.kernels[index].kernel->name + " " + why;
      }
    }
  }
  return "";
}

/// Opening the driver disturbs measurements on the device: here it is only said that it is needed.
std::optional<Refusal> CandidateProgram::choose_lane() {
  const ResolvedStep* at_step = nullptr;
  why_driver_ = why_driver(at_step);
  if (why_driver_.empty()) return std::nullopt;
  why_driver_ = at(at_step->at) + why_driver_;
  for (const auto* steps : {&candidate_.setup, &candidate_.dispatch}) {
    for (const ResolvedStep& step : *steps) {
      const bool op = step.kind == kbench::Step::Kind::op;
      const bool shader = step.kernel >= 0 && !kernels_[static_cast<size_t>(step.kernel)].cuda();
      if (!op && !shader) continue;
      return Refusal{Verdict::unsupported,
                     at(step.at) + (op ? "a built-in operator" : "a shader") +
                         " cannot stand beside what CUDA's own driver launches: " + why_driver_};
    }
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
  for (const Phase phase : {&ResolvedCandidate::setup, &ResolvedCandidate::dispatch}) {
    for (const ResolvedStep& step : ways_[variant.way]->*phase) {
      if (step.kernel != static_cast<int>(index)) continue;
      const std::string why =
          driver_->allow(variant.loaded, as_driver_launch(as_launched(variant.kernel, step)));
      if (why.empty()) continue;
      throw Refused{Verdict::unsupported, at(step.at) + "kernel " + kernel.name + " " + why, {}};
    }
  }
}

DriverPlan CandidateProgram::driver_plan(bool setup, const std::vector<uint64_t>& addresses) const {
  DriverPlan plan;
  const std::vector<Step>& steps = setup ? setup_ : dispatch_;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ResolvedStep& step = *steps[i].step;
    const auto part = [&](size_t which) {
      return addresses[static_cast<size_t>(step.bind[which])] + step.ranges[which].offset;
    };
    if (step.kernel >= 0) {
      const Kernel& kernel = kernels_[static_cast<size_t>(step.kernel)];
      const ResolvedStep& launched = steps[i].launched[kernel.chosen];
      cuda::LaunchStep made{kernel.variants[kernel.chosen].loaded, as_driver_launch(launched),
                            launched.push};
      for (const auto& [offset, buffer] : launched.addresses) {
        uint64_t address = 0;
        std::memcpy(&address, made.parameters.data() + offset, sizeof address);
        address += addresses[static_cast<size_t>(buffer)];
        std::memcpy(made.parameters.data() + offset, &address, sizeof address);
      }
      plan.steps.push_back(std::move(made));
    } else if (step.kind == kbench::Step::Kind::copy) {
      plan.steps.push_back(cuda::CopyStep{part(0), part(1), step.ranges[1].bytes});
    } else {
      const BufferSlot& slot = candidate_.buffers[static_cast<size_t>(step.bind[0])];
      add_fill(step.fill, size_of(slot.type.dtype), part(0), step.ranges[0].bytes, plan.steps);
    }
    plan.of.resize(plan.steps.size(), i);
    const Location& place = step.at;
    plan.names.push_back(
        (step.kernel >= 0
             ? "kernel " + candidate_.kernels[static_cast<size_t>(step.kernel)].kernel->name
             : std::string(step.kind == kbench::Step::Kind::copy ? "a copy" : "a fill")) +
        " (" + shown(place.file) + ":" + std::to_string(place.line) + ")");
  }
  return plan;
}

}  // namespace kbench::runner
