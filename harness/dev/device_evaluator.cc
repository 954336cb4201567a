#include "harness/dev/device_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/audit/shortcuts.h"
#include "harness/measure/eager/eager.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/trial/kernels.h"
#include "kbench/error.h"

namespace kbench::dev {
namespace {

using audit::Deviation;
using audit::VariantEvaluator;

constexpr double kRunSeconds = 120;
constexpr uint64_t kAlignment = 256;
/// Left free for pipelines and command lists.
constexpr uint64_t kSpareBytes = uint64_t{256} << 20;

class DeviceEvaluator : public VariantEvaluator {
 public:
  DeviceEvaluator(vulkan::Device& device, const Task& task, const Graph& graph)
      : device_(device),
        task_(task),
        graph_(graph),
        bounds_(bounds_of(task, graph.dtype())),
        kernels_(device),
        commands_(device) {
    uint64_t work = kAlignment;
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      const TensorType& type = output_type(i);
      truth_.push_back(allocate(type));
      got_.push_back(allocate(type));
      if (is_half(stored_type(i).dtype)) narrow_[i] = allocate(stored_type(i));
      work = std::max(work, trial::reduction_bytes(region(truth_[i], type)));
    }
    if (const uint64_t halves = trial::largest_half(graph, graph.dtype()); halves > 0) {
      halves_ = device.allocate(halves);
    }
    work_ = device.allocate(work);
    report_ = device.allocate(report_bytes());
    host_ = device.allocate_host(report_bytes());
  }

  void draw(uint64_t seed) override {
    seed_ = seed;
    drawn_.clear();
    others_.clear();
    run(graph_, truth_);
    commands_.begin();
    for (size_t i = 0; i < truth_.size(); ++i) {
      kernels_.scale(commands_, region(truth_[i], output_type(i)), output_type(i).dtype,
                     work_.address(), scale_at(i));
      commands_.barrier();
    }
    commands_.submit_and_wait(kRunSeconds);
  }

  Deviation deviation(const Graph& variant, const ReferenceOptions&) override {
    run(variant, got_);
    compare();
    Deviation deviation;
    for (size_t i = 0; i < truth_.size(); ++i) {
      const auto& found = *reinterpret_cast<const trial::CompareSummary*>(
          host_.mapped() + (summary_at(i) - report_.address()));
      const bool exact = output_type(i).dtype != DType::f32;
      const double infinite = std::numeric_limits<double>::infinity();
      const auto& truth = *reinterpret_cast<const trial::ScaleFinding*>(
          host_.mapped() + (scale_at(i) - report_.address()));
      const bool undefined = is_half(graph_.dtype()) && truth.nans + truth.infinities > 0;
      const bool off = found.not_finite > 0 || (exact && found.wrong > 0);
      const double error = off || undefined ? infinite : found.max_error;
      const auto elements = static_cast<double>(output_type(i).elements());
      deviation.add(error, std::sqrt(found.squares / elements));
    }
    return deviation;
  }

  bool on_host() const override { return false; }

 private:
  const TensorType& output_type(size_t i) const { return graph_.value(graph_.outputs()[i]).type; }
  TensorType stored_type(size_t i) const { return graph_.stored_type(graph_.outputs()[i]); }
  static vulkan::Region region(const vulkan::Buffer& buffer, const TensorType& type) {
    return {&buffer, 0, static_cast<uint64_t>(type.bytes())};
  }
  vulkan::Buffer allocate(const TensorType& type) {
    return device_.allocate(trial::buffer_bytes(type));
  }

  uint64_t report_bytes() const { return 2 * kAlignment * std::max<size_t>(truth_.size(), 1); }
  uint64_t scale_at(size_t i) const { return report_.address() + 2 * kAlignment * i; }
  uint64_t summary_at(size_t i) const { return scale_at(i) + kAlignment; }

  /// Throws kOutOfMemory, before anything is allocated, if the variant does not fit.
  void require(const Graph& variant, uint64_t arena) {
    uint64_t needed = arena > arena_size() ? arena - arena_size() : 0;
    for (const Graph::ValueInfo& value : variant.values()) {
      if (value.kind == Graph::Kind::intermediate || drawn_.count(value.name) > 0 ||
          others_.count(value.name) > 0) {
        continue;
      }
      needed += trial::buffer_bytes(value.type);
    }
    const uint64_t available = device_.available_bytes();
    if (needed + kSpareBytes > available) {
      throw Error(ErrorCode::kOutOfMemory, "needs " + std::to_string(needed >> 20) +
                                               " MiB of device memory more, " +
                                               std::to_string(available >> 20) + " MiB are free");
    }
  }

  uint64_t arena_size() const { return arena_ ? arena_.size() : 0; }

  static bool reads(const Graph& graph, int id) {
    for (const Graph::Node& node : graph.nodes()) {
      if (std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end()) return true;
    }
    return std::find(graph.outputs().begin(), graph.outputs().end(), id) != graph.outputs().end();
  }

  /// Frees drawn inputs that only earlier variants read, as they are large.
  void forget_others(const Graph& variant) {
    const auto inputs = variant.values_of(Graph::Kind::input);
    std::erase_if(others_, [&](const auto& other) {
      return std::ranges::none_of(inputs,
                                  [&](int id) { return variant.value(id).name == other.first; });
    });
  }

  /// The tensor of that name, drawn on first use.
  const vulkan::Buffer& tensor(const Graph::ValueInfo& value) {
    const bool own = value.name.rfind(kOtherPrefix, 0) != 0;
    auto& known = own ? drawn_ : others_;
    const auto found = known.find(value.name);
    if (found != known.end()) return found->second;
    vulkan::Buffer& buffer = known[value.name] = allocate(value.type);
    const DrawKey key{seed_, task_.id.draw_word(), value.name};
    const vulkan::Region to = region(buffer, value.type);
    const TensorType stored = graph_.stored(value.type);
    if (is_half(stored.dtype)) {  // Rounded in place; the halves themselves are not needed.
      trial::draw_halves(device_, commands_, kernels_, value.distribution, key, value.type,
                         {stored.dtype, to, region(halves_, stored)});
    } else {
      trial::draw_tensor(device_, commands_, value.distribution, key, value.type, to);
    }
    return buffer;
  }

  void run(const Graph& graph, const std::vector<vulkan::Buffer>& outputs) {
    const eager::EagerGraph planned(device_, graph);
    forget_others(graph);
    require(graph, planned.arena_bytes());
    if (planned.arena_bytes() > arena_size()) {
      arena_ = {};
      arena_ = device_.allocate(planned.arena_bytes());
    }
    std::vector<vulkan::Buffer> constants;
    constants.reserve(graph.values().size());
    std::vector<vulkan::Region> values(graph.values().size());
    commands_.begin();
    for (size_t id = 0; id < values.size(); ++id) {
      const Graph::ValueInfo& value = graph.values()[id];
      if (value.kind == Graph::Kind::constant) {
        constants.push_back(allocate(value.type));
        values[id] = region(constants.back(), value.type);
        trial::upload(device_, value.data, values[id]);
      } else if (value.kind != Graph::Kind::intermediate) {
        if (drawn_.count(value.name) == 0 && !reads(graph, static_cast<int>(id))) continue;
        values[id] = region(tensor(value), value.type);
      }
    }
    std::vector<std::pair<int, size_t>> copies;  // outputs that are inputs, or one value twice
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto id = static_cast<size_t>(graph.outputs()[i]);
      const TensorType& type = graph.values()[id].type;
      if (values[id].buffer != nullptr) {
        copies.emplace_back(static_cast<int>(id), i);
      } else {
        values[id] = region(outputs[i], type);
      }
    }
    commands_.barrier();
    planned.record(commands_, values,
                   arena_ ? vulkan::Region{&arena_, 0, arena_.size()} : vulkan::Region{});
    commands_.barrier();
    for (const auto& [from, to] : copies) {
      const vulkan::Region& source = values[static_cast<size_t>(from)];
      commands_.copy(*source.buffer, source.offset, outputs[to], 0, source.size);
    }
    commands_.submit_and_wait(kRunSeconds);
  }

  void compare() {
    const trial::CompareRule rule{static_cast<float>(bounds_.relative), -1.0f};
    commands_.begin();
    for (size_t i = 0; i < truth_.size(); ++i) {
      const TensorType& type = output_type(i);
      trial::Fill fill;
      fill.dtype = stored_type(i).dtype;
      vulkan::Region got = region(got_[i], type);
      if (is_half(fill.dtype)) {
        const vulkan::Region narrow = region(narrow_.at(i), stored_type(i));
        kernels_.narrow(commands_, got, narrow, fill.dtype);
        commands_.barrier();
        got = narrow;
      }
      kernels_.compare(commands_, got, region(truth_[i], type), fill, rule, scale_at(i),
                       work_.address(), summary_at(i), false);
      commands_.barrier();
    }
    commands_.copy(report_, 0, host_, 0, report_bytes());
    commands_.submit_and_wait(kRunSeconds);
  }

  vulkan::Device& device_;
  const Task& task_;
  const Graph& graph_;
  const Bounds bounds_;
  trial::Kernels kernels_;
  vulkan::Commands commands_;
  uint64_t seed_ = 0;
  std::map<std::string, vulkan::Buffer> drawn_, others_;
  std::vector<vulkan::Buffer> truth_, got_;
  std::map<size_t, vulkan::Buffer> narrow_;  ///< outputs of halves, by index
  vulkan::Buffer halves_;                    ///< room for any drawn tensor as halves
  vulkan::Buffer arena_, work_, report_, host_;
};

}  // namespace

std::unique_ptr<VariantEvaluator> make_device_evaluator(vulkan::Device& device, const Task& task,
                                                        const Graph& graph) {
  return std::make_unique<DeviceEvaluator>(device, task, graph);
}

}  // namespace kbench::dev
