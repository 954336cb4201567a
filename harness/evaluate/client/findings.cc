#include "harness/evaluate/client/findings.h"

#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "libkbench/base/hex.h"

namespace kbench::client {
namespace {

using nlohmann::json;

[[noreturn]] void malformed(const std::string& why) {
  throw Error(ErrorCode::kParse, "malformed findings between kbench and its judge: " + why);
}

json parse(std::string_view line) {
  json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) malformed("no object");
  return value;
}

std::string hex_of(const Tensor& tensor) {
  return kbench::hex_of(
      {reinterpret_cast<const uint8_t*>(tensor.raw()), static_cast<size_t>(tensor.bytes())});
}

unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  malformed("bytes that are not hexadecimal");
}

/// Of the type; its bytes as they are, in this machine's order, which is also the judge's.
Tensor tensor_of(const TensorType& type, const json& hex) {
  const std::string text = hex.get<std::string>();
  Tensor tensor(type);
  if (text.size() != 2 * static_cast<size_t>(tensor.bytes())) malformed("a tensor of another size");
  for (size_t i = 0; i < text.size(); i += 2) {
    const unsigned byte = digit(text[i]) << 4 | digit(text[i + 1]);
    if (type.dtype == DType::boolean && byte > 1) malformed("a bool of another value");
    tensor.raw()[i / 2] = static_cast<std::byte>(byte);
  }
  return tensor;
}

TensorType type_of(const json& value) {
  TensorType type;
  type.dtype = dtype_from_name(value.at("dtype").get<std::string>());
  for (const json& extent : value.at("shape")) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > kMostInspected) {
      malformed("an extent out of range");
    }
    type.shape.push_back(extent.get<int64_t>());
  }
  if (type.elements() > kMostInspected) malformed("a tensor that is too large");
  return type;
}

std::vector<double> times_of(const json& list) {
  std::vector<double> times;
  for (const json& each : list) {
    if (!each.is_number()) malformed("a time that is no number");
    times.push_back(each.get<double>());
  }
  return times;
}

/// Runs `read`; any exception of it becomes an Error of kParse.
template <class F>
auto reading(F read) {
  try {
    return read();
  } catch (const json::exception& e) {
    malformed(e.what());
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kParse) throw;
    malformed(e.message());
  }
}

}  // namespace

std::string to_json(const Inspection& inspection) {
  json outputs = json::array();
  for (const Inspection::Output& output : inspection.outputs) {
    outputs.push_back({{"dtype", std::string(name_of(output.got.dtype()))},
                       {"shape", output.got.shape()},
                       {"before", hex_of(output.before)},
                       {"got", hex_of(output.got)},
                       {"again", hex_of(output.again)},
                       {"repeated", hex_of(output.repeated)}});
  }
  return json{{"outputs", std::move(outputs)}}.dump();
}

Inspection inspection_from_json(std::string_view line) {
  return reading([&] {
    const json value = parse(line);
    Inspection inspection;
    for (const json& output : value.at("outputs")) {
      const TensorType type = type_of(output);
      inspection.outputs.push_back(
          {tensor_of(type, output.at("before")), tensor_of(type, output.at("got")),
           tensor_of(type, output.at("again")), tensor_of(type, output.at("repeated"))});
    }
    return inspection;
  });
}

std::string to_json(const StepTimes& times) {
  return json{{"candidate_ms", times.candidate_ms}, {"baseline_ms", times.baseline_ms}}.dump();
}

StepTimes step_times_from_json(std::string_view line) {
  return reading([&] {
    const json value = parse(line);
    return StepTimes{times_of(value.at("candidate_ms")), times_of(value.at("baseline_ms"))};
  });
}

}  // namespace kbench::client
