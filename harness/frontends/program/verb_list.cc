#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/certificate.h"
#include "kbench/graph.h"
#include "kbench/task.h"
#include "libkbench/base/json_text.h"
#include "libkbench/core/in_words.h"
#include "libkbench/core/variables_json.h"

namespace kbench::program {
namespace {

struct ListOptions {
  TaskOptions tasks;
  SizeOptions size;
  bool operators = false;
  std::string name;  ///< of tasks, or of an operator; empty: all
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

std::string inputs_of(const Operator& op) {
  if (op.min_inputs == op.max_inputs) return std::to_string(op.min_inputs);
  return std::to_string(op.min_inputs) + " to " + std::to_string(op.max_inputs);
}

/// "axis, keepdim: 0": where nothing stands behind the name, it must be given.
std::string attributes_of(const Operator& op) {
  return listed(op.attributes, [](const AttributeSpec& each) {
    return each.name + (each.required ? "" : ": " + to_string(each.fallback));
  });
}

nlohmann::ordered_json operator_json(const Operator& op) {
  nlohmann::ordered_json attributes = nlohmann::ordered_json::array();
  for (const AttributeSpec& each : op.attributes) {
    attributes.push_back({{"name", each.name}, {"required", each.required}});
    if (!each.required) attributes.back()["default"] = to_string(each.fallback);
  }
  return {{"name", op.name},
          {"shapes", op.shapes},
          {"min_inputs", op.min_inputs},
          {"max_inputs", op.max_inputs},
          {"attributes", std::move(attributes)},
          {"formula", op.formula},
          {"follows", op.follows}};
}

std::string operator_text(const Operator& op) {
  constexpr size_t kColumns = 78;
  std::string text = op.name + "\n";
  const auto add = [&](const char* what, const std::string& value) {
    if (value.empty()) return;
    std::istringstream lines(wrapped(value, kColumns));
    for (std::string line, label = what; std::getline(lines, line); label.clear()) {
      text += "  " + padded(label, 12) + line + "\n";
    }
  };
  add("computes", op.formula);
  add("shapes", op.shapes);
  add("inputs", inputs_of(op));
  add("attributes", attributes_of(op));
  add("in PyTorch", op.follows);
  return text;
}

/// Prints the page of the operator that is named, or the list of all.
int list_operators(const ListOptions& options) {
  std::vector<const Operator*> chosen = operators();
  if (!options.name.empty()) chosen = {&find_operator(options.name)};
  if (options.json) {
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (const Operator* op : chosen) document.push_back(operator_json(*op));
    say(json_text(document, 2) + "\n");
    return kDone;
  }
  if (!options.name.empty()) {
    say(operator_text(*chosen.front()));
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {{"operator", "attributes"}};
  for (const Operator* op : chosen) {
    const auto name = [](const AttributeSpec& each) { return each.name; };
    rows.push_back({op->name, listed(op->attributes, name)});
  }
  std::string text = format_table(rows) + "\n" + counted(chosen.size(), "operator") +
                     "; `kbench list --operators NAME` shows formula and shapes of one\n\n" +
                     "PyTorch's others are written with these:\n";
  for (const WrittenAs& each : written_with_operators()) {
    text += "  " + padded(std::string(each.name), 30) + std::string(each.how) + "\n";
  }
  say(text);
  return kDone;
}

int run_list(ListOptions& options) {
  if (options.operators) return list_operators(options);
  if (!options.name.empty()) options.tasks.selection = options.name;
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
    const auto is_none = [](const auto& row) { return row.back() == kNotCertified; };
    if (std::ranges::any_of(rows, is_none)) {
      text += "none: not certified: a pass proves nothing, nor do wrong values\n";
    }
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
                       "that several tasks have in part lists all of them. With --operators, the "
                       "built-in operators that candidates' and tasks' files are written with.",
                       "  kbench list\n"
                       "  kbench list --operators softmax\n"
                       "  kbench list gemm\n"
                       "  kbench list --level 2 --preset smoke\n"
                       "  kbench list --task 1/1-30 --json");
  options->tasks.add_to(app);
  options->size.add_to(app, /*with_auto=*/false, "v0.1");
  const Option operators = app.in_group("Operators")
                               .add_flag("--operators", options->operators,
                                         "The built-in operators in place of the tasks");
  app.add_option("NAME", options->name,
                 "As --task; with --operators the operator of which all is shown")
      .excludes(app.option("--task"));
  for (const char* other : {"--level", "--task", "--preset", "--set", "--dtype"}) {
    operators.excludes(app.option(other));
  }
  app.in_group("Output").add_flag("--json", options->json, "A JSON list on standard output");
  return {app, [options] { return run_list(*options); }};
}

}  // namespace kbench::program
