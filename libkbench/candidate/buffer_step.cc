// Parts of buffers, and the steps that copy and fill them.
#include <bit>
#include <cmath>
#include <limits>

#include "libkbench/base/text.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

/// A number rounded to a format of 16 bits, to nearest and even; `exponent` and `mantissa` count
/// its bits. Infinity where it is too large.
uint16_t rounded_to_16(double value, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int infinity = ((1 << exponent) - 1) << mantissa;
  int bits = infinity;
  if (std::isfinite(value)) {
    int power = 0;
    std::frexp(value, &power);
    // Subnormal numbers: the step stays that of the smallest normal number.
    const int from = value == 0 ? 1 - bias : std::max(power - 1, 1 - bias);
    const double steps = std::nearbyint(std::ldexp(std::abs(value), mantissa - from));
    const double whole = std::ldexp(from + bias - 1, mantissa) + steps;
    bits = whole < infinity ? static_cast<int>(whole) : infinity;
  }
  return static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000 : 0));
}

}  // namespace

/// `value` as an element's bytes.
uint64_t CandidateResolver::fill_bits(const Sourced& value, DType dtype) const {
  if (dtype == DType::boolean) return static_cast<uint64_t>(scope_.integer(value, 0, 1, "a bool"));
  if (dtype == DType::u8) return static_cast<uint64_t>(scope_.integer(value, 0, 255, "a u8"));
  if (dtype == DType::i64) return number_bits({PushItem::Kind::i64, value}, scope_).bits;
  if (dtype == DType::i32) return number_bits({PushItem::Kind::i32, value}, scope_).bits;
  if (dtype == DType::u32) return number_bits({PushItem::Kind::u32, value}, scope_).bits;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool infinite = value.text == "inf" || value.text == "-inf";
  const double number =
      infinite ? (value.text == "inf" ? kInfinity : -kInfinity) : scope_.real(value);
  if (dtype == DType::f64) return std::bit_cast<uint64_t>(number);
  const auto fit = [&](bool fits, const char* format) {
    if (fits || infinite) return;
    fail_parse(value.at, quoted(value.text) + " does not fit " + format);
  };
  if (dtype == DType::f32) {
    // Compared before the conversion, which is undefined for a value out of range.
    fit(std::abs(number) <= std::numeric_limits<float>::max(), "an f32");
    const float single = infinite ? std::copysign(std::numeric_limits<float>::infinity(), number)
                                  : static_cast<float>(number);
    return std::bit_cast<uint32_t>(single);
  }
  const bool half = dtype == DType::f16;
  const uint16_t bits = half ? rounded_to_16(number, 5, 10) : rounded_to_16(number, 8, 7);
  fit((bits & 0x7fff) != (half ? 0x7c00 : 0x7f80), half ? "an f16" : "a bf16");
  return bits;
}

ByteRange CandidateResolver::range(const BufferPart& part, int buffer,
                                   const SymbolTable& scope) const {
  const BufferSlot& slot = result_.buffers[static_cast<size_t>(buffer)];
  const auto element = static_cast<uint64_t>(size_of(slot.type.dtype));
  const int64_t elements = slot.type.elements();
  const int64_t offset =
      part.offset ? scope.integer(*part.offset, 0, kMaxExact, "an offset") : int64_t{0};
  if (offset >= elements && offset > 0) {
    fail_parse(part.offset->at, "an offset of " + std::to_string(offset) +
                                    " elements is outside of '" + slot.name + "', which has " +
                                    std::to_string(elements));
  }
  const int64_t length =
      part.length ? scope.integer(*part.length, 1, kMaxExact, "a length") : elements - offset;
  if (length > elements - offset) {
    fail_parse(part.length->at, std::to_string(length) + " elements from " +
                                    std::to_string(offset) + " on end behind '" + slot.name +
                                    "', which has " + std::to_string(elements));
  }
  return {static_cast<uint64_t>(offset) * element, static_cast<uint64_t>(length) * element};
}

/// The bytes between a buffer's first element and the one that is addressed.
uint64_t CandidateResolver::address_offset(const PushItem& item, int buffer,
                                           const SymbolTable& scope) const {
  if (!item.offset) return 0;
  return range({item.value, item.offset}, buffer, scope).offset;
}

/// A buffer that a copy or fill writes.
int CandidateResolver::written(const Sourced& name, Phase phase) const {
  const int target = buffer(name, phase);
  const BufferSlot& slot = result_.buffers[static_cast<size_t>(target)];
  if (slot.kind != BufferSlot::Kind::temporary && slot.kind != BufferSlot::Kind::output) {
    fail_parse(name.at, "a step cannot write to '" + name.text +
                            "'; only outputs and temporaries can be written");
  }
  if (phase == Phase::dispatch && slot.setup) {
    fail_parse(name.at, "'" + name.text + "' is written by setup; dispatch can only read it");
  }
  return target;
}

/// A buffer that a copy reads.
int CandidateResolver::read(const Sourced& name, Phase phase) const {
  const int source = buffer(name, phase);
  const auto kind = result_.buffers[static_cast<size_t>(source)].kind;
  if ((kind == BufferSlot::Kind::temporary || kind == BufferSlot::Kind::output) &&
      !touched_.contains(source)) {
    fail_parse(name.at, "'" + name.text + "' is read before any step has written it");
  }
  return source;
}

ResolvedStep CandidateResolver::copy_step(const Step& step, Phase phase) {
  ResolvedStep resolved;
  resolved.kind = step.kind;
  resolved.at = step.at;
  const int from = read(step.from.name, phase);
  const int to = written(step.to.name, phase);
  const auto& source = result_.buffers[static_cast<size_t>(from)].type;
  const auto& target = result_.buffers[static_cast<size_t>(to)].type;
  if (source.dtype != target.dtype) {
    fail_parse(step.to.name.at, "a copy keeps the type: '" + step.from.name.text + "' is " +
                                    to_string(source) + ", '" + step.to.name.text + "' is " +
                                    to_string(target));
  }
  const ByteRange given = range(step.from, from, scope_);
  // Without a length the target is as long as the source.
  ByteRange taken = range(step.to, to, scope_);
  const auto element = static_cast<uint64_t>(size_of(source.dtype));
  if (step.to.length ? taken.bytes != given.bytes : taken.bytes < given.bytes) {
    fail_parse(step.to.name.at, std::to_string(given.bytes / element) + " elements of '" +
                                    step.from.name.text + "' are copied, but " +
                                    std::to_string(taken.bytes / element) + " of '" +
                                    step.to.name.text + "' are there to take them");
  }
  taken.bytes = given.bytes;
  if (from == to && given.offset < taken.offset + taken.bytes &&
      taken.offset < given.offset + given.bytes) {
    fail_parse(step.to.name.at, "the part of '" + step.to.name.text +
                                    "' that is copied and the one that takes it overlap");
  }
  resolved.bind = {from, to};
  resolved.ranges = {given, taken};
  touch(from, phase);
  touch(to, phase);
  return resolved;
}

ResolvedStep CandidateResolver::fill_step(const Step& step, Phase phase) {
  ResolvedStep resolved;
  resolved.kind = step.kind;
  resolved.at = step.at;
  const int to = written(step.to.name, phase);
  const BufferSlot& slot = result_.buffers[static_cast<size_t>(to)];
  resolved.bind = {to};
  resolved.ranges = {range(step.to, to, scope_)};
  resolved.fill = fill_bits(step.value, slot.type.dtype);
  // Devices fill whole words, so the last word may reach beyond the last element.
  const auto [offset, bytes] = resolved.ranges[0];
  const bool to_the_end = offset + bytes == static_cast<uint64_t>(slot.type.bytes());
  if (offset % 4 != 0 || (bytes % 4 != 0 && !to_the_end)) {
    fail_parse(step.to.name.at,
               "a fill begins and ends at a multiple of 4 bytes, or at the end of the buffer; this "
               "one takes bytes " +
                   std::to_string(offset) + " to " + std::to_string(offset + bytes) + " of '" +
                   slot.name + "', " + to_string(slot.type));
  }
  touch(to, phase);
  return resolved;
}

}  // namespace kbench
