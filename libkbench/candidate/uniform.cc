// Where a shader's buffers go, and what its uniform blocks hold.
#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

void check_place(const Sourced& place, const std::string& what) {
  if (!place.text.empty() && place.text.size() <= limits::kNameBytes) return;
  fail_parse(place.at, quoted(place.text) + " cannot be where " + what +
                           " goes; use a binding (3), a set and a binding (1.3), a register (t0) "
                           "or a name in the shader");
}

}  // namespace

std::vector<Sourced> CandidateParser::bindings(const YAML::Node& node) {
  std::vector<Sourced> places =
      texts(node, yaml_.list(node, "bindings"), "where a buffer goes", limits::kBind);
  for (const Sourced& place : places) check_place(place, "a buffer");
  return places;
}

/// An expression, or {address: x, offset: 0}.
UniformValue CandidateParser::uniform_value(const YAML::Node& node, const std::string& what) {
  if (!node.IsMap()) return {yaml_.text(node, what)};
  const auto fields = yaml_.fields(node, what, {"address", "offset"}, {"address"});
  UniformValue value{yaml_.text(fields, "address"), true};
  value.offset = yaml_.text_if_any(fields, "offset");
  return value;
}

/// A value or a list of them.
UniformField CandidateParser::uniform_field(const YAML::Node& node, const std::string& name,
                                            const Location& at) {
  const std::string what = name.empty() ? "a value" : "a value of " + quoted(name);
  const auto nodes = yaml_.list_or_one(node);
  check_count(yaml_.at(node), what, nodes.size(), limits::kUniformValues);
  UniformField field{name, {}, at};
  for (const YAML::Node& each : nodes) field.values.push_back(uniform_value(each, what));
  return field;
}

std::vector<UniformBlock> CandidateParser::uniforms(const YamlEntry& entry) {
  std::vector<UniformBlock> blocks;
  const auto entries = yaml_.entries(entry.value, "uniforms");
  check_count(entry.at, "uniform blocks of a step", entries.size(), limits::kUniforms);
  for (const YamlEntry& each : entries) {
    UniformBlock block;
    block.place = {each.key, each.at};
    check_place(block.place, "a uniform block");
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

ResolvedNumber CandidateResolver::uniform_number(const UniformValue& value,
                                                 const SymbolTable& scope, Phase phase) {
  if (!value.address) return number(value.value, scope);
  ResolvedNumber address;
  address.given = value.value;
  address.buffer = buffer(value.value, phase);
  const PushItem item{PushItem::Kind::address, value.value, value.offset};
  address.integer = static_cast<int64_t>(address_offset(item, address.buffer, scope));
  touch(address.buffer, phase);
  return address;
}

std::vector<ResolvedUniform> CandidateResolver::uniforms(const Step& step, const SymbolTable& scope,
                                                         Phase phase) {
  std::vector<ResolvedUniform> blocks;
  for (const UniformBlock& given : step.uniforms) {
    ResolvedUniform block;
    block.place = given.place;
    for (const UniformField& field : given.fields) {
      block.fields.push_back({field.name, field.at, {}});
      for (const UniformValue& value : field.values) {
        block.fields.back().values.push_back(uniform_number(value, scope, phase));
      }
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace kbench
