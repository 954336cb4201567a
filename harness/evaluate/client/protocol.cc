#include "harness/evaluate/client/protocol.h"

#include "kbench/task_file.h"
#include "libkbench/base/hash.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/question/question_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

using nlohmann::json;

static void write_field(json& value, const CandidateSource& source) {
  value = source_json<json>(source);
}
static void read_field(const JsonField& field, CandidateSource& source) {
  source = source_from_json(field.json());
}
KBENCH_OPTIONAL_FIELDS(Question, recorded)
KBENCH_OPTIONAL_FIELDS(SamplingPlan, seed)

namespace vulkan {

KBENCH_FIELDS(QueueFamily, index, compute, timestamp_bits)
KBENCH_FIELDS(DeviceSnapshot, index, name, driver, device_uuid, driver_uuid, type, api_version,
              queues, extensions, max_storage_buffer_range, max_buffer, device_local_bytes,
              max_push_constants, max_shared_memory, max_invocations, max_group_count,
              max_group_size, max_storage_buffers_per_stage, storage_offset_alignment,
              max_uniform_buffer_range, max_uniform_buffers_per_stage, uniform_offset_alignment,
              max_texel_buffer_elements, texel_offset_alignment, max_sampled_images_per_stage,
              max_storage_images_per_stage, timestamp_period_ns, subgroup_size, min_subgroup_size,
              max_subgroup_size, subgroup_operations, required_subgroup_stages,
              max_subgroups_per_group, buffer_device_address, shader_int64, shader_int16,
              shader_int8, shader_float64, shader_float16, storage_16bit, storage_8bit,
              float16_conversions, scalar_block_layout, storage_image_formats, storage_image_read,
              storage_image_write, texel_formats, storage_texel_formats, vulkan_memory_model,
              memory_model_device_scope, subgroup_size_control, full_subgroups, synchronization2,
              cooperative_matrix, cooperative_matrix_nv, float16_matrices, bfloat16_matrices,
              float_atomics, shares_descriptors, dedicated_descriptors, shares_host_pointers)

}  // namespace vulkan

KBENCH_FIELDS(Progress, samples, speedup, seconds)

namespace client {

KBENCH_FIELDS(EvaluateRequest, question, more, next_files, inspect_seed, profile_runs, values_only,
              progress, others, task_files)
KBENCH_OPTIONAL_FIELDS(EvaluateRequest, inspect_seed, profile_runs, task_files)

namespace {

struct ErrorLine {
  ErrorCode code = ErrorCode::kInternal;
  std::string message, file;
  int line = 0, column = 0;
};
KBENCH_FIELDS(ErrorLine, code, message, file, line, column)

struct DeviceLines {
  std::vector<vulkan::DeviceSnapshot> devices;
};
KBENCH_FIELDS(DeviceLines, devices)

constexpr char kBadRequest[] = "malformed request between kbench and its judge";

}  // namespace

std::string to_json(const EvaluateRequest& request) {
  json value = json_of<json>(request);
  if (request.task_files.empty()) value["task_files"] = own_task_files();
  return json_text(value);
}

EvaluateRequest request_from_json(const std::string& line) {
  constexpr int kMostRuns = 1000;
  auto request = value_of_line<EvaluateRequest>(line, kBadRequest);
  if (request.profile_runs && (*request.profile_runs < 1 || *request.profile_runs > kMostRuns)) {
    throw Error(ErrorCode::kParse, std::string(kBadRequest) + ": profile_runs out of range");
  }
  return request;
}

bool same_question(const EvaluateRequest& a, const EvaluateRequest& b) {
  EvaluateRequest one = a, other = b;
  for (EvaluateRequest* each : {&one, &other}) {
    each->more = each->progress = false;
    each->next_files.clear();
  }
  return to_json(one) == to_json(other);
}

std::string to_json(const Progress& progress) { return json_line(progress); }

Progress progress_from_json(std::string_view line) {
  return value_of_line<Progress>(line, "malformed progress between kbench and its judge");
}

std::string to_json(const Error& error) {
  const Location& place = error.location();
  return json_line(ErrorLine{error.code(), error.message(), place.file, place.line, place.column});
}

Error error_from_json(std::string_view line) {
  const auto error = value_of_line<ErrorLine>(line, "malformed error between kbench and its judge");
  return Error(error.code, Location{error.file, error.line, error.column}, error.message);
}

std::string to_json(const vulkan::DeviceSnapshot& snapshot) { return json_line(snapshot); }

vulkan::DeviceSnapshot snapshot_from_json(std::string_view line) {
  return value_of_line<vulkan::DeviceSnapshot>(line, "malformed device from kbench's judge");
}

std::string to_json(const std::vector<vulkan::DeviceSnapshot>& list) {
  return json_line(DeviceLines{list});
}

std::vector<vulkan::DeviceSnapshot> snapshots_from_json(std::string_view line) {
  return value_of_line<DeviceLines>(line, "malformed list of devices between kbench and its judge")
      .devices;
}

KBENCH_FIELDS(StepTimes, candidate_ms, baseline_ms)

namespace {

constexpr char kBadFindings[] = "malformed findings between kbench and its judge";

/// An Inspection::Output; the tensors' bytes are hexadecimal, in the order of this machine, which
/// is also the judge's.
struct OutputLine {
  DType dtype = DType::f32;
  Shape shape;
  std::string before, got, again, repeated;
};
KBENCH_FIELDS(OutputLine, dtype, shape, before, got, again, repeated)

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

unsigned digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  malformed("bytes that are not hexadecimal");
}

Tensor tensor_of(const TensorType& type, const std::string& hex) {
  Tensor tensor(type);
  if (hex.size() != 2 * static_cast<size_t>(tensor.bytes())) malformed("a tensor of another size");
  for (size_t i = 0; i < hex.size(); i += 2) {
    const unsigned byte = digit(hex[i]) << 4 | digit(hex[i + 1]);
    if (type.dtype == DType::boolean && byte > 1) malformed("a bool of another value");
    tensor.raw()[i / 2] = static_cast<std::byte>(byte);
  }
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
                            hex_of(output.got), hex_of(output.again), hex_of(output.repeated)});
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
                                    tensor_of(type, output.again),
                                    tensor_of(type, output.repeated)});
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

}  // namespace client
}  // namespace kbench
