// Files of tasks of one's own: checked, begun, and made of PyTorch's modules.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "harness/evaluate/from_pytorch/compare.h"
#include "harness/evaluate/from_pytorch/from_pytorch.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/audit/audit.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/listing.h"
#include "kbench/task.h"
#include "kbench/task_file.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/core/graph_facts.h"
#include "libkbench/core/in_words.h"
#include "reference/faults.h"

namespace kbench::program {
namespace {

struct TaskVerbOptions {
  std::string action;
  std::string what;
  std::string name, module_class, init, smoke, train, v0;
  std::string preset = std::string(name_of(Preset::smoke)), dtype = "f32";
  int list = 1;
  double seconds = 60;
};

/// A file to begin with; NAME stands for the task's.
constexpr char kStarter[] =
    R"yaml(# What the keys mean: docs/tasks.md. kbench task check FILE says what kbench makes of it.
kbench_task: 1
name: NAME
title: "A layer with a gate"
variables:
  tokens: {smoke: 6, v0: 512, v0.1: 8192}
  width: {smoke: 16, v0: 1024, v0.1: 4096}
inputs:
  x: {shape: [tokens, width]}
parameters:
  gate.weight: {shape: [width, width], distribution: "uniform(-1 / sqrt(width), 1 / sqrt(width))"}
  gate.bias: {shape: [width]}
operators:
  - {op: linear, in: [x, gate.weight, gate.bias], out: g}
  - {op: sigmoid, in: g, out: g}
  - {op: mul, in: [x, g], out: y}
outputs: y
)yaml";

/// "tokens=6, width=16: 3 operators, 12.0 KFLOP, at least 3.00 KB moved, ...".
std::string preset_line(const Task& task, Preset preset) {
  const auto graph = build_graph(task, preset);
  double tensors = 0;
  for (const auto& value : graph->values()) {
    const bool view = value.producer >= 0 && graph->node(value.producer).call.op->is_view;
    if (!view) tensors += static_cast<double>(value.type.bytes());
  }
  const std::string sizes = sizes_read(*graph);
  return sizes + (sizes.empty() ? "" : ": ") + std::to_string(graph->nodes().size()) +
         " operators, " + scaled_text(graph->flops()) + "FLOP, at least " +
         format_bytes(graph->least_bytes()) + " moved, " + format_bytes(tensors) +
         " of tensors if all were kept";
}

/// Names of what no output depends on.
std::vector<std::string> unused(const Graph& graph) {
  const std::vector<bool> needed = needed_values(graph);
  std::vector<std::string> names;
  for (size_t id = 0; id < needed.size(); ++id) {
    const Graph::ValueInfo& value = graph.values()[id];
    if (needed[id]) continue;
    names.push_back(value.kind == Graph::Kind::intermediate
                        ? "a result of " + graph.node(value.producer).call.op->name
                        : std::string(name_of(value.kind)) + " " + value.name);
  }
  return names;
}

/// "  pytorch the same: worst error 3e-07"; and whether it is not the same.
std::pair<std::string, bool> pytorch_line(runner::PythonHelper& python, const Task& task,
                                          const Graph& graph) {
  const auto found =
      from_pytorch::compare_with_pytorch(python, pytorch_module(task, graph), task, graph);
  if (!found.not_compared.empty()) {
    return {"  pytorch not compared: " + found.not_compared + "\n", false};
  }
  if (!found.difference.empty())
    return {"  pytorch not the same: " + found.difference + "\n", true};
  return {"  pytorch the same: worst error " + format_number(found.worst_error) + "\n", false};
}

/// What an audit left, and whether that is more than fewer bits.
std::pair<std::string, bool> left_of(const audit::TaskAudit& audit) {
  std::map<VariantKind, std::string> left;
  for (const audit::Tried& tried : audit.tried) {
    if (!audit::is_left(tried) || tried.identical) continue;
    left[tried.kind] += "\n            " + tried.margin.description;
  }
  bool found = false;
  std::string text;
  for (const auto& [kind, variants] : left) {
    found = found || kind != VariantKind::precision;
    text += "          " +
            (kind == VariantKind::honest ? "honest, and needs more than half of the tolerance:"
             : kind == VariantKind::precision
                 ? "of fewer bits, and passes:"
                 : std::string(name_of(kind)) + ", passes, and leaves something out:") +
            variants + "\n";
  }
  return {text.empty() ? "          none passes that should not\n" : text, found};
}

/// Says what kbench makes of a task; returns whether something should be looked into.
bool check(const Task& task, runner::PythonHelper& python) {
  std::string text = to_string(task.id) + "  " + task.name + "\n";
  for (const Preset preset : kAllPresets) {
    text += "  " + std::string(name_of(preset)) + std::string(7 - name_of(preset).size(), ' ') +
            preset_line(task, preset) + "\n";
  }
  say(text);
  std::fflush(stdout);
  const auto graph = build_graph(task, Preset::smoke);
  const std::vector<std::string> dead = unused(*graph);
  text.clear();
  if (const std::string module = module_behind(task); !module.empty()) {
    text += "  module  " + shown(module) + "\n";
  }
  const reference::ValueFaults faults = reference::faults_of_values(*graph, task.id);
  if (!faults.not_a_number.empty()) {
    text += "  values  no candidate can be right: " + faults.not_a_number + "\n";
  }
  for (const std::string& each : faults.suspicious) text += "  values  " + each + "\n";
  text += "  used    " +
          (dead.empty() ? "everything: outputs depend on every tensor"
                        : "no output depends on " +
                              listed(dead, [](const std::string& name) { return name; })) +
          "\n";
  const auto [pytorch, differs] = pytorch_line(python, task, *graph);
  text += pytorch;
  if (!faults.not_a_number.empty()) {  // No variant can be compared with it.
    say(text);
    return true;
  }
  const auto evaluator = audit::make_host_evaluator(task, *graph);
  const audit::TaskAudit audit = audit::audit_task(task, *graph, *evaluator);
  text += "  check   " + std::to_string(audit.tried.size()) +
          " variants at smoke, held to |c - r| <= " + format_number(task.tolerance.relative) +
          " * (s + |r|)\n";
  const auto [left, found] = left_of(audit);
  say(text + left);
  return found || !faults.suspicious.empty() || !dead.empty() || differs;
}

/// Audits the file's task on the CPU, and keeps its certificate beside the file, with those of
/// other presets and types.
int certify(const TaskVerbOptions& options) {
  if (!is_task_path(options.what) || std::filesystem::is_directory(options.what)) {
    throw Error(ErrorCode::kInvalidArgument,
                "certify takes the file of one task, not " + quoted(options.what));
  }
  const Task& task = task_argument(options.what);
  CertificateFile made = audit::new_certificates(preset_from_name(options.preset),
                                                 task_dtype_from_name(options.dtype));
  require_defined(task, made.dtype);
  if (const auto fault = reference::not_a_number(task); !fault.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no candidate can be right: " + fault);
  }
  const auto graph = build_graph(task, made.preset, {}, made.dtype);
  const auto evaluator = audit::make_host_evaluator(task, *graph);
  const audit::TaskAudit audit = audit::audit_task(task, *graph, *evaluator);
  made.tasks.push_back(audit::certificate_of(audit));
  std::vector<CertificateFile> all = {made};
  for (const auto& other : task.certificates) {
    if (other->preset != made.preset || other->dtype != made.dtype) all.push_back(*other);
  }
  NewFile file(certificates_beside(options.what));
  for (const CertificateFile& each : all) {
    std::string line = to_json(each);
    std::erase(line, '\n');
    file.write(line + "\n");
  }
  file.commit();
  const std::string_view word = certification(task, made.tasks.front());
  say(to_string(task.id) + "  " + std::string(explain_certificate(word)) + "\n" +
      left_of(audit).first + "  kept    " + shown(certificates_beside(options.what)) + "\n");
  return is_certified(word) ? kDone : kFailed;
}

void require_own_name(const std::string& name) {
  if (is_own_name(name)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "'" + shown(name) + "' cannot name a task; write a set and a name, as in my/mlp");
}

/// "my/gated_mlp" of "problems/gated mlp.py".
std::string name_from(const std::string& path) {
  std::string name = "my/" + std::filesystem::path(path).stem().string();
  const auto kept = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  };
  std::replace_if(
      name.begin() + 3, name.end(), [&](char c) { return !kept(c); }, '_');
  return name;
}

int print_from_pytorch(const TaskVerbOptions& options) {
  const std::string name = options.name.empty() ? name_from(options.what) : options.name;
  require_own_name(name);
  const std::filesystem::path path(options.what);
  from_pytorch::Problem problem{.text = read_file(options.what),
                                .shown = options.what,
                                .name = name,
                                .title = path.stem().string(),
                                .module_class = options.module_class,
                                .init = options.init,
                                .list = options.list};
  const std::filesystem::path data = std::filesystem::path(path).replace_extension(".json");
  if (std::filesystem::is_regular_file(data)) {
    problem.beside[data.filename().string()] = read_file(data.string());
  }
  std::vector<from_pytorch::PresetSizes> presets;
  if (!options.smoke.empty()) presets.push_back({Preset::smoke, options.smoke});
  if (!options.train.empty()) presets.push_back({Preset::train, options.train});
  if (!options.v0.empty()) presets.push_back({Preset::v0, options.v0});
  runner::PythonHelper python;
  const auto task = from_pytorch::task_of(python, problem, presets, options.seconds);
  for (const std::string& note : task.notes) warn("note: " + note);
  warn("note: beside the module: " + task.compared);
  if (presets.empty() && !task.sizes.empty()) {
    warn("note: " +
         (task.smoke.empty() ? "one size for all presets"
                             : "preset smoke has " + task.smoke + ", the others have its own") +
         "; --smoke, --train and --v0 give others to constants of the file: " +
         from_pytorch::sizes_text(task.sizes));
  }
  say(task.text);
  return kDone;
}

int run_task(const TaskVerbOptions& options) {
  if (options.action == "from-pytorch") return print_from_pytorch(options);
  if (options.action == "certify") return certify(options);
  if (options.action == "new") {
    require_own_name(options.what);
    std::string text = kStarter;
    text.replace(text.find("NAME"), 4, options.what);
    say(text);
    return kDone;
  }
  runner::PythonHelper python;  // while this process has one thread
  const TaskSet set = TaskSet::from_path(options.what);
  bool found = false;
  for (const Task* task : set.tasks()) found = check(*task, python) || found;
  return found ? kFailed : kDone;
}

}  // namespace

Verb add_task(Command program) {
  auto options = std::make_shared<TaskVerbOptions>();
  const Command app = program.add_verb(
      "task", "Tasks of your own: check, certify or begin one, make one of PyTorch",
      "Checks a file of a task of your own, or a folder of them: sizes, work and memory at every "
      "preset, right values that are NaN or always the same, what no output depends on, whether "
      "PyTorch computes the same at preset smoke where "
      "there is python3 with torch, and which shortcuts its check lets pass there. Exit code 1 "
      "where there is something to look into. Or certifies a file's task at a preset: what `check` "
      "tries, tried there on the CPU, which may take long; the certificate is kept beside the file "
      "(my/block.certificates.jsonl), and results show it. Exit code 1 where it is not certified. "
      "Or prints a file to begin with. Or prints the file of a PyTorch module: a Python file as "
      "KernelBench's are, with class Model, get_inputs() and get_init_inputs(). Its integers at "
      "the top level, such as batch_size = 128, are its sizes: --smoke batch_size=2 traces it with "
      "another one. What is printed was run beside the module on two draws, in float64. It takes "
      "python3 with torch (KBENCH_PYTHON), and runs there without network, in a folder of its own. "
      "docs/tasks.md has the format.",
      "  kbench task new my/block > my/block.yaml\n"
      "  kbench task check my/block.yaml\n"
      "  kbench task certify my/block.yaml --preset v0\n"
      "  kbench task from-pytorch block.py --name my/block > my/block.yaml\n"
      "  kbench task from-pytorch block.py --smoke batch_size=2,dim=16 > my/block.yaml");
  app.add_option("ACTION", options->action, "check, certify, new or from-pytorch",
                 member_of({"check", "certify", "new", "from-pytorch"}))
      .required();
  app.add_option("WHAT PATH", options->what,
                 "check: a file or folder; certify: a file; new: the task's name, my/block; "
                 "from-pytorch: a Python file")
      .required();
  const Command certified = app.in_group("certify");
  certified.add_setting("--preset PRESET", options->preset, kPresetNames,
                        member_of(names_to(Preset::v0_1)));
  certified.add_setting("--dtype TYPE", options->dtype, "f32, f16 or bf16", task_dtypes());
  const Command pytorch = app.in_group("from-pytorch");
  pytorch.add_option("--name SET/NAME", options->name,
                     "The task's name; without it my/ and the file's");
  pytorch.add_option("--class NAME", options->module_class,
                     "The module's class; without it Model, or the only one in the file");
  pytorch.add_option(
      "--init NAME=VALUE,...", options->init,
      "Arguments of its constructor in place of get_init_inputs(): width=8,eps=1e-6");
  pytorch.add_setting("--list N", options->list,
                      "Which list of inputs, of a file that gives several");
  pytorch.add_option("--smoke NAME=N,...", options->smoke,
                     "Values at preset smoke of constants at the file's top level, by commas: "
                     "batch_size=2,kernel=(3,5); without it the file's numbers divided by a power "
                     "of two");
  pytorch.add_option("--train NAME=N,...", options->train,
                     "The same for preset train; without it those of v0");
  pytorch.add_option("--v0 NAME=N,...", options->v0,
                     "The same for preset v0; the file's own are v0.1's");
  pytorch.add_setting("--seconds N", options->seconds, "For each choice of sizes, at most");
  return {app, [options] { return run_task(*options); }};
}

}  // namespace kbench::program
