// Numbers that steps hand to kernels: a shader's uniform blocks, the launch and arguments of CUDA.
#include <bit>
#include <cstring>

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

constexpr int64_t kMostWarps = 32;
constexpr int64_t kMostStages = 16;

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

// Steps of CUDA, PTX and Triton kernels against a task's sizes: grid, block and parameters.

void CandidateResolver::resolve_triton(const SymbolTable& scope, ResolvedKernel& resolved) {
  const Kernel& kernel = *resolved.kernel;
  resolved.num_warps = 4;
  resolved.num_stages = 3;
  if (kernel.num_warps) {
    const int64_t warps = scope.integer(*kernel.num_warps, 1, kMostWarps, "num_warps");
    if (!std::has_single_bit(static_cast<uint64_t>(warps))) {
      fail_parse(kernel.num_warps->at,
                 "num_warps must be a power of two, but is " + std::to_string(warps));
    }
    resolved.num_warps = static_cast<uint32_t>(warps);
  }
  if (kernel.num_stages) {
    resolved.num_stages =
        static_cast<uint32_t>(scope.integer(*kernel.num_stages, 1, kMostStages, "num_stages"));
  }
}

void CandidateResolver::resolve_cuda(const Step& step, const SymbolTable& scope, Phase phase,
                                     ResolvedStep& resolved) {
  for (const Sourced& name : step.bind) {
    pack_argument({PushItem::Kind::address, name}, scope, phase, resolved);
  }
  for (const PushItem& item : step.push) pack_argument(item, scope, phase, resolved);
  for (size_t i = 0; i < step.groups.size(); ++i) {
    resolved.groups[i] =
        static_cast<uint32_t>(scope.integer(step.groups[i], 1, kMaxU32, "a number of blocks"));
  }
  for (size_t i = 0; i < step.block.size(); ++i) {
    resolved.block[i] =
        static_cast<uint32_t>(scope.integer(step.block[i], 1, kMaxU32, "a number of threads"));
  }
  if (resolved.kernel >= 0) {
    const uint32_t warps = result_.kernels[static_cast<size_t>(resolved.kernel)].num_warps;
    if (warps > 0) resolved.block = {32 * warps, 1, 1};
  }
  if (step.shared) {
    resolved.shared_bytes = static_cast<uint32_t>(
        scope.integer(*step.shared, 0, kMaxU32, "a number of bytes of shared memory"));
  }
}

/// Appends a parameter at a multiple of its own size, as compilers lay parameters out.
void CandidateResolver::pack_argument(const PushItem& item, const SymbolTable& scope, Phase phase,
                                      ResolvedStep& resolved) {
  ResolvedArgument argument;
  argument.kind = item.kind;
  NumberBits number{0, 8};
  if (item.kind == PushItem::Kind::address) {
    argument.buffer = buffer(item.value, phase);
    touch(argument.buffer, phase);
  } else {
    number = number_bits(item, scope);
  }
  argument.size = number.size;
  argument.offset = (resolved.push.size() + argument.size - 1) / argument.size * argument.size;
  if (argument.offset + argument.size > limits::kParameterBytes) {
    fail_parse(item.value.at, "the parameters take more than " +
                                  std::to_string(limits::kParameterBytes) + " bytes");
  }
  resolved.push.resize(argument.offset + argument.size);
  std::memcpy(resolved.push.data() + argument.offset, &number.bits, argument.size);
  if (argument.buffer >= 0) resolved.addresses.emplace_back(argument.offset, argument.buffer);
  resolved.arguments.push_back(argument);
}

}  // namespace kbench
