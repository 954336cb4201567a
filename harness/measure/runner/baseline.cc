#include "harness/measure/runner/baseline.h"

#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/eager_run.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"

namespace kbench::runner {

namespace {

class BaselineProgram : public Program {
 public:
  BaselineProgram(vulkan::Device& device, std::unique_ptr<Graph> graph)
      : graph_(std::move(graph)), eager_(device, *graph_) {}

  Built built() const override {
    Built built;
    if (eager_.arena_bytes() > 0) {
      built.wanted.push_back({"arena", DType::f32, eager_.arena_bytes()});
    }
    return built;
  }

  const Graph& graph() const override { return *graph_; }

  void record(vulkan::Commands& commands, const Pass&, const ImportedMemory& memory,
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

constexpr const char* kPipelinePrefix = "pipelines-";

}  // namespace

std::unique_ptr<Program> BaselineLoader::prepare(const Prepare& request) {
  const TaskAt& at = request.at;
  const KeptPipelines kept(
      device_.pipelines(), request.cache_folder, request.cache_subject,
      at.task.own.empty() ? std::to_string(at.task.level) + "-" + std::to_string(at.task.number)
                          : "own-" + std::to_string(at.task.meaning));
  const Task& task = find_task(at.task);
  auto graph = build_graph(at);
  // Other sizes of preset smoke may need other kernels: they are verified each time.
  const bool small = at.preset == name_of(Preset::smoke);
  const bool once = !small || at.variables.empty();
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

KeptPipelines::KeptPipelines(vulkan::PipelineCache& pipelines, const std::string& folder,
                             const std::string& subject, const std::string& what)
    : pipelines_(pipelines),
      folder_(folder),
      subject_(subject),
      prefix_(kPipelinePrefix + Sha256().add(subject).hex().substr(0, 16) + "-"),
      name_(prefix_ + what),
      before_(folder_.kept(name_, subject_)) {
  if (folder_.there()) pipelines_.use(before_);
}

void KeptPipelines::keep() const {
  const std::string now = folder_.there() ? pipelines_.keep() : "";
  if (now.size() <= before_.size()) return;
  folder_.keep(name_, subject_, now);
  if (before_.empty()) folder_.forget_stale(kPipelinePrefix, prefix_);  // of older builds
}

}  // namespace kbench::runner
