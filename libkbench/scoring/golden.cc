#include "kbench/golden.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/json_field.h"

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

/// More than any golden file unpacks to; a few kilobytes can be made to unpack to more than memory.
constexpr size_t kMostBytes = size_t{4} << 30;

std::string decompressed(const std::string& packed, const std::string& path) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  std::string text;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t status = 1;
  bool chunk_full = false;
  while (in.pos < in.size || chunk_full) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    status = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(status)) {
      throw Error(ErrorCode::kParse, Location{path},
                  std::string("is not a whole zstd file: ") + ZSTD_getErrorName(status));
    }
    if (out.pos > kMostBytes - text.size()) {
      throw Error(ErrorCode::kParse, Location{path}, "unpacks to more than 4 GiB");
    }
    text.append(chunk, 0, out.pos);
    chunk_full = out.pos == out.size;
  }
  if (status != 0) {
    throw Error(ErrorCode::kParse, Location{path}, "is not a whole zstd file: it ends too early");
  }
  return text;
}

Distribution::Then read_then(const JsonField& field) {
  const std::string name = field.text();
  const auto then = value_named(name, Distribution::Then::offset);
  if (then && *then != Distribution::Then::nothing) return *then;
  field.fail("'" + name + "' is no step after drawing");
}

Distribution read_distribution(const JsonField& field) {
  const JsonField kind = field["kind"];
  const std::string name = kind.text();
  Distribution distribution;
  if (name == "uniform") {
    distribution = uniform(field["lo"].real(), field["hi"].real());
  } else if (name == "normal") {
    distribution = normal(field.has("mean") ? field["mean"].real() : 0,
                          field.has("std") ? field["std"].real() : 1);
  } else if (name == "randint") {
    distribution = randint(field["lo"].integer(), field["hi"].integer());
  } else {
    kind.fail("'" + name + "' is no distribution; known: uniform, normal, randint");
  }
  if (field.has("then")) distribution.then = read_then(field["then"]);
  return distribution;
}

TensorType read_type(const JsonField& field) {
  TensorType type{field["dtype"].as(dtype_from_name), field["shape"].integers()};
  try {
    type.elements();
  } catch (const Error& e) {
    field["shape"].fail(": " + e.message());
  }
  return type;
}

GoldenTensor read_tensor(const JsonField& field) {
  GoldenTensor tensor;
  tensor.name = field["name"].text();
  tensor.kind = field["kind"].text();
  if (tensor.kind == "scalar") {
    tensor.value = field["value"].real();
    return tensor;
  }
  if (tensor.kind != "input" && tensor.kind != "param") {
    field["kind"].fail("'" + tensor.kind + "' is none of input, param, scalar");
  }
  tensor.type = read_type(field);
  tensor.distribution = read_distribution(field["dist"]);
  return tensor;
}

GoldenOutput read_output(const JsonField& field) {
  GoldenOutput output;
  output.type = read_type(field);
  output.rms = field["rms"].positive_real();
  output.std = field["std"].positive_real();
  output.absmax = field["absmax"].positive_real();
  output.checksum = field["checksum"].real();
  output.checksum_scale = field["checksum_scale"].positive_real();
  output.float32_error = field["float32_error"].positive_real();
  output.index = field["index"].integers();
  output.value = field["value"].reals();
  if (output.index.size() != output.value.size()) {
    field["value"].fail("holds " + std::to_string(output.value.size()) + " numbers for " +
                        std::to_string(output.index.size()) + " indices");
  }
  const int64_t elements = output.type.elements();
  for (int64_t index : output.index) {
    if (index < 0 || index >= elements) {
      field["index"].fail("holds " + std::to_string(index) + ", outside an output of " +
                          std::to_string(elements) + " elements");
    }
  }
  return output;
}

GoldenRecord read_record(const JsonField& field) {
  GoldenRecord record;
  record.task = field["task"].as(parse_task_id);
  record.name = field["name"].text();
  record.dtype = dtype_or_f32(field);
  record.seed = field["seed"].seed();
  record.variables = field["vars"].variables();
  for (const JsonField& tensor : field["tensors"].items()) {
    record.tensors.push_back(read_tensor(tensor));
  }
  for (const JsonField& output : field["outputs"].items()) {
    record.outputs.push_back(read_output(output));
  }
  if (record.outputs.empty()) field["outputs"].fail("is empty");
  return record;
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

// Reading golden files.

std::vector<GoldenRecord> load_golden(const std::string& path) {
  std::string text = read_file(path);
  if (path.ends_with(".zst")) text = decompressed(text, path);
  const nlohmann::json json = parse_json(text, path);
  std::vector<GoldenRecord> records;
  const JsonField tasks = JsonField(json, path, "")["tasks"];
  const auto all = tasks.items();
  for (size_t i = 0; i < all.size(); ++i) {
    // A record is known by its task where it says so, else by its place.
    std::string where = "record " + std::to_string(i);
    const nlohmann::json& record = json["tasks"][i];
    if (record.is_object() && record.contains("task") && record["task"].is_string()) {
      where += " (task " + record["task"].get<std::string>() + ")";
    }
    records.push_back(read_record(JsonField(record, path, where)));
  }
  return records;
}

}  // namespace kbench
