#include "harness/evaluate/from_pytorch/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "harness/evaluate/from_pytorch/from_pytorch.h"
#include "kbench/compare.h"
#include "kbench/error.h"
#include "kbench/reference.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"

namespace kbench::from_pytorch {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = int64_t{11} << 20;  ///< of tensors, which travel as text
constexpr double kMostFlops = 2e10;                ///< of a run on the CPU
constexpr uint64_t kSeed = 1;
/// Largest |c - r| / (s + |r|) beside a module in float64: its tables of numbers may be of float32.
constexpr double kModuleTolerance = 1e-6;

/// Of the types that tensors have that are given to PyTorch, or come back.
const std::map<DType, std::string>& names_in_torch() {
  static const std::map<DType, std::string> names = {{DType::f32, "float32"},
                                                     {DType::i64, "int64"},
                                                     {DType::u8, "uint8"},
                                                     {DType::f64, "float64"},
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

/// The value with which a module's output differs from the task's; counts the largest error.
std::string difference_of(const Tensor& got, const Tensor& expected, double& worst) {
  const std::span<const double> c = got.data<double>(), r = expected.data<double>();
  double squares = 0;
  for (const double each : r) squares += std::isfinite(each) ? each * each : 0;
  const double rms = std::sqrt(squares / static_cast<double>(std::max<size_t>(r.size(), 1)));
  for (size_t i = 0; i < r.size(); ++i) {
    const bool same = c[i] == r[i] || (std::isnan(c[i]) && std::isnan(r[i]));
    if (same) continue;
    const double error = std::abs(c[i] - r[i]) / (rms + std::abs(r[i]));
    if (!(error <= kModuleTolerance)) {
      return "element " + std::to_string(i) + " of " + std::to_string(r.size()) + " is " +
             number_text(c[i]) + " of the module and " + number_text(r[i]) + " of the task";
    }
    worst = std::max(worst, error);
  }
  return "";
}

/// What is wrong with the first output that has not its type of `types`, or of which `differs` says
/// that it differs from the task's; empty if all of them are right.
std::string compare_outputs(
    const Json& outputs, const std::vector<TensorType>& types, const Graph& graph,
    const std::function<std::string(const Tensor& got, size_t i)>& differs) {
  if (outputs.size() != types.size()) return std::to_string(outputs.size()) + " outputs";
  for (size_t i = 0; i < types.size(); ++i) {
    const auto got = tensor_of(outputs[i], types[i]);
    if (!got) {
      return graph.output_name(i) + " is no " + to_string(types[i]) + " but of shape " +
             outputs[i].at("shape").dump();
    }
    if (const std::string found = differs(*got, i); !found.empty()) {
      return graph.output_name(i) + ": " + found;
    }
  }
  return "";
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

}  // namespace

int64_t bytes_compared(const Graph& graph) {
  int64_t bytes = 0;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) bytes += graph.value(id).type.bytes();
  }
  // Outputs come back as float64 in text: almost three times as many bytes.
  for (const int id : graph.outputs()) bytes += 3 * graph.value(id).type.bytes();
  return bytes;
}

std::string why_not_compared(const Graph& graph) {
  const int64_t bytes = bytes_compared(graph);
  if (bytes > kMostBytes) {
    return std::to_string(bytes >> 20) + " MiB of tensors, over " +
           std::to_string(kMostBytes >> 20) + " MiB";
  }
  if (graph.flops() > kMostFlops) {
    return number_text(graph.flops()) + " operations, over " + number_text(kMostFlops);
  }
  return "";
}

Agreement compare_with_module(runner::PythonHelper& python, const Problem& problem,
                              const Given& given, const Task& task, const Graph& graph,
                              double seconds) {
  Agreement agreement;
  agreement.not_compared = why_not_compared(graph);
  if (!agreement.not_compared.empty()) return agreement;
  std::vector<NamedTensors> draws = {draw_tensors(graph, task.id, kSeed),
                                     draw_tensors(graph, task.id, kSeed + 1)};
  std::vector<Json> requests;
  for (const NamedTensors& draw : draws) {
    Json tensors = Json::object();
    for (const auto& [name, tensor] : draw) tensors[name] = said_of(tensor);
    requests.push_back({{"names", {{"inputs", given.inputs}, {"parameters", given.parameters}}},
                        {"tensors", std::move(tensors)}});
  }
  try {
    const Json answers = ask_about(python, std::span(&problem, 1), requests, seconds);
    for (size_t i = 0; i < draws.size(); ++i) {
      agreement.not_compared = answers[i].value("error", "");
      if (!agreement.not_compared.empty()) return agreement;
      const auto expected =
          run_reference(graph, std::move(draws[i]), {.precision = Precision::f64});
      std::vector<TensorType> types;
      for (const Tensor& each : expected) types.push_back({DType::f64, each.shape()});
      agreement.difference = compare_outputs(
          answers[i].at("outputs"), types, graph, [&](const Tensor& got, size_t output) {
            return difference_of(got, expected[output].converted(DType::f64),
                                 agreement.worst_error);
          });
      if (!agreement.difference.empty()) return agreement;
    }
  } catch (const nlohmann::json::exception&) {
    agreement.not_compared = "its process gives no answer that can be read";
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) throw;
    agreement.not_compared = error.message();
  }
  return agreement;
}

Agreement compare_with_pytorch(runner::PythonHelper& python, const std::string& program,
                               const Task& task, const Graph& graph, double seconds) {
  Agreement agreement;
  agreement.not_compared = why_not_compared(graph);
  if (!agreement.not_compared.empty()) return agreement;
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
  const Bounds bounds = bounds_of(task, DType::f32);
  std::vector<TensorType> types;
  for (const int id : graph.outputs()) types.push_back(graph.value(id).type);
  agreement.difference =
      compare_outputs(answer["outputs"], types, graph, [&](const Tensor& got, size_t i) {
        const Comparison found = compare(got, expected[i], bounds);
        agreement.worst_error = std::max(agreement.worst_error, found.max_error);
        return found.passed() ? "" : describe(found, types[i].shape, bounds);
      });
  return agreement;
}

}  // namespace kbench::from_pytorch
