#include "harness/evaluate/client/device_json.h"

#include "libkbench/scoring/json_fields.h"

namespace kbench {

KBENCH_FIELDS(DeviceLimits, group_size, group_count, invocations, shared_bytes, binding_range,
              subgroup_size, min_subgroup_size, max_subgroup_size, subgroup_arithmetic,
              subgroup_shuffle, float16, float64, storage_16bit, cooperative_matrix, float_atomics)
KBENCH_FIELDS(DeviceSummary, index, name, driver, type, api_version, memory_bytes, usable, reason,
              limits)
KBENCH_OPTIONAL_FIELDS(DeviceSummary, limits)

namespace client {

nlohmann::json to_value(const DeviceSummary& device) { return json_of<nlohmann::json>(device); }

DeviceSummary device_from_json(const JsonField& field) {
  DeviceSummary device;
  read_value(field, device);
  return device;
}

}  // namespace client
}  // namespace kbench
