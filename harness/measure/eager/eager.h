// The eager baseline: a graph run one kernel an operator, as PyTorch's eager mode runs it.
//
// Graphs say f32 of floating values. How those lie in memory is given beside the graph, as `real`:
// f32, f16 or bf16. Kernels compute in float32 in all three cases: a load converts, a store rounds
// once, to the nearest, ties to even. Elements lie densely; the bytes after a tensor's last element
// are never written.
//
// Kernels take buffer device addresses in push constants (tensors may be over 4 GiB), never
// descriptors. An operator's plan turns one OperatorCall into launches; plans stand in
// harness/measure/eager/ops/<family>.cc, in one table keyed by operator name, shaders in
// harness/measure/eager/shaders/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/graph.h"

namespace kbench::eager {

/// The type in which a value of a graph lies in memory.
DType stored_dtype(DType dtype, DType real);
TensorType stored_type(const TensorType& type, DType real);

/// What a launch reads or writes: an operand of the call, or scratch the plan asked for.
struct LaunchOperand {
  enum class Kind { input, output, scratch };
  Kind kind = Kind::input;
  int index = 0;
  int64_t offset = 0;                ///< elements into it; 32-bit words where elements are wider
  int64_t unit = 4;                  ///< bytes of one of those
  DType scratch_dtype = DType::f32;  ///< how floats lie in scratch
};

/// One kernel launch: an embedded shader, its macros, and a push block made of addresses first and
/// then plain 32-bit words, as std430 lays out `uint64_t a, b, ...; uint n, m, ...`.
struct Launch {
  std::string shader;  ///< "softmax.comp"
  vulkan::Macros macros;
  std::vector<LaunchOperand> addresses;
  std::vector<uint32_t> words;
  std::array<uint32_t, 3> groups = {1, 1, 1};
  uint32_t subgroup_size = 0;
  bool beside_last = false;  ///< needs nothing of the launch before it: no barrier between

  Launch& add(int64_t value);  ///< a 32-bit integer word; throws kUnsupported when it does not fit
  Launch& add_real(double value);  ///< a float32 word
};

/// What a plan may ask of the device.
struct DeviceTraits {
  uint32_t subgroup_size = 32;
  uint32_t max_shared_memory = 32768;
  uint32_t max_invocations = 1024;
  uint32_t max_group_count[3] = {65535, 65535, 65535};
  bool software = false;
  bool storage_16bit = true;        ///< buffers may hold elements of 16 bits
  bool float16_conversions = true;  ///< the device's own round as kernels must
  /// The device multiplies matrices of 16 x 16 halves of the type, with float32 sums, a subgroup of
  /// 32 at a time: on tensor cores, as NVIDIA calls them.
  bool float16_matrices = false, bfloat16_matrices = false;
};
DeviceTraits traits_of(const vulkan::DeviceSnapshot& snapshot);

/// How floats stored so are multiplied on the device, for people: "float16 products on tensor
/// cores, sums in float32", "float32 arithmetic on float16".
std::string arithmetic_text(DType real, const DeviceTraits& traits);

/// An operator call planned for a device: launches in order, a full barrier between them
/// except where a launch may run beside the one before it.
struct CallPlan {
  std::vector<Launch> launches;
  std::vector<int64_t> scratch_bytes;
  /// Where scratch i starts when all are laid one after another, 256-byte aligned;
  /// scratch_offset(scratch_bytes.size()) is their total.
  int64_t scratch_offset(size_t i) const;
  int64_t scratch_total() const { return scratch_offset(scratch_bytes.size()); }
};

/// Throws kUnsupported when the operator has no eager kernel, a limit forbids the size, or the
/// device cannot store floats as `real`.
CallPlan plan_call(const OperatorCall& call, const DeviceTraits& traits, DType real = DType::f32);
bool has_eager_kernel(const Operator& op);

/// What the launch's pipeline is cached by.
vulkan::EmbeddedKey pipeline_key(const Launch& launch);

/// A planned call with its pipelines made: what the baseline and a candidate's built-in step
/// record.
class PreparedCall {
 public:
  PreparedCall(vulkan::Device& device, const OperatorCall& call, DType real = DType::f32);
  PreparedCall(vulkan::Device& device, CallPlan plan);
  int64_t scratch_bytes() const;
  /// Records the launches with a barrier between each two (none before the first or after the
  /// last). `scratch` must be at least scratch_bytes() long and 256-byte aligned.
  void record(vulkan::Commands& commands, const std::vector<vulkan::Region>& inputs,
              const std::vector<vulkan::Region>& outputs, vulkan::Region scratch) const;

 private:
  CallPlan plan_;
  std::vector<const vulkan::Pipeline*> pipelines_;
};

/// A whole graph planned: intermediates placed in one arena by liveness, as a caching allocator
/// would (first fit, 256-byte aligned).
class EagerGraph {
 public:
  EagerGraph(vulkan::Device& device, const Graph& graph, DType real = DType::f32);

  /// Bytes of arena (intermediates and scratch) record() needs.
  uint64_t arena_bytes() const;
  /// The pipelines the graph needs, for a caller that makes others too and prepares all together.
  static std::vector<vulkan::EmbeddedKey> pipelines(const Graph& graph, const DeviceTraits& traits,
                                                    DType real = DType::f32);
  /// arena_bytes(), planned without a device: what a task needs before anything starts.
  static uint64_t arena_bytes(const Graph& graph, const DeviceTraits& traits,
                              DType real = DType::f32);
  /// Records every operator, barriers between. `values` gives the regions of inputs, parameters,
  /// constants and graph outputs by value id, each of its stored_type(); others are ignored.
  /// `after_step` is called behind each operator that is no view, and behind the copies, if any,
  /// that share an output's memory.
  void record(vulkan::Commands& commands, const std::vector<vulkan::Region>& values,
              vulkan::Region arena, const std::function<void()>& after_step = {}) const;
  size_t launches() const;

 private:
  struct Placed {
    PreparedCall call;
    std::vector<int> inputs, outputs;  ///< value ids, views resolved to what they view
    uint64_t scratch_offset = 0;
  };
  std::vector<Placed> calls_;
  std::vector<int64_t> offset_;              ///< of intermediates in the arena; -1 elsewhere
  std::vector<int64_t> bytes_;               ///< of each value
  std::vector<std::pair<int, int>> copies_;  ///< from, to: outputs that share another's memory
  uint64_t arena_bytes_ = 0;
  size_t launches_ = 0;
};

/// The call with operands of the types in which they lie in memory: what plans are made from.
OperatorCall stored_call(const OperatorCall& call, DType real);

/// The plan of such a call, its launches told which of their addresses are operands that are not
/// stored in words of 32 bits (STORED_<position>, see shaders/tensor.glsl). Throws kUnsupported
/// where the device cannot store them.
CallPlan with_storage(CallPlan plan, const OperatorCall& stored, const DeviceTraits& traits);

}  // namespace kbench::eager
