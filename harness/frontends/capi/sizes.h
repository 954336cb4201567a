// The task and sizes of a request.
#pragma once

#include "harness/frontends/capi/answer.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench::capi {

inline const Task& task_of(const CallRequest& request) {
  return find_task(parse_task_id(request["task"].text()));
}

/// The default is v0.1, as for `kbench show`.
inline Preset preset_of(const CallRequest& request) {
  return request.has("preset") ? preset_from_name(request["preset"].text()) : Preset::v0_1;
}

inline Variables overrides_of(const CallRequest& request) {
  return request.has("overrides") ? request["overrides"].variables() : Variables();
}

/// The default is f32.
inline DType dtype_of(const CallRequest& request) {
  return request.has("dtype") ? task_dtype_from_name(request["dtype"].text()) : DType::f32;
}

}  // namespace kbench::capi
