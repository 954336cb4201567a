// What a shader's uniform blocks hold.
#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

void check_place(const Sourced& place) {
  if (!place.text.empty() && place.text.size() <= limits::kNameBytes) return;
  fail_parse(place.at, quoted(place.text) +
                           " cannot be where a uniform block goes; use a binding (3), a set and a "
                           "binding (1.3), a register (b0) or a name in the shader");
}

}  // namespace

/// A value or a list of them.
UniformField CandidateParser::uniform_field(const YAML::Node& node, const std::string& name,
                                            const Location& at) {
  const std::string what = name.empty() ? "a value" : "a value of " + quoted(name);
  const auto nodes = yaml_.list_or_one(node);
  check_count(yaml_.at(node), what, nodes.size(), limits::kUniformValues);
  UniformField field{name, {}, at};
  for (const YAML::Node& each : nodes) {
    if (each.IsMap() && each["address"].IsDefined()) {
      fail_parse(yaml_.at(each), what + " is no address: push it, as in push: [{address: x}]");
    }
    field.values.push_back(yaml_.text(each, what));
  }
  return field;
}

std::vector<UniformBlock> CandidateParser::uniforms(const YamlEntry& entry) {
  std::vector<UniformBlock> blocks;
  const auto entries = yaml_.entries(entry.value, "uniforms");
  check_count(entry.at, "uniform blocks of a step", entries.size(), limits::kUniforms);
  for (const YamlEntry& each : entries) {
    UniformBlock block;
    block.place = {each.key, each.at};
    check_place(block.place);
    if (each.value.IsMap()) {
      const auto fields = yaml_.entries(each.value, "a uniform block");
      check_count(each.at, "members of a uniform block", fields.size(), limits::kUniformValues);
      for (const YamlEntry& field : fields) {
        if (field.key.empty()) fail_parse(field.at, "a member of a uniform block without a name");
        block.fields.push_back(uniform_field(field.value, field.key, field.at));
      }
    } else {
      const auto items = yaml_.list(each.value, "a uniform block");
      check_count(each.at, "values of a uniform block", items.size(), limits::kUniformValues);
      for (const YAML::Node& item : items) {
        block.fields.push_back(uniform_field(item, "", yaml_.at(item)));
      }
    }
    size_t values = 0;
    for (const UniformField& field : block.fields) values += field.values.size();
    check_count(each.at, "values of a uniform block", values, limits::kUniformValues);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

ResolvedNumber CandidateResolver::number(const Sourced& expression,
                                         const SymbolTable& scope) const {
  ResolvedNumber number;
  number.given = expression;
  number.real = scope.real(expression);
  if (!scope.is_real(expression)) number.integer = scope.integer(expression);
  return number;
}

std::vector<ResolvedUniform> CandidateResolver::uniforms(const Step& step,
                                                         const SymbolTable& scope) const {
  std::vector<ResolvedUniform> blocks;
  for (const UniformBlock& given : step.uniforms) {
    ResolvedUniform block;
    block.place = given.place;
    for (const UniformField& field : given.fields) {
      block.fields.push_back({field.name, field.at, {}});
      for (const Sourced& value : field.values) {
        block.fields.back().values.push_back(number(value, scope));
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace kbench
