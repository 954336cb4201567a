#include "harness/measure/runner/baseline.h"

#include <string>
#include <vector>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/eager_run.h"
#include "kbench/error.h"

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

}  // namespace

std::unique_ptr<Program> BaselineLoader::prepare(const Prepare& request) {
  const TaskAt& at = request.at;
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
  return std::make_unique<BaselineProgram>(device_, std::move(graph));
}

}  // namespace kbench::runner
