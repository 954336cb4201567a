// Constants that a candidate keeps in buffers: `data` in the file, and their bytes; and the bytes
// of any number that a step gives.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kbench/candidate_limits.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

using Kind = PushItem::Kind;

uint32_t float_bits(const Sourced& expression, const SymbolTable& scope) {
  const double value = scope.real(expression);
  // Compared before the conversion, which is undefined for a value out of range.
  if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
    fail_parse(expression.at,
               "an f32: " + quoted(expression.text) + " does not fit a 32-bit float");
  }
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

/// What Triton takes its pointer for: numbers of 8 bytes where all have 8, else of 4.
DType element_type(const std::vector<PushItem>& items) {
  const auto is_wide = [](const PushItem& item) {
    return item.kind == Kind::u64 || item.kind == Kind::i64 || item.kind == Kind::f64;
  };
  return std::all_of(items.begin(), items.end(), is_wide) ? DType::i64 : DType::f32;
}

}  // namespace

NumberBits number_bits(const PushItem& item, const SymbolTable& scope) {
  const Sourced& value = item.value;
  switch (item.kind) {
    case Kind::u32:
      return {static_cast<uint64_t>(scope.integer(value, 0, kMaxU32, "a u32")), 4};
    case Kind::i32:
      return {static_cast<uint32_t>(scope.integer(value, kMinI32, kMaxI32, "an i32")), 4};
    case Kind::f32:
      return {float_bits(value, scope), 4};
    case Kind::u64:
      return {static_cast<uint64_t>(scope.integer(value, 0, kMaxExact, "a u64")), 8};
    case Kind::i64:
      return {static_cast<uint64_t>(scope.integer(value, -kMaxExact, kMaxExact, "an i64")), 8};
    case Kind::f64:
      return {std::bit_cast<uint64_t>(scope.real(value)), 8};
    case Kind::boolean:
      return {static_cast<uint64_t>(scope.integer(value, 0, 1, "a bool")), 1};
    case Kind::address:
      break;
  }
  throw Error(ErrorCode::kInternal, "the bits of an address are not known yet");
}

std::string_view name_of(PushItem::Kind kind) {
  return name_in<Kind::boolean>({"u32", "i32", "f32", "u64", "address", "i64", "f64", "bool"},
                                kind);
}

DataBuffer CandidateParser::data_buffer(const YamlEntry& entry) {
  check_name(entry, "data", ".");
  DataBuffer data;
  data.name = entry.key;
  data.at = entry.at;
  std::vector<std::string> names;
  for (const Kind kind : {Kind::u32, Kind::i32, Kind::f32, Kind::u64, Kind::i64, Kind::f64}) {
    names.emplace_back(name_of(kind));
  }
  for (const YAML::Node& node : yaml_.list(entry.value, "data '" + entry.key + "'")) {
    yaml_.fields(node, "a number of data", names);
    const auto numbers = yaml_.entries(node, "a number of data");
    if (numbers.size() != 1) {
      fail_parse(yaml_.at(node), "a number of data is one of " + joined(names) +
                                     ", as in {u32: height} or {f32: [0.5, 1.5]}");
    }
    const YamlEntry& number = numbers[0];
    const Kind kind = value_named(number.key, Kind::f64).value();
    for (Sourced& value : texts(number.value, yaml_.list_or_one(number.value), number.key,
                                limits::kDataBytes / sizeof(uint32_t))) {
      data.items.push_back({kind, std::move(value)});
    }
  }
  if (data.items.empty()) fail_parse(entry.at, "data '" + entry.key + "' holds no number");
  return data;
}

/// Numbers are laid out as a structure's members: each at a multiple of its own size.
void CandidateResolver::add_data() {
  size_t total = 0;
  for (const DataBuffer& data : candidate_.data) {
    std::vector<std::byte> bytes;
    for (const PushItem& item : data.items) {
      const auto [bits, size] = number_bits(item, scope_);
      const size_t offset = (bytes.size() + size - 1) / size * size;
      bytes.resize(offset + size);
      std::memcpy(bytes.data() + offset, &bits, size);
    }
    total += bytes.size();
    if (total > limits::kDataBytes) {
      fail_parse(data.at, "with data '" + data.name + "' there are more than " +
                              std::to_string(limits::kDataBytes) +
                              " bytes of data; let a kernel of setup make them");
    }
    BufferSlot slot{BufferSlot::Kind::data, data.name, {}};
    slot.type.dtype = element_type(data.items);
    slot.type.shape = {static_cast<int64_t>(bytes.size() / size_of(slot.type.dtype))};
    slot.words.resize(bytes.size() / sizeof(uint32_t));
    std::memcpy(slot.words.data(), bytes.data(), bytes.size());
    add_buffer(std::move(slot), data.at);
  }
}

}  // namespace kbench
