#include "harness/evaluate/prompts/values.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "harness/measure/vulkan/compiler.h"
#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "kbench/listing.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench::prompts {
namespace {

using nlohmann::json;

std::string three(const std::array<int64_t, 3>& numbers) {
  return std::to_string(numbers[0]) + ", " + std::to_string(numbers[1]) + ", " +
         std::to_string(numbers[2]);
}

/// "1.5", "23.4", "4790": three significant digits.
std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
  return text;
}

json limits_values(const DeviceLimits& limits) {
  std::string has, lacks;
  const std::pair<const char*, bool> features[] = {
      {"float16 arithmetic", limits.float16},
      {"float64", limits.float64},
      {"16-bit storage", limits.storage_16bit},
      {"subgroup arithmetic", limits.subgroup_arithmetic},
      {"subgroup shuffles", limits.subgroup_shuffle},
      {"cooperative matrices", limits.cooperative_matrix},
      {"atomic adds to float32", limits.float_atomics}};
  for (const auto& [name, there] : features) {
    std::string& list = there ? has : lacks;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  std::string subgroup = std::to_string(limits.subgroup_size);
  if (limits.min_subgroup_size < limits.max_subgroup_size) {
    subgroup += " (" + std::to_string(limits.min_subgroup_size) + " to " +
                std::to_string(limits.max_subgroup_size) + ")";
  }
  return {{"group_size", three(limits.group_size)},
          {"invocations", std::to_string(limits.invocations)},
          {"shared_bytes", std::to_string(limits.shared_bytes)},
          {"group_count", three(limits.group_count)},
          {"binding_range", std::to_string(limits.binding_range)},
          {"subgroup", subgroup},
          {"features", has.empty() ? "none of the optional features" : has},
          {"missing", lacks}};
}

json device_values(const PromptContext& context) {
  if (!context.device) return false;
  const DeviceSummary& device = *context.device;
  const bool cpu = device.type == "cpu";
  if (cpu && entry_of(context.language).cuda) return false;  // such kernels do not run there
  json values = {
      {"name", device.name}, {"type", device.type},
      {"cpu", cpu},          {"memory", rounded(double(device.memory_bytes) / (1 << 30)) + " GiB"},
      {"limits", false},     {"bandwidth", ""},
      {"flops", ""}};
  if (device.limits) values["limits"] = limits_values(*device.limits);
  if (context.roof_gbytes_per_s > 0) values["bandwidth"] = rounded(context.roof_gbytes_per_s);
  if (context.roof_tflops > 0) values["flops"] = rounded(context.roof_tflops);
  return values;
}

/// The shaders of the task's operators, those with the most work first.
json reference_values(const Graph& graph, const ShaderTable& shaders, size_t budget) {
  std::map<std::string, double> work;
  for (const auto& node : graph.nodes()) {
    const Operator& op = *node.call.op;
    work[op.name] += op.flops ? op.flops(node.call) : 0;
  }
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [name, flops] : work) ranked.emplace_back(-flops, name);
  std::sort(ranked.begin(), ranked.end());
  json list = json::array();
  std::set<std::string> put;
  for (const auto& [flops, name] : ranked) {
    const auto found = shaders.find(name);
    if (found == shaders.end()) continue;
    for (const std::string& file : found->second) {
      const auto text = vulkan::embedded_include(file, "");
      if (!text || text->second.size() > budget || !put.insert(file).second) continue;
      budget -= text->second.size();
      list.push_back({{"file", file}, {"text", text->second}});
    }
  }
  return list;
}

}  // namespace

const std::set<std::string>& known_values() {
  static const std::set<std::string> known = {"limits.manifest_bytes",
                                              "limits.file_bytes",
                                              "limits.files",
                                              "limits.bind",
                                              "limits.push_bytes",
                                              "dtype.name",
                                              "dtype.long",
                                              "dtype.half",
                                              "dtype.f16",
                                              "dtype.bf16",
                                              "builtins.forbid",
                                              "builtins.some",
                                              "builtins.any",
                                              "limits.parameter_bytes",
                                              "language.glsl",
                                              "language.hlsl",
                                              "language.cuda",
                                              "language.triton",
                                              "language.torch",
                                              "language.shaders",
                                              "language.kernels",
                                              "language.name",
                                              "language.fence",
                                              "language.file",
                                              "examples",
                                              "examples.task",
                                              "examples.name",
                                              "examples.listing",
                                              "examples.answer",
                                              "device",
                                              "device.name",
                                              "device.type",
                                              "device.cpu",
                                              "device.memory",
                                              "device.limits",
                                              "device.limits.group_size",
                                              "device.limits.invocations",
                                              "device.limits.shared_bytes",
                                              "device.limits.group_count",
                                              "device.limits.binding_range",
                                              "device.limits.subgroup",
                                              "device.limits.features",
                                              "device.limits.missing",
                                              "device.bandwidth",
                                              "device.flops",
                                              "task.id",
                                              "task.name",
                                              "task.preset",
                                              "task.listing",
                                              "task.tolerance",
                                              "task.constructor",
                                              "precision",
                                              "code",
                                              "reference",
                                              "reference.file",
                                              "reference.text",
                                              "attempt.feedback",
                                              "attempt.hint",
                                              "attempt.answer",
                                              "attempt.files"};
  return known;
}

nlohmann::json language_values(PromptLanguage language) {
  const LanguageEntry& entry = entry_of(language);
  json values = {{"shaders", entry.form == AnswerForm::kernels && !entry.cuda},
                 {"kernels", entry.form == AnswerForm::kernels && entry.cuda},
                 {"name", entry.title},
                 {"fence", entry.fence},
                 {"file", entry.file}};
  for (int i = 0; i <= static_cast<int>(kLastPromptLanguage); ++i) {
    const auto each = static_cast<PromptLanguage>(i);
    values[std::string(entry_of(each).name)] = each == language;
  }
  return values;
}

nlohmann::json first_values(const Task& task, const PromptContext& context,
                            const std::vector<const Example*>& examples, const ShaderTable& shaders,
                            size_t reference_budget) {
  const auto graph = build_graph(context.at(task.id));
  json values;
  values["limits"] = {{"manifest_bytes", std::to_string(limits::kManifestBytes)},
                      {"file_bytes", std::to_string(limits::kFileBytes)},
                      {"files", std::to_string(limits::kFiles)},
                      {"bind", std::to_string(limits::kBind)},
                      {"push_bytes", std::to_string(limits::kPushBytes)},
                      {"parameter_bytes", std::to_string(limits::kParameterBytes)}};
  values["language"] = language_values(context.language);
  const DType dtype = context.dtype;
  values["dtype"] = {{"name", std::string(name_of(dtype))},
                     {"long", std::string(long_name_of(dtype))},
                     {"half", is_half(dtype)},
                     {"f16", dtype == DType::f16},
                     {"bf16", dtype == DType::bf16}};
  values["builtins"] = {{"forbid", context.builtins == Builtins::forbid},
                        {"some", context.builtins == Builtins::some},
                        {"any", context.builtins == Builtins::any}};
  values["examples"] = json::array();
  for (const Example* example : examples) {
    const Task& other = find_task(example->candidate.task);
    values["examples"].push_back(
        {{"task", to_string(other.id)},
         {"name", other.name},
         {"listing",
          folded_listing(other, *build_graph(task_at(other.id, context.preset, {}, dtype)))},
         {"answer", canonical_answer(example->files)}});
  }
  values["device"] = device_values(context);
  values["task"] = {{"id", to_string(task.id)},
                    {"name", task.name},
                    {"preset", std::string(name_of(context.preset))},
                    {"listing", folded_listing(task, *graph)},
                    {"tolerance", digits_text(bounds_of(task, dtype).relative, 6)},
                    {"constructor", init_inputs_text(task.id, graph->variables())}};
  values["precision"] = context.precision;
  const bool model = answer_form_of(context.language) == AnswerForm::model;
  values["code"] = context.code || model ? pytorch_code(task, *graph) : "";
  values["reference"] =
      context.reference ? reference_values(*graph, shaders, reference_budget) : json::array();
  return values;
}

}  // namespace kbench::prompts

namespace kbench {
namespace prompts {

const LanguageEntry& entry_of(PromptLanguage language) {
  using enum AnswerForm;
  static constexpr LanguageEntry kLanguages[] = {
      {.name = "glsl", .title = "GLSL", .fence = "glsl", .file = "NAME.comp"},
      {.name = "hlsl", .title = "HLSL", .fence = "hlsl", .file = "NAME.hlsl"},
      {.name = "cuda", .title = "CUDA C++", .fence = "cuda", .file = "NAME.cu", .cuda = true},
      {.name = "triton", .title = "Triton", .fence = "python", .file = "NAME.py", .cuda = true},
      {.name = "torch",
       .title = "PyTorch",
       .fence = "python",
       .file = "model_new.py",
       .form = model},
  };
  static_assert(std::size(kLanguages) == static_cast<size_t>(kLastPromptLanguage) + 1,
                "one entry for each language");
  return kLanguages[static_cast<size_t>(language)];
}

}  // namespace prompts

std::string_view name_of(PromptLanguage language) { return prompts::entry_of(language).name; }
std::string_view title_of(PromptLanguage language) { return prompts::entry_of(language).title; }
AnswerForm answer_form_of(PromptLanguage language) { return prompts::entry_of(language).form; }

PromptLanguage prompt_language_from_name(std::string_view name) {
  if (const auto language = value_named(name, kLastPromptLanguage)) return *language;
  std::string known;
  for (const std::string& each : names_to(kLastPromptLanguage)) {
    known += (known.empty() ? "" : ", ") + each;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "there is no language '" + shown(name) + "' to ask in: it is one of " + known);
}

}  // namespace kbench
