#include <filesystem>
#include <memory>

#include "harness/dev/verbs.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "kbench/error.h"
#include "kbench/golden.h"
#include "kbench/task.h"

namespace kbench::dev {
namespace {

namespace fs = std::filesystem;

struct ReferenceVerbOptions {
  std::string task;
  program::SizeOptions size;
  uint64_t seed = 0;
  std::string folder;
  std::string precision = "f32";
};

void save(const fs::path& folder, const std::string& name, const Tensor& tensor) {
  const fs::path path = folder / (name + ".npy");
  write_npy(path.string(), tensor);
  program::say(path.string() + "  " + to_string(tensor.type()) + "\n");
}

int run_reference_verb(const ReferenceVerbOptions& options) {
  const Task& task = program::task_argument(options.task);
  const auto graph = build_graph(options.size.at(task));
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    throw Error(ErrorCode::kIo,
                "cannot make the folder '" + shown(options.folder) + "': " + error.message());
  }
  NamedTensors tensors = draw_tensors(*graph, task.id, options.seed);
  for (const auto& [name, tensor] : tensors) save(options.folder, name, tensor);
  const std::vector<Tensor> outputs =
      run_reference(*graph, std::move(tensors), {.precision = precision_named(options.precision)});
  for (size_t i = 0; i < outputs.size(); ++i) {
    save(options.folder, graph->output_name(i), outputs[i]);
  }
  return program::kDone;
}

}  // namespace

program::Verb add_reference(program::Command program) {
  auto options = std::make_shared<ReferenceVerbOptions>();
  const program::Command app = program.add_verb(
      "reference", "Inputs, parameters and outputs of a task as .npy files",
      "Draws a task's inputs and parameters from a seed, computes its outputs on the CPU, and "
      "writes all of them as NumPy files named after the tensors (x.npy, conv.weight.npy, "
      "output.npy).",
      "  kbench-dev reference level1/19 --dump relu/\n"
      "  kbench-dev reference 2/1 --preset v0 --set batch_size=4 --input-seed 7 --dump out/");
  app.add_option("TASK", options->task, "The task: level1/19, 1/19, or its name").required();
  app.in_group("Output")
      .add_option("--dump DIR", options->folder, "Folder to write to, made when it is not there")
      .required();
  options->size.add_to(app, /*with_auto=*/false, "smoke");
  app.in_group("Computation")
      .add_setting("--input-seed N", options->seed, "Seed of the draws", program::whole_number());
  add_compute(app, options->precision);
  return {app, [options] { return run_reference_verb(*options); }};
}

}  // namespace kbench::dev
