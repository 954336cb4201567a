#include <memory>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/trial/experiment.h"
#include "kbench/baseline.h"
#include "kbench/candidate.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/listing.h"
#include "kbench/prompts.h"
#include "kbench/task.h"
#include "kbench/task_file.h"

namespace kbench::program {
namespace {

struct ShowOptions {
  std::string task;
  SizeOptions size;
  DeviceOptions device;
  bool candidate = false, pytorch = false, problem = false, algebra = false, task_file = false,
       json = false;
  bool one_size = false;  ///< a preset or a variable was given
};

/// Explains what a pass on this task is worth.
std::string check_text(const Task& task, const ShowOptions& options) {
  std::string text = "\nthe task's own check\n";
  text += task.trivial.empty()
              ? "  " + std::string(explain_certificate(certification(options.size.at(task))))
              : "  trivial: " + task.trivial;
  text += "\n";
  if (collapses(task.id)) {
    text +=
        "  collapses: its outputs can be had for far less work; scores are given without it, too\n";
  }
  const Certificate* certificate = lookup_certificate(options.size.at(task));
  if (certificate != nullptr && certificate->subset_within_noise()) {
    text +=
        "  a subset within noise: a sum over all but a part of 1/4 to 1/32 of its terms passes\n";
  }
  for (const Dead& dead : task.dead) {
    text += "  dead: ";
    for (size_t i = 0; i < dead.variants.size(); ++i) {
      text += (i > 0 ? "; " : "") + dead.variants[i];
    }
    text += ": " + dead.proof + "\n";
  }
  return text;
}

/// "41x over eager on NVIDIA H200 at v0.1"; empty if nothing was measured.
std::string measured_text(const Algebra& algebra, const SizeOptions& size) {
  const Result* best = best_measured(algebra, size.fixed_preset(), size.dtype());
  if (best == nullptr) return "";
  return format_number(best->speedup.point) + "x over eager on " + best->device + " at " +
         best->preset;
}

/// What to compare a speedup on this task with.
std::string algebra_text(const Task& task, const ShowOptions& options) {
  const Algebra* known = lookup_algebra(task.id);
  if (known == nullptr) return "";
  std::string text = "  legal algebra: " + known->how;
  if (const std::string measured = measured_text(*known, options.size);
      !measured.empty() && options.size.overrides().empty()) {
    text += " Measured: " + measured + ".";
  }
  return text + " (kbench show " + to_string(task.id) + " --algebra)\n";
}

const std::string& algebra_of(const Task& task) {
  const Algebra* known = lookup_algebra(task.id);
  if (known != nullptr) return known->candidate;
  throw Error(ErrorCode::kNotFound, to_string(task.id) + " has no known rewriting");
}

/// Where the listing's names can be used.
constexpr const char* kUseOfNames =
    "\nin a manifest's expressions\n  the shape variables; in a shader KB_<name>. A device's "
    "numbers: kbench devices --limits\n";

/// The sizes that running verbs would take on this device; empty without a device.
std::string preset_text(const Task& task, const ShowOptions& options) {
  try {
    const vulkan::DeviceSnapshot device = options.device.choose();
    const Task* const tasks[] = {&task};
    const Preset taken =
        trial::choose_preset("auto", tasks, options.size.overrides(), options.size.dtype(), device);
    return "sizes\n  shown: preset " + std::string(name_of(options.size.fixed_preset())) +
           "; kbench run takes " + std::string(name_of(taken)) + " on " + device.name +
           " unless --preset says otherwise\n";
  } catch (const Error&) {
    return "";
  }
}

std::string file_text(const Task& task, const Graph& graph, const ShowOptions& options) {
  return options.one_size ? task_file_text(task, graph, options.size.fixed_preset())
                          : task_file_text(task);
}

int run_show(const ShowOptions& options) {
  const Task& task = task_argument(options.task);
  const auto graph = build_graph(options.size.at(task));
  if (options.candidate + options.pytorch + options.problem + options.json + options.algebra +
          options.task_file >
      1) {
    throw Error(ErrorCode::kInvalidArgument,
                "--candidate, --pytorch, --problem, --algebra, --task-file and --json exclude each "
                "other");
  }
  const std::string text =
      options.candidate   ? eager_candidate_yaml(task, *graph)
      : options.pytorch   ? pytorch_module(task, *graph)
      : options.problem   ? pytorch_problem(task, *graph)
      : options.algebra   ? algebra_of(task)
      : options.task_file ? file_text(task, *graph, options)
      : options.json      ? facts_json(task, *graph)
                     : folded_listing(task, *graph) + kUseOfNames + preset_text(task, options) +
                           check_text(task, options) + algebra_text(task, options);
  say(text.ends_with('\n') ? text : text + "\n");
  return kDone;
}

}  // namespace

Verb add_show(Command program) {
  auto options = std::make_shared<ShowOptions>();
  const Command app =
      program.add_verb("show", "One task as a candidate's author needs it",
                       "Shows a task as the author of a candidate needs it: signature, shapes, "
                       "operators in order with their formulas, floating-point operations and "
                       "bytes. With --candidate, prints a candidate file that computes the task "
                       "with built-in operators: save it, then replace steps by kernels.",
                       "  kbench show level1/19\n"
                       "  kbench show 2/1 --preset smoke --set height=65\n"
                       "  kbench show 1/23 --candidate > my/softmax.yaml\n"
                       "  kbench show 1/23 --task-file > my/softmax_task.yaml\n"
                       "  kbench show 1/23 --json");
  app.add_option("TASK,--task,--tasks", options->task,
                 "The task: level1/19, 1/19, its name, or a task's file; also behind --task")
      .required();
  options->size.add_to(app, /*with_auto=*/false, "v0.1");
  options->device.add_to(app, /*with_validate=*/false);
  const Command output = app.in_group("Output");
  output.add_flag("--candidate", options->candidate, "Print a candidate file to start from");
  output.add_flag("--pytorch", options->pytorch,
                  "Print the task as a PyTorch file with a ModelNew, a candidate too");
  output.add_flag("--problem", options->problem,
                  "Print the task at these sizes as a PyTorch file with Model and get_inputs, as "
                  "KernelBench's are and kbench task from-pytorch reads");
  output.add_flag("--algebra", options->algebra,
                  "Print the best known rewriting by legal algebra, where there is one");
  output.add_flag("--task-file", options->task_file,
                  "Print the task as a file of a task of your own, with its variables and "
                  "presets; with --preset or --set at these sizes alone");
  output.add_flag("--json", options->json, "The same facts as JSON");
  return {app, [options, preset = app.option("--preset"), set = app.option("--set")] {
            options->one_size = preset.given() || set.given();
            return run_show(*options);
          }};
}

}  // namespace kbench::program
