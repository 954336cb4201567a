#include "harness/runner/baseline.h"

#include <string>
#include <vector>

#include "harness/eager/eager.h"
#include "harness/process/own_folder.h"
#include "harness/trial/eager_run.h"
#include "harness/vulkan/pipeline.h"
#include "kbench/error.h"
#include "libkbench/src/hash.h"

namespace kbench::runner {
namespace {

class BaselineProgram : public Program {
 public:
  BaselineProgram(vulkan::Device& device, std::unique_ptr<Graph> graph)
      : graph_(std::move(graph)), eager_(device, *graph_) {}

  Built built() const override {
    Built built;
    if (eager_.arena_bytes() > 0) {
      built.wanted.push_back({"arena", DType::f32, eager_.arena_bytes(), false});
    }
    return built;
  }

  void record(vulkan::Commands& commands, bool, const Memory& memory,
              const AfterStep& after_step) const override {
    std::vector<vulkan::Region> values = memory.given();
    values.resize(graph_->values().size());
    for (size_t i = 0; i < graph_->outputs().size(); ++i) {
      values[static_cast<size_t>(graph_->outputs()[i])] = memory.outputs().at(i);
    }
    eager_.record(commands, values,
                  memory.wanted().empty() ? vulkan::Region{} : memory.wanted().front(), after_step);
  }

 private:
  std::unique_ptr<Graph> graph_;
  eager::EagerGraph eager_;
};

/// The driver's compiled pipelines of a task's baseline, kept from run to run.
class KeptPipelines {
 public:
  KeptPipelines(vulkan::PipelineCache& pipelines, const Prepare& request)
      : pipelines_(pipelines),
        folder_(request.cache_folder),
        subject_(request.cache_subject),
        prefix_(kPrefix + Sha256().add(subject_).hex().substr(0, 16) + "-"),
        name_(prefix_ + std::to_string(request.task.level) + "-" +
              std::to_string(request.task.number)),
        before_(folder_.kept(name_, subject_)) {
    if (folder_.there()) pipelines_.use(before_);
  }
  void keep() const {
    const std::string now = folder_.there() ? pipelines_.keep() : "";
    if (now.size() <= before_.size()) return;
    folder_.keep(name_, subject_, now);
    if (before_.empty()) folder_.forget_stale(kPrefix, prefix_);  // Of builds gone by.
  }

 private:
  static constexpr const char* kPrefix = "pipelines-";

  vulkan::PipelineCache& pipelines_;
  process::OwnFolder folder_;
  std::string subject_, prefix_, name_, before_;
};

}  // namespace

std::unique_ptr<Program> Baselines::prepare(const Prepare& request) {
  const KeptPipelines kept(device_.pipelines(), request);
  const Task& task = find_task(request.task);
  auto graph = build_graph(task, preset_from_name(request.preset), request.overrides);
  // Other sizes of the smoke preset are other kernels perhaps: overrides are verified each time.
  const bool small = request.preset == name_of(Preset::smoke);
  const bool once = !small || request.overrides.empty();
  if (!verified_.contains(task.id) && !(once && request.verified)) {
    // At the sizes of the smoke preset the reference takes milliseconds.
    const auto smoke = small ? nullptr : build_graph(task, Preset::smoke);
    const std::string fault =
        trial::baseline_fault(device_, task, small ? *graph : *smoke, request.seed);
    if (!fault.empty()) {
      throw Error(ErrorCode::kInternal, "the baseline is wrong on this device: " + fault);
    }
    if (once) verified_.insert(task.id);
  }
  auto program = std::make_unique<BaselineProgram>(device_, std::move(graph));
  kept.keep();
  return program;
}

}  // namespace kbench::runner
