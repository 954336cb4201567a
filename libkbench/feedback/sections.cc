// The sections of feedback, and which verdict has which.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

using Text = std::string;
std::string count(size_t n) { return std::to_string(n); }

/// A message without quoted names and numbers: equal for messages of one kind.
std::string kind_of(const Diagnostic& diagnostic) {
  std::string kind = diagnostic.severity;
  bool quoted = false;
  for (const char c : diagnostic.message) {
    if (c == '\'') quoted = !quoted;
    if (quoted || std::isdigit(static_cast<unsigned char>(c))) continue;
    kind += c;
  }
  return kind;
}

/// The name of the candidate's compiler; "compiler" where it has several.
Text compiler_of(const Facts& facts) {
  if (facts.module()) return "PyTorch";
  std::set<Text> names;
  if (facts.candidate) {
    for (const Kernel& kernel : facts.candidate->kernels) {
      using Language = Kernel::Language;
      names.insert(kernel.language == Language::cuda     ? "NVRTC"
                   : kernel.language == Language::ptx    ? "nvJitLink"
                   : kernel.language == Language::triton ? "Triton"
                                                         : "compiler");
    }
  }
  return names.size() == 1 ? *names.begin() : "compiler";
}

/// The line of a ModelNew that the message is about.
Text module_line(const Facts& facts) {
  const TorchModule* module = facts.module();
  if (!module) return "";
  const int number = line_in(facts.result.message);
  const std::string line = source_line(facts, module->file, number);
  if (line.empty()) return "";
  return "Line " + std::to_string(number) + " of its file:\n    | " + line + "\n";
}

/// The first diagnostic of each kind, errors before warnings, with the line it is about.
Text diagnostics(const Facts& facts) {
  constexpr size_t kMost = 10, kBytes = 240;
  std::vector<const Diagnostic*> chosen;
  for (const bool errors : {true, false}) {
    std::set<std::string> kinds;
    for (const Diagnostic& each : facts.result.diagnostics) {
      if ((each.severity == "error") != errors || chosen.size() >= kMost) continue;
      if (kinds.insert(kind_of(each)).second) chosen.push_back(&each);
    }
  }
  if (chosen.empty()) return "";
  Text text = "Diagnostics (quoted from " + compiler_of(facts) + " and candidate):\n";
  for (const Diagnostic* each : chosen) {
    text += "- " + shown(at(Location{each->file, each->line, each->column}), 120) +
            (each->severity.empty() ? "" : each->severity + ": ") + shown(each->message, kBytes) +
            "\n";
    const std::string line = source_line(facts, each->file, each->line);
    if (line.empty()) continue;
    text += "    | " + line + "\n";
    const std::string macros = macros_in(facts, line);
    if (!macros.empty()) text += "    where " + macros + "\n";
  }
  if (facts.result.diagnostics.size() > chosen.size()) {
    text += "  (" + count(facts.result.diagnostics.size() - chosen.size()) + " more left out)\n";
  }
  return text;
}

/// Warnings about the candidate's text and shaders, and notes on sizes it is tied to.
Text warnings(const Facts& facts) {
  constexpr size_t kMost = 5, kBytes = 300;
  Text text;
  size_t told = 0;
  for (const Diagnostic& each : facts.result.diagnostics) {
    const bool of_all = each.severity == "note" && each.file.empty();
    if ((each.severity != "warning" && !of_all) || ++told > kMost) continue;
    text += "- " + shown(at(Location{each.file, each.line, each.column}), 120) +
            shown(each.message, kBytes) + "\n";
  }
  return text.empty() ? ""
                      : "Warnings (quoted from " + compiler_of(facts) + " and kbench):\n" + text;
}

/// Whether it is right at other sizes of its task, and what it says that it is made for.
Text general(const Facts& facts) {
  Text text;
  if (facts.result.holds_at) {
    text = "Right at " + std::to_string(facts.result.holds_at->right) + " of " +
           std::to_string(facts.result.holds_at->tried) + " other sizes of the task";
    if (const auto& wrong = facts.result.holds_at->first_wrong) {
      constexpr size_t kBytes = 300;
      text += "; at " + sizes_text(wrong->sizes) + " it is " +
              std::string(name_of(wrong->verdict)) +
              (wrong->message.empty() ? "" : ": " + shown(wrong->message, kBytes));
    }
    text += ".\n";
  }
  if (!facts.result.made_for.empty()) {
    text += "It says that it is made for sizes with " +
            shown(listed(facts.result.made_for, std::identity()), 300) + ".\n";
  }
  return text;
}

Text matches(const Facts& facts) {
  const Evidence& evidence = facts.evidence;
  if (evidence.matches.empty()) return "";
  if (evidence.matches.size() == 1) {
    return "The output is exactly that of the task with one change: " + shown(evidence.matches[0]) +
           ".\n";
  }
  Text text = "The output is exactly that of the task with one change; each of these fits:\n";
  for (const std::string& each : evidence.matches) text += "- " + shown(each) + "\n";
  return text;
}

Text pattern(const Facts& facts) {
  const Evidence& evidence = facts.evidence;
  Text text;
  if (evidence.right_alone) {
    text +=
        "On the values that it failed on it was right when it ran once more, by itself: as in a "
        "race, or where something is kept from an earlier run, or read that was not written. What "
        "is shown is of other values.\n";
  }
  if (evidence.right_when_small) {
    text +=
        "At the sizes of preset smoke it computes what it should: look at what depends on size.\n";
  }
  if (!evidence.not_tried.empty()) {
    text += "Sizes that could not be looked at:\n";
    for (const std::string& each : evidence.not_tried) text += "- " + shown(each, 200) + "\n";
  }
  if (evidence.pattern.empty()) return text;
  const std::string sizes = sizes_text(evidence.seen_at);
  return text + "Pattern of the errors" + (sizes.empty() ? "" : " (" + sizes + ")") + ": " +
         shown(evidence.pattern, 600) + ".\n";
}

Text values_of(const FailingCase::Array& array) {
  Text text = "  " + shown(array.name, 80) + " " + to_string(array.shape);
  if (array.values.empty()) {
    return text + ": " + std::to_string(element_count(array.shape)) + " values, not shown\n";
  }
  text += " =";
  for (const double value : array.values) text += " " + short_number(value);
  return text + "\n";
}

Text case_text(const std::string& which, const FailingCase& found) {
  Text text = which + " (" + std::string(name_of(found.verdict)) + ") at " +
              sizes_text(found.overrides) + ", row-major:\n";
  for (const FailingCase::Array& array : found.arrays) text += values_of(array);
  constexpr size_t kMost = 8;
  const bool all_shown =
      std::all_of(found.arrays.begin(), found.arrays.end(),
                  [](const FailingCase::Array& array) { return !array.values.empty(); });
  if (all_shown) return text;
  for (size_t i = 0; i < std::min(kMost, found.wrong.size()); ++i) {
    const WrongElement& wrong = found.wrong[i];
    text += "  at " + to_string(wrong.index) + ": got " + short_number(wrong.got) + ", expected " +
            short_number(wrong.expected) + "\n";
  }
  return text;
}

Text cases(const Facts& facts) {
  const auto &failed = facts.evidence.failed, &smallest = facts.evidence.smallest;
  Text text = failed ? case_text("The case that failed", *failed) : "";
  if (!smallest || (failed && failed->overrides == smallest->overrides)) return text;
  return text + case_text("A small case that fails", *smallest);
}

/// Each kernel step's groups times local size, and the elements of its buffers.
Text launches(const Facts& facts) {
  if (!facts.resolved) return "";
  constexpr size_t kMost = 6;
  const ResolvedCandidate& candidate = *facts.resolved;
  Text text;
  size_t listed = 0;
  std::set<size_t> steps;  // a repeated one is listed once
  for (size_t i = 0; i < candidate.dispatch.size() && listed < kMost; ++i) {
    const ResolvedStep& step = candidate.dispatch[i];
    if (step.kernel < 0 || !steps.insert(step.step).second) continue;
    ++listed;
    const ResolvedKernel& kernel = candidate.kernels[static_cast<size_t>(step.kernel)];
    const auto triple = [](const auto& list) {
      return std::to_string(list[0]) + " x " + std::to_string(list[1]) + " x " +
             std::to_string(list[2]);
    };
    text += "- step " + count(step.step + 1) + ", kernel " + shown(kernel.kernel->name, 60) + ": " +
            triple(step.groups) + " groups";
    const auto local = workgroup_of(step, kernel);
    if (const auto invocations = invocations_of(step, local)) {
      text += " of " + triple(*local) + " = " + short_number(*invocations) + " invocations";
    }
    text += "; works on:";
    std::vector<int> buffers = step.bind;
    for (const auto& [offset, buffer] : step.addresses) buffers.push_back(buffer);
    for (const int buffer : buffers) {
      const BufferSlot& slot = candidate.buffers[static_cast<size_t>(buffer)];
      text += " " + shown(slot.name, 60) + " (" + std::to_string(slot.type.elements()) + ")";
    }
    text += "\n";
  }
  if (text.empty()) return "";
  return "Launches, and the elements of what they work on:\n" + text;
}

/// Operators of the task that can give NaN or infinity.
Text suspects(const Facts& facts) {
  if (!facts.graph) return "";
  const std::set<std::string> able = {
      "exp",        "log",        "sqrt",          "div",
      "div_scalar", "softmax",    "log_softmax",   "logsumexp",
      "norm",       "batch_norm", "layer_norm",    "instance_norm",
      "group_norm", "cumprod",    "cross_entropy", "kl_div_batchmean",
      "softplus",   "mish",       "tanh",          "sigmoid",
      "max",        "min"};
  std::set<std::string> found;
  for (const Graph::Node& node : facts.graph->nodes()) {
    if (able.contains(node.call.op->name)) found.insert(node.call.op->name);
  }
  if (found.empty()) return "";
  Text text = "Operators of the task that can give NaN or infinity when computed carelessly:";
  for (const std::string& name : found) text += " " + name;
  return text + "\n";
}

Text loops(const Facts& facts) {
  if (!facts.candidate) return "";
  constexpr size_t kMost = 5;
  const std::vector<std::string> lines = loop_lines(*facts.candidate, kMost);
  if (lines.empty()) return "";
  Text text = "Loops of the candidate, the least certain to end first:\n";
  for (const std::string& line : lines) text += "- " + line + "\n";
  return text;
}

/// What ModelNew is made with and called with, and the shapes of what it returns.
Text module_interface(const Facts& facts) {
  constexpr size_t kMost = 40;
  const Graph& graph = *facts.graph;
  const auto listed_values = [&](const std::vector<int>& values) {
    Text text;
    size_t put = 0;
    for (const int id : values) {
      if (++put > kMost) return text + " ...";
      text += " " + graph.value(id).name + " " + to_string(graph.value(id).type.shape);
    }
    return text.empty() ? " none" : text;
  };
  Text outputs;
  for (const int id : graph.outputs()) outputs += " " + to_string(graph.value(id).type.shape);
  return "The constructor's arguments: " + init_inputs_text(facts.result.task, graph.variables()) +
         "\nInputs of forward():" + listed_values(graph.values_of(Graph::Kind::input)) +
         "\nParameters:" + listed_values(graph.values_of(Graph::Kind::parameter)) +
         "\nOutputs:" + outputs + "\n";
}

/// Names that a candidate can use.
Text names(const Facts& facts) {
  if (!facts.graph) return "";
  if (facts.module()) return module_interface(facts);
  Text buffers, variables;
  size_t listed = 0;
  constexpr size_t kMost = 40;
  for (const auto kind : {Graph::Kind::input, Graph::Kind::parameter, Graph::Kind::constant}) {
    for (const int id : facts.graph->values_of(kind)) {
      if (++listed > kMost) break;
      const Graph::ValueInfo& value = facts.graph->value(id);
      buffers += " " + value.name + " " + to_string(value.type.shape);
    }
  }
  if (listed > kMost) buffers += " ...";
  for (size_t i = 0; i < facts.graph->outputs().size(); ++i) {
    buffers += " " + facts.graph->output_name(i);
  }
  for (const auto& [name, value] : expression_names(facts.graph->variables())) {
    variables += " " + name;
  }
  return "Buffers of the task:" + buffers + "\nNames for expressions:" + variables + "\n";
}

double roof_ms(const Evidence& evidence, double bytes, double flops) {
  const double by_bytes =
      evidence.roof_gbytes_per_s > 0 ? bytes / evidence.roof_gbytes_per_s * 1e-6 : 0;
  const double by_flops = evidence.roof_tflops > 0 ? flops / evidence.roof_tflops * 1e-9 : 0;
  return std::max(by_bytes, by_flops);
}

Text step_line(const Evidence& evidence, const StepProfile& step) {
  Text text = shown(step.name, 60) + ": " + short_number(step.ms) + " ms, " +
              short_number(std::round(1000 * step.share) / 10) + "%";
  if (step.bytes > 0) {
    text += ", " + bytes_text(step.bytes);
    if (step.ms > 0) text += " = " + short_number(step.bytes / step.ms * 1e-6) + " GB/s";
  }
  if (step.flops > 0) {
    text += ", " + short_number(step.flops * 1e-9) + " GFLOP";
    if (step.ms > 0) text += " = " + short_number(step.flops / step.ms * 1e-9) + " TFLOP/s";
  }
  const double least = roof_ms(evidence, step.bytes, step.flops);
  if (least > 0) text += "; at the roof " + short_number(least) + " ms";
  return text + "\n";
}

/// The `most` slowest steps of a list.
Text slowest(const Evidence& evidence, const std::vector<StepProfile>& steps, size_t most) {
  std::vector<size_t> order(steps.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (steps.size() > most) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return steps[a].ms > steps[b].ms; });
    order.resize(most);
  }
  Text text;
  for (const size_t i : order) text += "- " + count(i + 1) + ". " + step_line(evidence, steps[i]);
  if (steps.size() > most) {
    double rest = 0;
    for (const StepProfile& step : steps) rest += step.share;
    for (const size_t i : order) rest -= steps[i].share;
    text += "- " + count(steps.size() - most) +
            " others: " + short_number(std::round(1000 * std::max(rest, 0.0)) / 10) + "%\n";
  }
  return text;
}

Text speed(const Facts& facts) {
  const Result& r = facts.result;
  if (r.verdict != Verdict::passed || r.samples == 0) return "";
  Text text = "Speedup " + short_number(r.speedup.point) + " [" + short_number(r.speedup.low) +
              ", " + short_number(r.speedup.high) + "]: candidate " + short_number(r.candidate_ms) +
              " ms, baseline " + short_number(r.baseline_ms) + " ms";
  text += r.speedup.low > 1    ? "; it is faster than the baseline.\n"
          : r.speedup.high < 1 ? "; it is slower than the baseline.\n"
                               : "; the interval includes 1: no difference is shown.\n";
  if (!facts.graph) return text;
  const double least = roof_ms(facts.evidence, facts.graph->least_bytes(), facts.graph->flops());
  text += "The whole task moves at least " + bytes_text(facts.graph->least_bytes()) + " and does " +
          short_number(facts.graph->flops() * 1e-9) + " GFLOP";
  if (least > 0 && r.candidate_ms > 0) {
    text += ": at the roof " + short_number(least) + " ms, " +
            short_number(100 * least / r.candidate_ms) + "% of what it takes";
  }
  return text + ".\n";
}

Text roof(const Evidence& evidence) {
  if (evidence.roof_gbytes_per_s <= 0) return "";
  return ", roof measured here: " + short_number(evidence.roof_gbytes_per_s) + " GB/s, " +
         short_number(evidence.roof_tflops) + " TFLOP/s";
}

Text steps(const Facts& facts) {
  const Evidence& evidence = facts.evidence;
  if (evidence.steps.empty()) return "";
  constexpr size_t kMost = 10;
  return "Time by step (median, caches cold" + roof(evidence) + "):\n" +
         slowest(evidence, evidence.steps, kMost);
}

Text baseline(const Facts& facts) {
  const Evidence& evidence = facts.evidence;
  if (evidence.baseline.empty()) return "";
  constexpr size_t kMost = 8;
  return "The baseline's time by operator, one kernel each:\n" +
         slowest(evidence, evidence.baseline, kMost);
}

Text hints(const Facts& facts) {
  const Hints hints = hints_for(facts);
  Text text;
  for (const std::string& hint : hints.texts) text += "- " + hint + "\n";
  if (text.empty()) return "";
  return (hints.know_the_cause ? "What was found points to this:\n" : "What mostly helps:\n") +
         text;
}

/// A section of a verdict; sections of the highest rank are dropped first.
struct VerdictSection {
  int rank;
  Text (*make)(const Facts& facts);
};

const std::vector<VerdictSection>& parts_of(Verdict verdict) {
  static const std::vector<VerdictSection> form = {
      {1, diagnostics}, {1, module_line}, {3, names}, {2, hints}};
  static const std::vector<VerdictSection> compiling = {
      {1, diagnostics}, {1, module_line}, {2, hints}};
  static const std::vector<VerdictSection> values = {{1, matches}, {2, pattern},  {2, warnings},
                                                     {3, cases},   {5, launches}, {4, hints}};
  static const std::vector<VerdictSection> unwritten = {{3, matches},  {1, pattern}, {1, warnings},
                                                        {2, launches}, {5, cases},   {4, hints}};
  static const std::vector<VerdictSection> not_finite = {{1, matches},  {2, pattern}, {2, warnings},
                                                         {3, suspects}, {5, cases},   {4, hints}};
  static const std::vector<VerdictSection> bounds = {{1, warnings}, {1, launches}, {2, hints}};
  static const std::vector<VerdictSection> endless = {
      {1, module_line}, {1, loops}, {1, warnings}, {3, launches}, {2, hints}};
  static const std::vector<VerdictSection> limits = {
      {1, diagnostics}, {1, module_line}, {3, launches}, {2, hints}};
  static const std::vector<VerdictSection> passed = {
      {1, speed}, {1, general}, {1, warnings}, {2, steps}, {3, baseline}};
  static const std::vector<VerdictSection> not_general = {{1, general}, {1, warnings}, {2, pattern},
                                                          {3, cases},   {3, launches}, {2, hints}};
  static const std::vector<VerdictSection> others = {{1, hints}};
  switch (verdict) {
    case Verdict::passed:
      return passed;
    case Verdict::invalid_candidate:
      return form;
    case Verdict::compile_error:
      return compiling;
    case Verdict::unsupported:
    case Verdict::out_of_memory:
      return limits;
    case Verdict::timeout:
    case Verdict::crashed:
    case Verdict::device_lost:
    case Verdict::interferes:
      return endless;
    case Verdict::not_written:
    case Verdict::partly_written:
      return unwritten;
    case Verdict::not_finite:
      return not_finite;
    case Verdict::all_zero:
    case Verdict::low_precision:
    case Verdict::wrong_values:
      return values;
    case Verdict::input_modified:
    case Verdict::out_of_bounds:
      return bounds;
    case Verdict::not_general:
      return not_general;
    default:
      return others;
  }
}

}  // namespace

Section verdict_section(const Facts& facts) {
  constexpr size_t kMessageBytes = 1000;
  Text text = "Verdict: " + std::string(name_of(facts.result.verdict)) + ". " +
              std::string(explain(facts.result.verdict)) + "\n";
  if (!facts.result.message.empty()) {
    text += shown(facts.result.message, kMessageBytes) + "\n";
  }
  return {0, text};
}

std::vector<Section> sections_of(const Facts& facts) {
  std::vector<Section> sections;
  for (const VerdictSection& part : parts_of(facts.result.verdict)) {
    Text text = part.make(facts);
    if (!text.empty()) sections.push_back({part.rank, std::move(text)});
  }
  return sections;
}

}  // namespace kbench
