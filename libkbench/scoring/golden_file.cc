// Reading golden files.
#include <zstd.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "kbench/golden.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/json_field.h"

namespace kbench {
namespace {

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
