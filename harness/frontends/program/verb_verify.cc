#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/process/host_memory.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"
#include "kbench/golden.h"
#include "kbench/reference.h"
#include "kbench/task.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct VerifyOptions {
  std::string golden;
  std::string backend = "reference";
  std::string precision = "f32";
  TaskOptions tasks;
  DeviceOptions device;
  bool json = false;
};

/// The outcome of one record.
struct Verified {
  const GoldenRecord* record = nullptr;
  bool passed = false;
  double worst = 0;
  double seconds = 0;
  int64_t peak_bytes = 0;  ///< of this process
  std::string message;
};

/// Computes a task's outputs, on the CPU or with the eager baseline's kernels.
class Backend {
 public:
  explicit Backend(const VerifyOptions& options)
      : precision_(value_named(options.precision, Precision::f64).value()) {
    if (options.backend != "vulkan") return;
    if (precision_ == Precision::f64) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--backend vulkan computes in float32; leave --compute f64 out");
    }
    device_ = vulkan::Device::open({options.device.device, options.device.validate});
  }

  Precision precision() const { return precision_; }

  std::vector<Tensor> run(const Graph& graph, const GoldenRecord& record) {
    if (!device_) {
      return run_reference(graph, draw_golden(record, graph), {.precision = precision_});
    }
    check_golden_tensors(record, graph);
    return trial::run_eager(*device_, graph,
                            [&](const Graph::ValueInfo& value, vulkan::Commands& commands,
                                const vulkan::Region& to) { place(record, value, commands, to); });
  }

  /// Throws if the host lacks memory for the task; called before anything is drawn.
  void check_memory(const Graph& graph) const {
    const int64_t needed = host_bytes(graph);
    const int64_t available = process::available_host_bytes();
    if (available > 0 && needed > available) {
      throw Error(ErrorCode::kOutOfMemory, "needs " + format_bytes(double(needed)) +
                                               " of host memory, " +
                                               format_bytes(double(available)) + " are free");
    }
  }

  /// Validation messages are faults of the baseline's own kernels.
  void check_validation() {
    if (!device_) return;
    const auto messages = device_->take_validation_messages();
    if (!messages.empty()) throw Error(ErrorCode::kInternal, "validation: " + messages.front());
  }

 private:
  /// With a GPU, the host holds only the outputs that are compared and what must be drawn here.
  int64_t host_bytes(const Graph& graph) const {
    if (!device_ || device_->snapshot().software()) return reference_peak_bytes(graph, precision_);
    int64_t outputs = 0, largest = 0;
    for (const int id : graph.outputs()) {
      outputs += graph.value(id).type.bytes();
    }
    for (const Graph::ValueInfo& value : graph.values()) {
      if (value.kind == Graph::Kind::intermediate) continue;
      largest = std::max(largest, value.type.bytes());
    }
    return outputs + largest;
  }

  /// Draws a tensor, on the device if it can.
  void place(const GoldenRecord& record, const Graph::ValueInfo& value, vulkan::Commands& commands,
             const vulkan::Region& to) {
    if (const auto draw = golden_draw(record, value)) {
      trial::draw_tensor(*device_, commands, draw->distribution, draw->key, value.type, to);
    } else {
      const Tensor tensor = draw_golden(record, value);
      device_->upload(*to.buffer, to.offset, {tensor.raw(), static_cast<size_t>(tensor.bytes())});
    }
  }

  Precision precision_;
  std::unique_ptr<vulkan::Device> device_;
};

Verified verify(const GoldenRecord& record, Backend& backend) {
  Verified result;
  result.record = &record;
  process::forget_peak();
  const auto start = std::chrono::steady_clock::now();
  try {
    const auto graph = build_graph(record);
    backend.check_memory(*graph);
    const std::vector<Tensor> outputs = backend.run(*graph, record);
    backend.check_validation();
    const GoldenCheck check = check_golden(record, outputs, backend.precision());
    result.passed = check.passed;
    result.worst = check.worst;
    result.message = check.message;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kDeviceLost || e.code() == ErrorCode::kTimeout) throw;
    result.message = e.what();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.peak_bytes = process::peak_host_bytes();
  return result;
}

std::string label(const GoldenRecord& record) { return to_string(record.task) + "_" + record.name; }

void print_json(const VerifyOptions& options, const std::vector<Verified>& verified, size_t passed,
                size_t skipped) {
  nlohmann::ordered_json document = {{"golden", options.golden},
                                     {"backend", options.backend},
                                     {"precision", options.precision},
                                     {"passed", passed},
                                     {"total", verified.size()},
                                     {"not_in_this_build", skipped},
                                     {"tasks", nlohmann::ordered_json::array()}};
  for (const Verified& v : verified) {
    document["tasks"].push_back({{"task", to_string(v.record->task)},
                                 {"name", v.record->name},
                                 {"passed", v.passed},
                                 {"worst", v.worst},
                                 {"seconds", v.seconds},
                                 {"peak_bytes", v.peak_bytes},
                                 {"message", v.message}});
  }
  say(json_text(document, 2) + "\n");
}

int run_verify(const VerifyOptions& options) {
  const auto selected = options.tasks.select();
  const std::vector<GoldenRecord> records = load_golden(options.golden);
  Backend backend(options);
  std::vector<const GoldenRecord*> work;
  size_t skipped = 0;
  for (const GoldenRecord& record : records) {
    const Task* task = lookup_task(record.task);
    if (task == nullptr) {
      ++skipped;
    } else if (std::find(selected.begin(), selected.end(), task) != selected.end()) {
      work.push_back(&record);
    }
  }

  std::vector<Verified> verified;
  {
    Progress progress(stderr, work.size());
    for (const GoldenRecord* record : work) {
      progress.begin(label(*record));
      verified.push_back(verify(*record, backend));
      progress.advance();
    }
  }
  const auto passed = static_cast<size_t>(
      std::count_if(verified.begin(), verified.end(), [](const Verified& v) { return v.passed; }));
  if (options.json) {
    print_json(options, verified, passed, skipped);
  } else {
    for (const Verified& v : verified) {
      if (!v.passed) say(label(*v.record) + ": " + v.message + "\n");
    }
    say(std::to_string(passed) + " of " + counted(verified.size(), "task") + " match" +
        (skipped > 0 ? "; " + std::to_string(skipped) + " skipped: not in this build" : "") + "\n");
  }
  return passed == verified.size() && passed > 0 ? kDone : kFailed;
}

}  // namespace

Verb add_verify(Command program) {
  auto options = std::make_shared<VerifyOptions>();
  const Command app = program.add_verb(
      "verify", "Check this build against a golden file",
      "Computes the tasks of a golden file from the seeds and sizes in it and compares the outputs "
      "with the values PyTorch gave in float64: sampled elements and a checksum over all. A line "
      "for each task that differs, then a summary; exit code 1 when one differs.",
      "  kbench verify --golden smoke.json\n"
      "  kbench verify --golden v0.json --compute f64 --task level1/*\n"
      "  kbench verify --golden smoke.json --backend vulkan --device cpu --validate");
  const Command computation = app.in_group("Computation");
  computation
      .add_option("--golden FILE", options->golden, "The golden file: .json or .json.zst",
                  readable())
      .required();
  computation.add_setting("--backend NAME", options->backend,
                          "reference (on the CPU), or vulkan (the eager baseline's kernels)",
                          one_of({"reference", "vulkan"}));
  add_compute(app, options->precision);
  options->tasks.add_to(app);
  options->device.add_to(app);
  app.in_group("Output").add_flag("--json", options->json,
                                  "The findings as JSON on standard output");
  return {app, [options] { return run_verify(*options); }};
}

}  // namespace kbench::program
