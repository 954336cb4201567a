#include "harness/evaluate/client/options_json.h"

#include "kbench/baseline.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(DeviceLimits, group_size, group_count, invocations, shared_bytes, binding_range,
              subgroup_size, min_subgroup_size, max_subgroup_size, subgroup_arithmetic,
              subgroup_shuffle, float16, float64, storage_16bit, cooperative_matrix, float_atomics)
KBENCH_FIELDS(DeviceSummary, index, name, driver, type, api_version, memory_bytes, usable, reason,
              limits)
KBENCH_OPTIONAL_FIELDS(DeviceSummary, limits)

namespace client {
namespace {

constexpr ReadRules kOptionRules = {
    .reals = Reals::not_negative, .all_optional = true, .no_others = true};

/// Recorded times are named by their file, which is read.
struct OptionsReader : FieldReader<EvaluateOptions> {
  using FieldReader::FieldReader;
  using FieldReader::operator();
  void operator()(const char* name, DType& dtype) {
    if (is_given(name)) dtype = object_[name].as(task_dtype_from_name);
  }
  void operator()(const char* name, std::optional<RecordedTimes>& times) {
    if (!is_given(name)) return;
    const JsonField recorded = object_[name];
    expect_only(recorded, {"file", "column"});
    times = read_recorded_times(recorded["file"].text(),
                                recorded.has("column") ? recorded["column"].text() : "");
  }
};

}  // namespace

EvaluateOptions options_from_json(const JsonField& field) {
  EvaluateOptions options;
  OptionsReader reader(field, kOptionRules);
  each_field(reader, options);
  reader.finish();
  return options;
}

nlohmann::json to_value(const DeviceSummary& device) { return json_of<nlohmann::json>(device); }

DeviceSummary device_from_json(const JsonField& field) {
  DeviceSummary device;
  read_value(field, device);
  return device;
}

}  // namespace client
}  // namespace kbench
