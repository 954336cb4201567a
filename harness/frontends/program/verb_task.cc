// Files of tasks of one's own: checked, and begun.
#include <cstdio>
#include <map>
#include <memory>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "harness/measure/audit/audit.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/task_file.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/eager_steps.h"
#include "libkbench/core/liveness.h"

namespace kbench::program {
namespace {

struct TaskVerbOptions {
  std::string action;
  std::string what;
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

/// Says what kbench makes of a task; returns whether something should be looked into.
bool check(const Task& task) {
  std::string text = to_string(task.id) + "  " + task.name + "\n";
  for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
    text += "  " + std::string(name_of(preset)) + std::string(7 - name_of(preset).size(), ' ') +
            preset_line(task, preset) + "\n";
  }
  say(text);
  std::fflush(stdout);
  const auto graph = build_graph(task, Preset::smoke);
  const std::vector<std::string> dead = unused(*graph);
  text = "  used    " +
         (dead.empty() ? "everything: outputs depend on every tensor"
                       : "no output depends on " +
                             listed(dead, [](const std::string& name) { return name; })) +
         "\n";
  const auto evaluator = audit::make_host_evaluator(task, *graph);
  const audit::TaskAudit audit = audit::audit_task(task, *graph, *evaluator);
  std::map<Variant::Kind, std::string> left;
  for (const audit::Tried& tried : audit.tried) {
    if (!audit::is_left(tried) || tried.identical) continue;
    left[tried.kind] += "\n            " + tried.margin.description;
  }
  text += "  check   " + std::to_string(audit.tried.size()) +
          " variants at smoke, held to |c - r| <= " + format_number(task.tolerance.relative) +
          " * (s + |r|)\n";
  bool found = !dead.empty();
  for (const auto& [kind, variants] : left) {
    found = found || kind != Variant::Kind::precision;
    text += "          " +
            (kind == Variant::Kind::honest ? "honest, and needs more than half of the tolerance:"
             : kind == Variant::Kind::precision
                 ? "of fewer bits, and passes:"
                 : std::string(name_of(kind)) + ", passes, and leaves something out:") +
            variants + "\n";
  }
  if (left.empty()) text += "          none passes that should not\n";
  say(text);
  return found;
}

int run_task(const TaskVerbOptions& options) {
  if (options.action == "new") {
    if (!is_own_name(options.what)) {
      throw Error(
          ErrorCode::kInvalidArgument,
          "'" + shown(options.what) + "' cannot name a task; write a set and a name, as in my/mlp");
    }
    std::string text = kStarter;
    text.replace(text.find("NAME"), 4, options.what);
    say(text);
    return kDone;
  }
  const TaskSet set = TaskSet::from_path(options.what);
  bool found = false;
  for (const Task* task : set.tasks()) found = check(*task) || found;
  return found ? kFailed : kDone;
}

}  // namespace

Verb add_task(Command program) {
  auto options = std::make_shared<TaskVerbOptions>();
  const Command app = program.add_verb(
      "task", "Files of tasks of your own: check one, begin one",
      "Checks a file of a task of your own, or a folder of them: sizes, work and memory at every "
      "preset, what no output depends on, and which shortcuts its check lets pass at preset smoke "
      "(kbench audit says more). Exit code 1 where there is something to look into. Or prints a "
      "file to begin with. docs/tasks.md has the format.",
      "  kbench task new my/block > my/block.yaml\n"
      "  kbench task check my/block.yaml");
  app.add_option("ACTION", options->action, "check or new", member_of({"check", "new"}))
      .required()
      .option_text("ACTION");
  app.add_option("WHAT", options->what, "check: a file or folder; new: the task's name, my/block")
      .required()
      .option_text("WHAT");
  return {app, [options] { return run_task(*options); }};
}

}  // namespace kbench::program
