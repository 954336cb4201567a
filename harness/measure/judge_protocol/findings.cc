#include "harness/measure/judge_protocol/findings.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench::judge {

KBENCH_FIELDS(StepTimes, candidate_ms, baseline_ms)

namespace {

constexpr char kBadFindings[] = "malformed findings between kbench and its judge";

/// An Inspection::Output; the tensors' bytes are hexadecimal, in the order of this machine, which
/// is also the judge's.
struct OutputLine {
  DType dtype = DType::f32;
  Shape shape;
  std::string before, got, again, repeated, other;
};
KBENCH_FIELDS(OutputLine, dtype, shape, before, got, again, repeated, other)

struct InspectionLine {
  std::vector<OutputLine> outputs;
};
KBENCH_FIELDS(InspectionLine, outputs)

[[noreturn]] void malformed(const std::string& why) {
  throw Error(ErrorCode::kParse, std::string(kBadFindings) + ": " + why);
}

std::string hex_of(const Tensor& tensor) {
  return kbench::hex_of(
      {reinterpret_cast<const uint8_t*>(tensor.raw()), static_cast<size_t>(tensor.bytes())});
}

Tensor tensor_of(const TensorType& type, const std::string& hex) {
  Tensor tensor(type);
  if (hex.size() != 2 * static_cast<size_t>(tensor.bytes())) malformed("a tensor of another size");
  const auto bytes = bytes_of_hex(hex);
  if (!bytes) malformed("bytes that are not hexadecimal");
  const auto no_bool = [](uint8_t byte) { return byte > 1; };
  if (type.dtype == DType::boolean && std::ranges::any_of(*bytes, no_bool)) {
    malformed("a bool of another value");
  }
  std::ranges::copy(std::as_bytes(std::span(*bytes)), tensor.raw());
  return tensor;
}

/// Throws for a type that an inspection does not hand back, before its tensors are allocated.
TensorType type_of(const OutputLine& output) {
  TensorType type;
  type.dtype = output.dtype;
  type.shape = output.shape;
  for (const int64_t extent : type.shape) {
    if (extent < 0 || extent > kMostInspected) malformed("an extent out of range");
  }
  if (type.elements() > kMostInspected) malformed("a tensor that is too large");
  return type;
}

}  // namespace

std::string to_json(const Inspection& inspection) {
  InspectionLine line;
  for (const Inspection::Output& output : inspection.outputs) {
    line.outputs.push_back({output.got.dtype(), output.got.shape(), hex_of(output.before),
                            hex_of(output.got), hex_of(output.again), hex_of(output.repeated),
                            hex_of(output.other)});
  }
  return json_line(line);
}

Inspection inspection_from_json(std::string_view line) {
  const auto read = value_of_line<InspectionLine>(line, kBadFindings);
  Inspection inspection;
  try {
    for (const OutputLine& output : read.outputs) {
      const TensorType type = type_of(output);
      inspection.outputs.push_back({tensor_of(type, output.before), tensor_of(type, output.got),
                                    tensor_of(type, output.again), tensor_of(type, output.repeated),
                                    tensor_of(type, output.other)});
    }
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kParse) throw;
    malformed(e.message());
  }
  return inspection;
}

std::string to_json(const StepTimes& times) { return json_line(times); }

StepTimes step_times_from_json(std::string_view line) {
  return value_of_line<StepTimes>(line, kBadFindings);
}

}  // namespace kbench::judge
