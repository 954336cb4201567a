// A candidate's steps: launches of its kernels, and built-in operators.
#include <algorithm>
#include <optional>

#include "kbench/candidate_limits.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"

namespace kbench {
namespace {

constexpr const char* kQuoteCommas =
    "; a comma divides a list, so quote what has one: [\"ceil_div(N, TILE)\", 1]";

/// Whether YAML has split the list at a comma inside parentheses: "[ceil_div(N, TILE), 1]".
bool divided_by_commas(const std::vector<YAML::Node>& items) {
  return std::ranges::any_of(items, [](const YAML::Node& item) {
    return item.IsScalar() &&
           std::ranges::count(item.Scalar(), '(') != std::ranges::count(item.Scalar(), ')');
  });
}

}  // namespace

std::vector<Step> CandidateParser::steps(const YamlEntry& entry) {
  std::vector<Step> result;
  const auto nodes = yaml_.list(entry.value, entry.key);
  check_count(entry.at, "steps of setup and dispatch", candidate_.setup.size() + nodes.size(),
              limits::kSteps);
  for (const auto& node : nodes) errors_.keep([&] { add_steps(node, {}, result); });
  return result;
}

Step CandidateParser::step(const YAML::Node& node) {
  const auto entries = yaml_.entries(node, "a step");
  const auto has = [&](const char* key) {
    return std::ranges::any_of(entries, [&](const YamlEntry& entry) { return entry.key == key; });
  };
  if (!has("op") && (of_task_ || !has("kernel"))) {
    for (const YamlEntry& entry : entries) {
      if (!of_task_) yaml_.refuse_gone(entry);
    }
    fail_parse(yaml_.at(node),
               of_task_
                   ? "a task's step needs 'op', an operator, or 'steps' beside 'repeat'"
                   : "a step needs 'kernel' (one of yours), 'op' (a built-in operator), or 'steps' "
                     "beside 'repeat'");
  }
  Step result = has("kernel") ? kernel_step(node) : operator_step(node);
  result.at = yaml_.at(node);
  return result;
}

Step CandidateParser::kernel_step(const YAML::Node& node) {
  const auto fields = yaml_.fields(
      node, "a kernel step",
      {"kernel", "bind", "uniforms", "push", "groups", "grid", "block", "shared", "args", "repeat"},
      {"kernel"}, errors_);
  Step step;
  const Sourced name = yaml_.text(fields, "kernel");
  const auto language = kernel_languages_.find(name.text);
  if (language == kernel_languages_.end()) {
    std::vector<std::string> known;
    for (const auto& [kernel, of] : kernel_languages_) known.push_back(kernel);
    fail_parse(name.at, "there is no kernel " + quoted(name.text) +
                            suggestion(name.text.substr(0, 60), known) +
                            " (kernels: " + (known.empty() ? "none" : joined(known)) + ")");
  }
  step.kernel = name.text;
  if (!language->second) return step;  // what is wrong with the kernel is told already
  if (const auto* bind = fields.find("bind")) {
    const auto items = yaml_.list(bind->value, "bind");
    check_count(yaml_.at(bind->value), "a buffer's name", items.size(), limits::kBind);
    for (const auto& item : items) step.bind.push_back(yaml_.text(item, "a buffer's name"));
  }
  if (is_cuda(*language->second)) {
    cuda_launch(fields, *language->second, step);
  } else {
    shader_launch(fields, *language->second, step);
  }
  return step;
}

void CandidateParser::shader_launch(const YamlFields& fields, Kernel::Language language,
                                    Step& step) {
  for (const char* key : {"grid", "block", "shared", "args"}) {
    if (const auto* item = fields.find(key)) {
      fail_parse(item->at, "'" + item->key + "' belongs to CUDA, PTX and Triton kernels, and '" +
                               step.kernel + "' is " + name_of(language) +
                               ": use 'groups', 'bind' and 'push'");
    }
  }
  if (const auto* item = fields.find("uniforms")) step.uniforms = uniforms(*item);
  if (const auto* push = fields.find("push")) {
    const auto items = yaml_.list(push->value, "push");
    check_count(yaml_.at(push->value), "push constants", items.size(), limits::kPush);
    for (const auto& item : items) step.push.push_back(push_item(item));
  }
  const auto* groups = fields.find("groups");
  if (!groups) fail_parse(fields.at(), "missing key 'groups' in a kernel step");
  step.groups = extent3(*groups, "a number of workgroups");
}

/// Parameters are those of `bind`, in order, then those of `args`.
void CandidateParser::cuda_launch(const YamlFields& fields, Kernel::Language language, Step& step) {
  for (const char* key : {"groups", "push", "uniforms"}) {
    if (const auto* item = fields.find(key)) {
      fail_parse(item->at, "'" + item->key + "' belongs to shaders; a " + name_of(language) +
                               " kernel takes " +
                               (item->key != "groups" ? "'args'" : "'grid' and 'block'"));
    }
  }
  const auto require = [&](const char* key) -> const YamlEntry& {
    const YamlEntry* entry = fields.find(key);
    if (!entry) {
      fail_parse(fields.at(), "missing key '" + std::string(key) + "' in a step of a " +
                                  name_of(language) + " kernel");
    }
    return *entry;
  };
  step.groups = extent3(require("grid"), "a number of blocks");
  if (language != Kernel::Language::triton) {
    step.block = extent3(require("block"), "a number of threads");
    step.shared = yaml_.text_if_any(fields, "shared");
  } else {
    for (const char* key : {"block", "shared"}) {
      if (const auto* item = fields.find(key)) {
        fail_parse(item->at, "'" + item->key + "' of a Triton kernel follows from num_warps and " +
                                 "the kernel itself");
      }
    }
  }
  if (const auto* args = fields.find("args")) {
    const auto items = yaml_.list(args->value, "args");
    check_count(yaml_.at(args->value), "parameters", step.bind.size() + items.size(),
                limits::kParameters);
    for (const auto& item : items) step.push.push_back(argument(item));
  }
}

/// 1 to 3 expressions.
std::vector<Sourced> CandidateParser::extent3(const YamlEntry& entry, const std::string& what) {
  const auto counts = yaml_.list_or_one(entry.value);
  if (counts.empty() || counts.size() > 3) {
    fail_parse(yaml_.at(entry.value), entry.key + ": expected 1 to 3 expressions, found " +
                                          std::to_string(counts.size()) +
                                          (divided_by_commas(counts) ? kQuoteCommas : ""));
  }
  return texts(entry.value, counts, what, 3);
}

PushItem CandidateParser::push_item(const YAML::Node& node) {
  static const std::vector<std::string> kinds = names_to(PushItem::Kind::address);
  yaml_.fields(node, "a push constant", kinds);
  const auto entries = yaml_.entries(node, "a push constant");
  if (entries.size() != 1) {
    fail_parse(yaml_.at(node),
               "a push constant is one of " + joined(kinds) + ", as in {u32: height}");
  }
  const auto kind = value_named(entries[0].key, PushItem::Kind::address).value();
  return {kind, yaml_.text(entries[0].value, entries[0].key)};
}

/// A buffer's name is a pointer to its first element.
PushItem CandidateParser::argument(const YAML::Node& node) {
  using Kind = PushItem::Kind;
  if (!node.IsMap()) return {Kind::address, yaml_.text(node, "a parameter")};
  std::vector<std::string> names;
  for (const Kind kind :
       {Kind::i32, Kind::u32, Kind::i64, Kind::u64, Kind::f32, Kind::f64, Kind::boolean}) {
    names.emplace_back(name_of(kind));
  }
  yaml_.fields(node, "a parameter", names);
  const auto entries = yaml_.entries(node, "a parameter");
  if (entries.size() != 1) {
    fail_parse(yaml_.at(node), "a parameter is a buffer's name or one of " + joined(names) +
                                   ", as in {i32: height}");
  }
  const auto kind = value_named(entries[0].key, Kind::boolean).value();
  return {kind, yaml_.text(entries[0].value, entries[0].key)};
}

Step CandidateParser::operator_step(const YAML::Node& node) {
  const auto fields =
      yaml_.fields(node, "an operator step", {"op", "in", "out", "attributes", "repeat"},
                   {"op", "in", "out"}, errors_);
  Step step;
  step.kind = Step::Kind::op;
  const Sourced name = yaml_.text(fields, "op");
  try {
    if (find_operator(name.text).is_view && !of_task_) {
      fail_parse(name.at,
                 "operator '" + name.text +
                     "' only changes a shape; write {name: ..., shape: [...]} where it is used");
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    fail_parse(name.at, error.message());
  }
  step.op = name.text;
  const auto operands = [&](const char* key) {
    const YAML::Node& node = fields.find(key)->value;
    const auto items = yaml_.list_or_one(node);
    check_count(yaml_.at(node), key, items.size(), limits::kBind);
    std::vector<Operand> result;
    for (const auto& item : items) add_operands(item, key, result);
    return result;
  };
  step.in = operands("in");
  step.out = operands("out");
  if (const auto* attributes = fields.find("attributes")) {
    const auto entries = yaml_.entries(attributes->value, "attributes");
    check_count(attributes->at, "attributes", entries.size(), limits::kAttributes);
    for (const auto& entry : entries) {
      const std::string what = "attribute " + quoted(entry.key);
      step.attributes.push_back(
          {entry.key, texts(entry.value, yaml_.list_or_one(entry.value), what, limits::kRank),
           entry.value.IsSequence(), entry.at});
    }
  }
  return step;
}

/// One; of a task's file, those that repeat together.
void CandidateParser::add_operands(const YAML::Node& node, const std::string& what,
                                   std::vector<Operand>& operands) {
  if (!node.IsMap()) {
    operands.push_back({yaml_.text(node, what), std::nullopt});
    return;
  }
  if (!of_task_) {
    const auto fields = yaml_.fields(node, "'" + what + "'", {"name", "shape"}, {"name", "shape"});
    operands.push_back({yaml_.text(fields, "name"), extents(fields)});
    return;
  }
  const auto fields = yaml_.fields(node, "'" + what + "'", {"name", "names", "repeat"}, {"repeat"});
  const auto *one = fields.find("name"), *several = fields.find("names");
  if ((one == nullptr) == (several == nullptr)) {
    fail_parse(yaml_.at(node), "operands that repeat have either 'name' or 'names'");
  }
  const std::vector<Repeat> repeats = task_repeats(*fields.find("repeat"));
  if (one != nullptr) {
    operands.push_back({yaml_.text(one->value, "name"), std::nullopt, repeats});
    return;
  }
  const auto names = yaml_.list(several->value, "names");
  if (names.empty()) fail_parse(several->at, "there is no name to repeat");
  check_count(several->at, "names", names.size(), limits::kBind);
  for (const auto& name : names) {
    operands.push_back({yaml_.text(name, "a name"), std::nullopt, repeats});
  }
}

std::vector<Step> CandidateParser::task_steps(const YAML::Node& node) {
  of_task_ = true;
  std::vector<Step> result;
  for (const YAML::Node& each : yaml_.list(node, "operators")) {
    errors_.keep([&] { add_steps(each, {}, result); });
  }
  return result;
}

std::vector<Repeat> CandidateParser::task_repeats(const YamlEntry& entry) {
  std::vector<Repeat> repeats;
  add_repeats(entry, repeats);
  return repeats;
}

}  // namespace kbench
