#include "harness/measure/trial/eager_run.h"

#include <algorithm>

#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/graph_memory.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/reference.h"

namespace kbench::trial {
namespace {

constexpr double kRunSeconds = 120;

const Tensor& find(const std::map<std::string, Tensor>& tensors, const Graph::ValueInfo& value) {
  const auto found = tensors.find(value.name);
  if (found == tensors.end()) {
    throw Error(ErrorCode::kNotFound, "no tensor " + value.name + " was given");
  }
  if (found->second.type() != value.type) {
    throw Error(ErrorCode::kShape, "tensor " + value.name + " is " +
                                       to_string(found->second.type()) + ", the task takes " +
                                       to_string(value.type));
  }
  return found->second;
}

}  // namespace

void place_tensors(vulkan::Device& device, vulkan::Commands& commands, const Graph& graph,
                   const GraphMemory& memory, const PlaceTensor& place) {
  for (size_t id = 0; id < graph.values().size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (value.kind == Graph::Kind::constant) {
      const DType stored = eager::stored_dtype(value.type.dtype, memory.real());
      const bool as_it_is = stored == value.type.dtype;
      upload(device, as_it_is ? value.data : value.data.converted(stored), memory.values()[id]);
    } else if (value.kind != Graph::Kind::intermediate) {
      place(value, commands, memory.values()[id]);
    }
  }
}

std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const PlaceTensor& place) {
  const eager::EagerGraph baseline(device, graph);
  const GraphMemory memory(device, graph, baseline.arena_bytes());
  vulkan::Commands commands(device);
  commands.begin();
  place_tensors(device, commands, graph, memory, place);
  commands.barrier();
  baseline.record(commands, memory.values(), memory.arena());
  commands.submit_and_wait(kRunSeconds);

  std::vector<Tensor> outputs;
  for (const int id : graph.outputs()) {
    const auto index = static_cast<size_t>(id);
    Tensor output(graph.values()[index].type);
    device.download(*memory.values()[index].buffer, 0,
                    {output.raw(), static_cast<size_t>(output.bytes())});
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<Tensor> run_eager(vulkan::Device& device, const Graph& graph,
                              const std::map<std::string, Tensor>& tensors) {
  return run_eager(device, graph,
                   [&](const Graph::ValueInfo& value, vulkan::Commands&, const vulkan::Region& to) {
                     upload(device, find(tensors, value), to);
                   });
}

std::string baseline_fault(vulkan::Device& device, const Task& task, const Graph& graph,
                           uint64_t seed) {
  const NamedTensors tensors = draw_tensors(graph, task.id, seed);
  const std::vector<Tensor> got = run_eager(device, graph, tensors);
  ReferenceOptions options;
  options.precision = Precision::f64;
  const std::vector<Tensor> truth = run_reference(graph, tensors, options);
  for (size_t i = 0; i < truth.size(); ++i) {
    const Comparison found = compare(got[i], truth[i], task.tolerance.relative);
    if (!found.passed()) {
      return graph.output_name(i) + ": " +
             describe(found, truth[i].shape(), task.tolerance.relative);
    }
  }
  return "";
}

}  // namespace kbench::trial
