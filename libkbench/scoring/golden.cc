#include "kbench/golden.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr int64_t kChunk = 1 << 16;  // elements whose weights are drawn at a time

const GoldenTensor* find_tensor(const GoldenRecord& record, const std::string& name) {
  const auto found = std::ranges::find(record.tensors, name, &GoldenTensor::name);
  return found == record.tensors.end() ? nullptr : &*found;
}

[[noreturn]] void throw_mismatch(const GoldenRecord& record, const std::string& why) {
  throw Error(ErrorCode::kShape,
              "golden record of " + to_string(record.task) + " does not fit the graph: " + why);
}

/// Whether the record gives the graph's tensor as a number.
bool is_scalar(const GoldenTensor& tensor, const Graph::ValueInfo& info) {
  return tensor.kind == "scalar" && info.kind == Graph::Kind::input && info.type.elements() == 1;
}

/// The record's entry for a graph's tensor, which it must describe.
const GoldenTensor& entry_of(const GoldenRecord& record, const Graph::ValueInfo& info) {
  const bool is_input = info.kind == Graph::Kind::input;
  const std::string what = (is_input ? "input '" : "parameter '") + info.name + "'";
  const GoldenTensor* tensor = find_tensor(record, info.name);
  if (tensor == nullptr) throw_mismatch(record, "the record has no " + what);
  if (is_scalar(*tensor, info)) return *tensor;
  if (tensor->kind != (is_input ? "input" : "param")) {
    throw_mismatch(record, what + " is of kind '" + tensor->kind + "' in the record");
  }
  if (tensor->type != info.type) {
    throw_mismatch(record, what + " is " + to_string(info.type) + " in the graph and " +
                               to_string(tensor->type) + " in the record");
  }
  return *tensor;
}

DrawKey key_of(const GoldenRecord& record, const Graph::ValueInfo& info) {
  return {record.seed, record.task.draw_word(), info.name};
}

/// A scalar that is a variable of the graph must have the record's value.
void check_scalar(const GoldenRecord& record, const GoldenTensor& scalar, const Graph& graph) {
  const auto variable = graph.variables().find(scalar.name);
  if (variable == graph.variables().end()) return;
  const double mine = std::visit(
      [](const auto& value) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
          return static_cast<double>(value);
        } else {
          return std::numeric_limits<double>::quiet_NaN();
        }
      },
      variable->second);
  if (mine != scalar.value) {
    throw_mismatch(record, "variable '" + scalar.name + "' is " + to_string(variable->second) +
                               " in the graph and " + digits_text(scalar.value, 9) +
                               " in the record");
  }
}

/// Sum of value[i] * w[i], in an order that does not depend on the number of threads.
template <class T>
double checksum_of(std::span<const T> values, const DrawKey& key) {
  const Distribution weights = uniform(-1, 1);
  const auto count = static_cast<int64_t>(values.size());
  return tbb::parallel_deterministic_reduce(
      tbb::blocked_range<int64_t>(0, (count + kChunk - 1) / kChunk, 1), 0.0,
      [&](const auto& chunks, double sum) {
        std::vector<float> w(kChunk);
        for (int64_t chunk = chunks.begin(); chunk < chunks.end(); ++chunk) {
          const int64_t begin = chunk * kChunk;
          const int64_t size = std::min(kChunk, count - begin);
          draw_range(weights, key, begin, std::span(w).first(static_cast<size_t>(size)));
          double part = 0;
          for (int64_t i = 0; i < size; ++i) {
            part += static_cast<double>(values[static_cast<size_t>(begin + i)]) *
                    static_cast<double>(w[static_cast<size_t>(i)]);
          }
          sum += part;
        }
        return sum;
      },
      std::plus<>());
}

double checksum_of(const Tensor& tensor, const DrawKey& key) {
  switch (tensor.dtype()) {
    case DType::f64:
      return checksum_of(tensor.data<double>(), key);
    case DType::i64:
      return checksum_of(tensor.data<int64_t>(), key);
    case DType::boolean:
      return checksum_of(tensor.data<bool>(), key);
    default:
      return checksum_of(tensor.data<float>(), key);
  }
}

/// How far values may be off, relative to the output's RMS; 0 for exact outputs.
double factor_of(const GoldenOutput& output, Precision precision) {
  if (output.type.dtype == DType::i64 || output.type.dtype == DType::boolean) return 0;
  return 32 * (precision == Precision::f64 ? 1e-7 : std::max(output.float32_error, 2e-6));
}

/// Keeps the largest error over its bound, and the message of the first that fails.
class GoldenComparison {
 public:
  explicit GoldenComparison(GoldenCheck& check) : check_(check) {}

  void add(double got, double expected, double bound, const std::string& what) {
    const double error = std::abs(got - expected);
    const double ratio = error == 0  ? 0
                         : bound > 0 ? error / bound
                                     : std::numeric_limits<double>::infinity();
    if (ratio <= 1) {
      check_.worst = std::max(check_.worst, ratio);
      return;
    }
    // Also where the ratio is NaN.
    check_.worst =
        std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(check_.worst, ratio);
    fail(what + ": got " + digits_text(got, 9) + ", expected " + digits_text(expected, 9) +
         " within " + digits_text(bound, 9));
  }
  void fail(const std::string& message) {
    if (check_.passed) check_.message = message;
    check_.passed = false;
  }

 private:
  GoldenCheck& check_;
};

void check_output(const GoldenRecord& record, size_t number_of_output, const Tensor& got,
                  Precision precision, GoldenComparison& comparison) {
  const GoldenOutput& output = record.outputs[number_of_output];
  const std::string name = "output " + std::to_string(number_of_output);
  const bool widened = output.type.dtype == DType::f32 && got.dtype() == DType::f64;
  if (got.empty() || got.shape() != output.type.shape ||
      (got.dtype() != output.type.dtype && !widened)) {
    return comparison.fail(name + " is " + to_string(got.type()) + ", expected " +
                           to_string(output.type));
  }
  const double factor = factor_of(output, precision);
  for (size_t i = 0; i < output.index.size(); ++i) {
    const int64_t at = output.index[i];
    comparison.add(got.at(at), output.value[i], factor * output.rms,
                   name + " element " + std::to_string(at));
  }
  const std::string checksum = "checksum" + std::to_string(number_of_output);
  // Exact outputs too: their sum is rounded in another order than the record's.
  const double slack = factor > 0 ? factor + 1e-6 : 1e-10;
  comparison.add(checksum_of(got, {record.seed, record.task.draw_word(), checksum}),
                 output.checksum, slack * output.checksum_scale, name + " checksum");
}

}  // namespace

void check_golden_tensors(const GoldenRecord& record, const Graph& graph) {
  std::set<std::string> known;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) {
      const Graph::ValueInfo& info = graph.value(id);
      entry_of(record, info);
      known.insert(info.name);
    }
  }
  for (const GoldenTensor& tensor : record.tensors) {
    if (known.contains(tensor.name)) continue;
    if (tensor.kind != "scalar") {
      throw_mismatch(record, "the graph has no " +
                                 std::string(tensor.kind == "param" ? "parameter" : "input") +
                                 " '" + tensor.name + "'");
    }
    check_scalar(record, tensor, graph);
  }
}

std::optional<GoldenDraw> golden_draw(const GoldenRecord& record, const Graph::ValueInfo& value) {
  const GoldenTensor& tensor = entry_of(record, value);
  if (is_scalar(tensor, value) || value.type.dtype == DType::boolean) return {};
  if (is_half(record.dtype)) return {};
  return GoldenDraw{tensor.distribution, key_of(record, value)};
}

Tensor draw_golden(const GoldenRecord& record, const Graph::ValueInfo& value) {
  const GoldenTensor& tensor = entry_of(record, value);
  if (is_scalar(tensor, value)) {
    Tensor scalar(DType::f64, value.type.shape);
    scalar.data<double>()[0] = tensor.value;
    return rounded_to(scalar.converted(value.type.dtype), record.dtype);
  }
  const DrawKey key = key_of(record, value);
  if (value.type.dtype == DType::boolean) {
    return draw(tensor.distribution, key, {DType::i64, value.type.shape}).converted(DType::boolean);
  }
  return rounded_to(draw(tensor.distribution, key, value.type), record.dtype);
}

NamedTensors draw_golden(const GoldenRecord& record, const Graph& graph) {
  check_golden_tensors(record, graph);
  NamedTensors tensors;
  for (const Graph::Kind kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : graph.values_of(kind)) {
      const Graph::ValueInfo& info = graph.value(id);
      tensors[info.name] = draw_golden(record, info);
    }
  }
  return tensors;
}

GoldenCheck check_golden(const GoldenRecord& record, const std::vector<Tensor>& outputs,
                         Precision precision) {
  GoldenCheck check;
  GoldenComparison comparison(check);
  if (outputs.size() != record.outputs.size()) {
    comparison.fail("got " + std::to_string(outputs.size()) + " outputs, expected " +
                    std::to_string(record.outputs.size()));
    return check;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    check_output(record, i, outputs[i], precision, comparison);
  }
  return check;
}

}  // namespace kbench
