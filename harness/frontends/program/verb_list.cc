#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/certificate.h"
#include "kbench/task.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/core/variables_json.h"

namespace kbench::program {
namespace {

struct ListOptions {
  TaskOptions tasks;
  SizeOptions size;
  bool json = false;
};

/// Three digits, without an exponent.
std::string format_intensity(double intensity) {
  return intensity < 1000 ? format_number(intensity)
                          : std::to_string(std::llround(intensity / 10) * 10);
}

/// "41x" if legal algebra is known to save work, "yes" if its speedup was not measured.
std::string algebra_mark(const TaskAt& at) {
  const Algebra* known = lookup_algebra(at.task);
  if (known == nullptr) return "";
  const Result* best =
      at.variables.empty() ? best_measured(*known, preset_from_name(at.preset), at.dtype) : nullptr;
  return best != nullptr ? format_number(best->speedup.point) + "x" : "yes";
}

int run_list(const ListOptions& options) {
  auto tasks = options.tasks.select(Names::of_all);
  leave_out_undefined(tasks, options.size.dtype());
  const Preset preset = options.size.fixed_preset();
  const Variables overrides = options.size.overrides();
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> rows = {
      {"task", "name", "FLOPs", "bytes", "FLOP/byte", "certified"}};
  for (const Task* task : tasks) {
    const TaskAt at = options.size.at(*task);
    const auto graph = build_graph(at);
    const double flops = graph->flops(), bytes = graph->least_bytes();
    const double intensity = bytes > 0 ? flops / bytes : 0;
    const std::string certified(certification(at));
    if (options.json) {
      document.push_back({{"task", to_string(task->id)},
                          {"level", task->id.level},
                          {"number", task->id.number},
                          {"name", task->name},
                          {"family", task->family},
                          {"preset", name_of(preset)},
                          {"dtype", name_of(at.dtype)},
                          {"variables", variables_json<nlohmann::ordered_json>(graph->variables())},
                          {"flops", flops},
                          {"least_bytes", bytes},
                          {"intensity", intensity},
                          {"certified", certified},
                          {"algebra", algebra_mark(at)}});
    } else {
      rows.push_back({to_string(task->id), task->name, format_flops(flops), format_bytes(bytes),
                      format_intensity(intensity), certified});
    }
  }
  std::string text = options.json ? json_text(document, 2) + "\n" : format_table(rows);
  if (!options.json) {
    text += "\n" + std::to_string(tasks.size()) + (tasks.size() == 1 ? " task" : " tasks") +
            " at preset " + preset_in_words(name_of(preset), options.size.dtype());
    const char* separator = " with ";
    for (const auto& [name, value] : overrides) {
      text += separator + name + "=" + to_string(value);
      separator = ", ";
    }
    text += "\n";
  }
  say(text);
  return kDone;
}

}  // namespace

Verb add_list(Command program) {
  auto options = std::make_shared<ListOptions>();
  const Command app =
      program.add_verb("list", "The tasks: names, FLOPs, bytes",
                       "Lists the tasks with what they cost at a preset: floating-point operations "
                       "(a multiply-add is two), the least bytes that have to be moved (inputs, "
                       "parameters, constants and outputs once), and the ratio of the two. A name "
                       "that several tasks have in part lists all of them.",
                       "  kbench list\n"
                       "  kbench list --task gemm\n"
                       "  kbench list --level 2 --preset smoke\n"
                       "  kbench list --task 1/1-30 --json");
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/false, "v0.1");
  app.in_group("Output").add_flag("--json", options->json, "A JSON list on standard output");
  return {app, [options] { return run_list(*options); }};
}

}  // namespace kbench::program
