#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/dev/verbs.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/progress.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/measure/process/cgroups.h"
#include "harness/measure/trial/device_draw.h"
#include "harness/measure/trial/eager_run.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"
#include "kbench/golden.h"
#include "kbench/task.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench::dev {
namespace {

struct VerifyOptions {
  std::string golden;
  std::string backend = "reference";
  std::string precision = "f32";
  program::TaskOptions tasks;
  program::DeviceOptions device;
  bool json = false;
};

/// The outcome of one record.
struct Verified {
  TaskId task;
  std::string name;
  bool passed = false;
  double worst = 0;
  double seconds = 0;
  int64_t peak_bytes = 0;  ///< of this process
  std::string message;
};
KBENCH_FIELDS(Verified, task, name, passed, worst, seconds, peak_bytes, message)

/// The document of --json.
struct Verification {
  std::string golden, backend, precision;
  size_t passed = 0, total = 0, not_in_this_build = 0;
  std::vector<Verified> tasks;
};
KBENCH_FIELDS(Verification, golden, backend, precision, passed, total, not_in_this_build, tasks)

/// Computes a task's outputs, on the CPU or with the eager baseline's kernels.
class Backend {
 public:
  explicit Backend(const VerifyOptions& options) : precision_(precision_named(options.precision)) {
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
      throw Error(ErrorCode::kOutOfMemory,
                  "needs " + program::format_bytes(double(needed)) + " of host memory, " +
                      program::format_bytes(double(available)) + " are free");
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
  Verified result{.task = record.task, .name = record.name, .message = ""};
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

std::string label(TaskId task, const std::string& name) { return to_string(task) + "_" + name; }

int run_verify(const VerifyOptions& options) {
  const auto selected = options.tasks.select();
  const std::vector<GoldenRecord> records = load_golden(options.golden);
  Backend backend(options);
  Verification all{.golden = options.golden,
                   .backend = options.backend,
                   .precision = options.precision,
                   .tasks = {}};
  std::vector<const GoldenRecord*> work;
  for (const GoldenRecord& record : records) {
    const Task* task = lookup_task(record.task);
    if (task == nullptr) {
      ++all.not_in_this_build;
    } else if (std::ranges::find(selected, task) != selected.end()) {
      work.push_back(&record);
    }
  }
  program::Progress progress(stderr, work.size());
  for (const GoldenRecord* record : work) {
    progress.begin(label(record->task, record->name));
    all.tasks.push_back(verify(*record, backend));
    progress.advance();
  }
  progress.close();
  all.total = all.tasks.size();
  all.passed = static_cast<size_t>(std::ranges::count_if(all.tasks, &Verified::passed));
  if (options.json) {
    program::say(json_text(json_of<nlohmann::ordered_json>(all), 2) + "\n");
  } else {
    for (const Verified& v : all.tasks) {
      if (!v.passed) program::say(label(v.task, v.name) + ": " + v.message + "\n");
    }
    const std::string skipped = std::to_string(all.not_in_this_build);
    program::say(std::to_string(all.passed) + " of " + counted(all.total, "task") + " match" +
                 (skipped != "0" ? "; " + skipped + " skipped: not in this build" : "") + "\n");
  }
  return all.passed == all.total && all.passed > 0 ? program::kDone : program::kFailed;
}

}  // namespace

program::Verb add_verify(program::Command program) {
  auto options = std::make_shared<VerifyOptions>();
  const program::Command app = program.add_verb(
      "verify", "Check this build against a golden file",
      "Computes the tasks of a golden file from the seeds and sizes in it and compares the outputs "
      "with the values PyTorch gave in float64: sampled elements and a checksum over all. A line "
      "for each task that differs, then a summary; exit code 1 when one differs.",
      "  kbench-dev verify --golden smoke.json\n"
      "  kbench-dev verify --golden v0.json --compute f64 --task level1/*\n"
      "  kbench-dev verify --golden smoke.json --backend vulkan --device cpu --validate");
  const program::Command computation = app.in_group("Computation");
  computation
      .add_option("--golden FILE", options->golden, "The golden file: .json or .json.zst",
                  program::readable())
      .required();
  computation.add_setting("--backend NAME", options->backend,
                          "reference (on the CPU), or vulkan (the eager baseline's kernels)",
                          program::member_of({"reference", "vulkan"}));
  add_compute(app, options->precision);
  options->tasks.add_to(app);
  options->device.add_to(app);
  app.in_group("Output").add_flag("--json", options->json,
                                  "The findings as JSON on standard output");
  return {app, [options] { return run_verify(*options); }};
}

}  // namespace kbench::dev
