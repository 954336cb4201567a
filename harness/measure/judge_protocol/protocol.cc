#include "harness/measure/judge_protocol/protocol.h"

#include "kbench/task_file.h"
#include "libkbench/candidate/source_json.h"
#include "libkbench/question/question_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

Cancelled::Cancelled() : Error(ErrorCode::kTimeout, "the evaluation was cancelled") {}

using nlohmann::json;

static void write_field(json& value, const CandidateSource& source) {
  value = source_json<json>(source);
}
static void read_field(const JsonField& field, CandidateSource& source) {
  source = source_from_json(field.json());
}
KBENCH_OPTIONAL_FIELDS(Question, recorded)
KBENCH_OPTIONAL_FIELDS(Rule, workloads)
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

namespace judge {

KBENCH_FIELDS(InspectedDraws, parameters, inputs, other_inputs)
KBENCH_FIELDS(EvaluateRequest, question, more, next_files, inspect, profile_runs, values_only,
              progress, others, task_files)
KBENCH_OPTIONAL_FIELDS(EvaluateRequest, inspect, profile_runs)

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
  if (request.question.candidate.task_file.empty()) value["task_files"] = own_task_files();
  return json_text(value);
}

EvaluateRequest request_from_json(const std::string& line) {
  constexpr int kMostRuns = 1000;
  auto request = value_of_line<EvaluateRequest>(line, kBadRequest);
  const std::string& sent = request.question.candidate.task_file;
  if (!sent.empty()) request.task_files = {sent};
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

}  // namespace judge
}  // namespace kbench
