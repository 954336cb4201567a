#include "reference/executor.h"

#include <sys/mman.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "reference/call.h"
#include "reference/parallel.h"
#include "reference/schedule.h"

namespace kbench {
namespace reference {
namespace {

/// A fresh tensor; the kernel is asked for large pages under a large one, since touching it for the
/// first time a small page at a time costs more than most operators.
Tensor allocate(const TensorType& type) {
  Tensor tensor(type);
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kHugePage = uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<uintptr_t>(tensor.raw()) + kHugePage - 1) & ~(kHugePage - 1);
  const auto end = (reinterpret_cast<uintptr_t>(tensor.raw()) + tensor.bytes()) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a hint
#endif
  return tensor;
}

Tensor to_double(const Tensor& from) {
  Tensor to = allocate({DType::f64, from.shape()});
  const float* in = from.data<float>().data();
  double* out = to.data<double>().data();
  parallel_blocks(from.elements(), 1 << 14, [&](int64_t begin, int64_t end) {
    std::copy(in + begin, in + end, out + begin);
  });
  return to;
}

/// The tensors a run begins with, by value id: taken out of `given`, checked against the graph.
std::vector<Tensor> take_given(const Graph& graph, NamedTensors& given) {
  std::vector<Tensor> tensors(graph.values().size());
  for (size_t id = 0; id < tensors.size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (value.kind == Graph::Kind::intermediate) continue;
    if (value.kind == Graph::Kind::constant) {
      tensors[id] = value.data;
      continue;
    }
    const auto found = given.find(value.name);
    if (found == given.end()) {
      throw Error(ErrorCode::kNotFound, "no tensor '" + value.name +
                                            "' was given; the task needs " + to_string(value.type));
    }
    if (found->second.type() != value.type) {
      throw Error(ErrorCode::kShape, "tensor '" + value.name + "' is " +
                                         to_string(found->second.type()) + ", the task needs " +
                                         to_string(value.type));
    }
    tensors[id] = std::move(found->second);
    given.erase(found);
  }
  return tensors;
}

std::vector<Tensor> run(const Graph& graph, NamedTensors given, Precision precision,
                        const See& see = {}) {
  const Schedule schedule = make_schedule(graph, precision);
  std::vector<Tensor> tensors = take_given(graph, given);
  given.clear();
  for (size_t id = 0; see && id < tensors.size(); ++id) {
    if (graph.values()[id].producer < 0) see(static_cast<int>(id), tensors[id]);
  }
  for (size_t n = 0; n < graph.nodes().size(); ++n) {
    const Graph::Node& node = graph.nodes()[n];
    const NodeMemory& stage = schedule.nodes[n];
    for (int id : stage.convert) tensors[id] = to_double(tensors[id]);
    if (node.call.op->is_view) {
      tensors[node.outputs[0]] =
          tensors[node.inputs[0]].reshaped(graph.values()[node.outputs[0]].type.shape);
    } else {
      std::vector<Tensor> inputs, outputs;
      for (int id : node.inputs) inputs.push_back(tensors[id]);
      for (int id : node.outputs) {
        outputs.push_back(stage.in_place ? inputs[0]
                                         : allocate(held_type(graph.values()[id].type, precision)));
      }
      find_implementation(node.call.op->name).run(node.call, inputs, outputs);
      for (size_t i = 0; i < outputs.size(); ++i) tensors[node.outputs[i]] = std::move(outputs[i]);
    }
    for (int id : node.outputs) {
      if (see) see(id, tensors[id]);
    }
    for (int id : stage.release) tensors[id] = Tensor();
  }
  for (int id : schedule.convert_outputs) tensors[id] = to_double(tensors[id]);
  std::vector<Tensor> outputs;
  for (int id : graph.outputs()) outputs.push_back(tensors[id]);
  return outputs;
}

/// An arena of that many threads. It is kept: threads that wait in one for the next run start in
/// microseconds, those that must find their way into a new one in a tenth of a millisecond.
tbb::task_arena& arena_of(int threads) {
  static std::mutex mutex;
  static std::map<int, tbb::task_arena> arenas;
  const std::lock_guard lock(mutex);
  return arenas.try_emplace(threads, threads).first->second;
}

}  // namespace

std::vector<Tensor> run_seen(const Graph& graph, NamedTensors given, const See& see) {
  return run(graph, std::move(given), Precision::f64, see);
}

}  // namespace reference

Tensor draw_tensor(const Graph& graph, const Graph::ValueInfo& value, TaskId task, uint64_t seed) {
  return rounded_to(draw(value.distribution, {seed, task.draw_word(), value.name}, value.type),
                    graph.dtype());
}

NamedTensors draw_tensors(const Graph& graph, TaskId task, uint64_t seed) {
  NamedTensors tensors;
  for (const Graph::ValueInfo& value : graph.values()) {
    if (value.kind != Graph::Kind::input && value.kind != Graph::Kind::parameter) continue;
    tensors[value.name] = draw_tensor(graph, value, task, seed);
  }
  return tensors;
}

std::vector<Tensor> run_reference(const Graph& graph, NamedTensors given,
                                  const ReferenceOptions& options) {
  if (options.threads < 0) {
    throw Error(ErrorCode::kInvalidArgument, "a run needs 0 (all cores) or more threads, not " +
                                                 std::to_string(options.threads));
  }
  const auto run = [&] {
    const reference::SummationScope scope(options.summation);
    return reference::run(graph, std::move(given), options.precision);
  };
  // TBB prints a warning when asked for more threads than there are cores.
  if (options.threads == 0 || options.threads >= tbb::info::default_concurrency()) return run();
  return reference::arena_of(options.threads).execute(run);
}

int64_t reference_peak_bytes(const Graph& graph, Precision precision) {
  return reference::make_schedule(graph, precision).peak_bytes;
}

std::string_view name_of(Precision precision) {
  return name_in<Precision::f64>({"f32", "f64"}, precision);
}

}  // namespace kbench
