#include "harness/evaluate/from_pytorch/compare.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "harness/evaluate/from_pytorch/script.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/reference.h"
#include "libkbench/base/hex.h"
#include "libkbench/base/text.h"

namespace kbench::from_pytorch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = int64_t{12} << 20;  ///< of tensors, which travel as text
constexpr uint64_t kSeed = 1;

/// Of the types that a task's inputs and outputs have.
const std::map<DType, std::string>& names_in_torch() {
  static const std::map<DType, std::string> names = {{DType::f32, "float32"},
                                                     {DType::i64, "int64"},
                                                     {DType::u8, "uint8"},
                                                     {DType::boolean, "bool"}};
  return names;
}

Json said_of(const Tensor& tensor) {
  const auto* raw = reinterpret_cast<const uint8_t*>(tensor.raw());
  return {{"shape", tensor.shape()},
          {"dtype", names_in_torch().at(tensor.dtype())},
          {"bytes", hex_of({raw, static_cast<size_t>(tensor.bytes())})}};
}

/// Of the program's output, which should be of that type; nothing if it is not.
std::optional<Tensor> tensor_of(const Json& said, const TensorType& type) {
  const auto bytes = bytes_of_hex(said.at("bytes").get<std::string>());
  Tensor tensor(type);
  const bool fits = bytes && said.at("dtype") == names_in_torch().at(type.dtype) &&
                    said.at("shape").get<Shape>() == type.shape &&
                    bytes->size() == static_cast<size_t>(tensor.bytes());
  if (!fits) return std::nullopt;
  std::memcpy(tensor.raw(), bytes->data(), bytes->size());
  return tensor;
}

int64_t bytes_of(const Graph& graph) {
  int64_t bytes = 0;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) bytes += graph.value(id).type.bytes();
  }
  for (const int id : graph.outputs()) bytes += graph.value(id).type.bytes();
  return bytes;
}

Json request_for(const std::string& program, const Graph& graph, const NamedTensors& given) {
  Json request = {{"program", program}, {"inputs", Json::array()}, {"parameters", Json::object()}};
  for (const int id : graph.values_of(Graph::Kind::input)) {
    request["inputs"].push_back(said_of(given.at(graph.value(id).name)));
  }
  for (const int id : graph.values_of(Graph::Kind::parameter)) {
    request["parameters"][graph.value(id).name] = said_of(given.at(graph.value(id).name));
  }
  return request;
}

void compare_outputs(const Json& outputs, const std::vector<Tensor>& expected, const Task& task,
                     const Graph& graph, Agreement& agreement) {
  if (outputs.size() != expected.size()) {
    agreement.difference = std::to_string(outputs.size()) + " outputs";
    return;
  }
  const Bounds bounds = bounds_of(task, DType::f32);
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = graph.value(graph.outputs()[i]).type;
    const auto got = tensor_of(outputs[i], type);
    if (!got) {
      agreement.difference = graph.output_name(i) + " is no " + to_string(type);
      return;
    }
    const Comparison found = compare(*got, expected[i], bounds);
    agreement.worst_error = std::max(agreement.worst_error, found.max_error);
    if (!found.passed() && agreement.difference.empty()) {
      agreement.difference = graph.output_name(i) + ": " + describe(found, type.shape, bounds);
    }
  }
}

}  // namespace

Agreement compare_with_pytorch(runner::PythonHelper& python, const std::string& program,
                               const Task& task, const Graph& graph, double seconds) {
  Agreement agreement;
  const int64_t bytes = bytes_of(graph);
  if (bytes > kMostBytes) {
    agreement.not_compared = std::to_string(bytes >> 20) + " MiB of tensors, over " +
                             std::to_string(kMostBytes >> 20) + " MiB";
    return agreement;
  }
  NamedTensors given = draw_tensors(graph, task.id, kSeed);
  runner::PythonJob job{.package = "torch", .script = compare_script()};
  job.input = request_for(program, graph, given).dump();
  job.seconds = seconds;
  job.whose = "PyTorch's";
  Json answer;
  try {
    answer = Json::parse(python.run(job), nullptr, /*allow_exceptions=*/false);
  } catch (const Error& error) {
    agreement.not_compared = error.code() == ErrorCode::kTimeout
                                 ? "PyTorch took longer than " + number_text(seconds) + " s"
                                 : error.message();
    return agreement;
  }
  if (!answer.is_object() || !answer.contains("outputs")) {
    agreement.not_compared = answer.is_object() ? answer.value("error", "no answer") : "no answer";
    return agreement;
  }
  const auto expected = run_reference(graph, std::move(given), {.precision = Precision::f64});
  compare_outputs(answer["outputs"], expected, task, graph, agreement);
  return agreement;
}

}  // namespace kbench::from_pytorch
