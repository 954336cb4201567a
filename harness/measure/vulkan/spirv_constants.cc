// Numbers that a candidate gives, as bits of the module's types.
#include <bit>
#include <cmath>
#include <limits>

#include "harness/measure/vulkan/spirv_interface.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

[[noreturn]] void refuse_number(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

/// "specialization constant 0 (N), of type int,".
std::string typed(const std::string& what, const Scalar& type) {
  return "gives " + what + ", of type " + name_of(type) + ", ";
}

uint64_t integer_bits(const Scalar& type, const GivenConstant& number, const std::string& what) {
  if (!number.has_integer)
    refuse_number(typed(what, type) + "the real number '" + number.text + "'");
  const bool is_signed = type.kind == Scalar::Kind::sint;
  const int64_t least = !is_signed        ? 0
                        : type.bits == 64 ? std::numeric_limits<int64_t>::min()
                                          : std::numeric_limits<int32_t>::min();
  const int64_t most = type.bits == 64 ? std::numeric_limits<int64_t>::max()
                       : is_signed     ? std::numeric_limits<int32_t>::max()
                                       : std::numeric_limits<uint32_t>::max();
  if (number.integer < least || number.integer > most) {
    refuse_number(typed(what, type) + std::to_string(number.integer) + ", which it cannot hold");
  }
  const auto bits = static_cast<uint64_t>(number.integer);
  return type.bits == 64 ? bits : bits & 0xffffffff;
}

const SpecializationConstant* find_constant(const std::vector<SpecializationConstant>& among,
                                            uint32_t id) {
  for (const SpecializationConstant& each : among) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

/// Its name in the module, or else in the source.
std::string name_in(const SpecializationConstant& constant, const ShaderInterface& names) {
  if (!constant.name.empty()) return constant.name;
  const SpecializationConstant* named = find_constant(names.constants, constant.id);
  return named ? named->name : "";
}

std::string why_unused(uint32_t id, const std::vector<SpecializationConstant>& used,
                       const ShaderInterface& names) {
  std::string text = "specialization constant " + std::to_string(id);
  if (const SpecializationConstant* named = find_constant(names.constants, id)) {
    text += (named->name.empty() ? "" : " (" + named->name + ")") +
            std::string(" is used by nothing in the kernel");
  } else {
    text += " is not in the kernel, or nothing uses it";
  }
  std::string known;
  for (const SpecializationConstant& each : used) {
    const std::string name = name_in(each, names);
    known += (known.empty() ? "" : ", ") + std::to_string(each.id) + ": " + name_of(each.type) +
             (name.empty() ? "" : " " + name);
  }
  return text + (known.empty() ? " (it has none)" : " (it has " + known + ")");
}

}  // namespace

uint64_t bits_as(const Scalar& type, const GivenConstant& number, const std::string& what) {
  const bool wide = type.bits == 64;
  if (type.kind == Scalar::Kind::boolean) {
    if (!number.has_integer || (number.integer != 0 && number.integer != 1)) {
      refuse_number(typed(what, type) + "'" + number.text + "', which is neither 0 nor 1");
    }
    return static_cast<uint64_t>(number.integer);
  }
  if (type.kind == Scalar::Kind::address || (type.bits != 32 && !wide)) {
    refuse_number(typed(what, type) + "a number, which kbench cannot write for that type");
  }
  if (type.kind != Scalar::Kind::floating) return integer_bits(type, number, what);
  if (wide) return std::bit_cast<uint64_t>(number.real);
  // Compared before it is converted: converting a number that does not fit is undefined.
  if (!(std::abs(number.real) <= std::numeric_limits<float>::max())) {
    refuse_number(typed(what, type) + "'" + number.text + "', which it cannot hold");
  }
  return std::bit_cast<uint32_t>(static_cast<float>(number.real));
}

Specialization typed_specialization(const Spirv& spirv, const std::vector<GivenConstant>& given,
                                    const ShaderInterface& names,
                                    std::vector<UnusedConstant>& unused) {
  Specialization values;
  if (given.empty()) return values;
  const std::vector<SpecializationConstant> used = reflect_spirv(spirv).constants;
  for (const GivenConstant& number : given) {
    const SpecializationConstant* constant = find_constant(used, number.id);
    std::string what = "specialization constant " + std::to_string(number.id);
    if (!constant) {
      unused.push_back({number.id, why_unused(number.id, used, names)});
      continue;
    }
    if (const std::string text = name_in(*constant, names); !text.empty()) {
      what += " (" + text + ")";
    }
    if (constant->type.bits != 32) {
      refuse_number("is given " + what + ", which is no bool and has not 32 bits");
    }
    values.emplace_back(number.id, static_cast<uint32_t>(bits_as(constant->type, number, what)));
  }
  return values;
}

}  // namespace kbench::vulkan
