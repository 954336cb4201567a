#include "harness/measure/runner/candidate.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "harness/measure/runner/candidate_program.h"
#include "harness/measure/runner/driver_lane.h"
#include "harness/measure/runner/resolved.h"
#include "harness/measure/runner/torch/torch_lane.h"
#include "kbench/error.h"
#include "kbench/task.h"

namespace kbench::runner {
namespace {

using Clock = std::chrono::steady_clock;

/// Memory besides the task's own tensors.
bool is_wanted(const BufferSlot& slot) {
  return slot.kind == BufferSlot::Kind::temporary || slot.kind == BufferSlot::Kind::data;
}

class CandidateRun : public Program {
 public:
  CandidateRun(vulkan::Device& device, std::unique_ptr<Graph> graph, const Candidate& candidate,
               PythonHelper* python)
      : graph_(std::move(graph)),
        resolved_(resolve(candidate, *graph_, device_numbers(device.snapshot()))),
        program_(device, resolved_, python) {}

  std::optional<Refused> build(double seconds) {
    const auto start = Clock::now();
    auto refusal = program_.build(seconds, diagnostics_);
    if (!refusal && program_.takes_driver()) {
      lane_ = std::make_unique<DriverLane>(
          [this]() -> cuda::Driver& { return program_.open_driver(); },
          [this](const ImportedMemory& memory) {
            return import_regions(program_.open_driver(), memory, buffers_in(memory).tensor);
          },
          [this](bool setup, const std::vector<uint64_t>& addresses) {
            return program_.driver_plan(setup, addresses);
          });
    }
    compile_s_ = std::chrono::duration<double>(Clock::now() - start).count();
    if (refusal) refusal->diagnostics = diagnostics_;
    return refusal;
  }

  Built built() const override {
    Built built;
    for (const BufferSlot& slot : resolved_.buffers) {
      if (!is_wanted(slot)) continue;
      built.wanted.push_back({slot.name, slot.type.dtype, static_cast<uint64_t>(slot.type.bytes()),
                              slot.setup, slot.words});
    }
    if (program_.scratch_bytes() > 0) {
      built.wanted.push_back({"operator scratch", DType::f32, program_.scratch_bytes()});
    }
    program_.describe(built);
    built.compile_s = compile_s_;
    built.diagnostics = diagnostics_;
    if (lane_) built.launched_by = RunnerKind::cuda;
    return built;
  }

  const Graph& graph() const override { return *graph_; }

  Lane* lane() override { return lane_.get(); }

  void record(vulkan::Commands& commands, const Pass& pass, const ImportedMemory& memory,
              const AfterStep& after_step) const override {
    program_.record(commands, pass, buffers_in(memory), after_step);
  }

 private:
  /// The candidate's buffers, in its own order.
  CandidateProgram::Buffers buffers_in(const ImportedMemory& memory) const {
    CandidateProgram::Buffers buffers;
    size_t wanted = 0;
    for (const BufferSlot& slot : resolved_.buffers) {
      vulkan::Region tensor;
      if (is_wanted(slot)) {
        tensor = memory.wanted().at(wanted++);
      } else if (slot.kind == BufferSlot::Kind::output) {
        tensor = memory.outputs().at(output_index(slot.name));
      } else {
        tensor = memory.given().at(static_cast<size_t>(slot.value));
      }
      buffers.tensor.push_back(tensor);
    }
    if (program_.scratch_bytes() > 0) buffers.scratch = memory.wanted().at(wanted);
    return buffers;
  }

  size_t output_index(const std::string& name) const {
    for (size_t i = 0; i < graph_->outputs().size(); ++i) {
      if (graph_->output_name(i) == name) return i;
    }
    throw Error(ErrorCode::kInternal, "the graph has no output " + name);
  }

  std::unique_ptr<Graph> graph_;
  ResolvedCandidate resolved_;
  CandidateProgram program_;
  std::unique_ptr<DriverLane> lane_;
  std::vector<Diagnostic> diagnostics_;
  double compile_s_ = 0;
};

}  // namespace

Loaded CandidateLoader::load(const Load& request, const kbench::ReadFile& read) {
  candidate_ = std::make_unique<Candidate>(load_candidate(request.manifest, request.folder, read));
  using Language = Kernel::Language;
  const bool cuda = has(Language::cuda) || has(Language::ptx) || has(Language::triton);
  const RunnerKind kind = is_torch() ? RunnerKind::torch
                          : cuda     ? RunnerKind::cuda
                                     : RunnerKind::vulkan;
  std::vector<std::string> made_for;
  for (const Sourced& each : candidate_->requirements) made_for.push_back(each.text);
  return {candidate_->task, candidate_->hash, kind, needs_python(), std::move(made_for)};
}

bool CandidateLoader::has(Kernel::Language language) const {
  return std::ranges::any_of(candidate_->kernels,
                             [&](const Kernel& kernel) { return kernel.language == language; });
}

bool CandidateLoader::needs_python() const { return is_torch() || has(Kernel::Language::triton); }

std::unique_ptr<Program> CandidateLoader::build(const Build& request, const PythonParts& python,
                                                Refused& refused) {
  if (is_torch()) {
    require_dtype(*candidate_, request.at.dtype);
    requirements_broken(candidate_->requirements, build_graph(request.at)->variables());
    if (!python.torch) throw Error(ErrorCode::kInternal, "a ModelNew in a runner without PyTorch");
    try {
      return std::make_unique<TorchProgram>(*python.torch, build_graph(request.at),
                                            *candidate_->torch, request);
    } catch (const Refused& found) {
      refused = found;
      return nullptr;
    }
  }
  auto run =
      std::make_unique<CandidateRun>(device_, build_graph(request.at), *candidate_, python.helper);
  if (auto refusal = run->build(request.seconds)) {
    refused = *std::move(refusal);
    return nullptr;
  }
  return run;
}

}  // namespace kbench::runner
