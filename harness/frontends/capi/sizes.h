// What most requests say: which task, at what sizes.
#pragma once

#include "harness/frontends/capi/answer.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench::capi {

inline const Task& task_of(const Request& request) {
  return find_task(parse_task_id(request["task"].text()));
}

/// v0.1 where none is said, as `kbench show` has it.
inline Preset preset_of(const Request& request) {
  return request.has("preset") ? preset_from_name(request["preset"].text()) : Preset::v0_1;
}

inline Variables overrides_of(const Request& request) {
  return request.has("overrides") ? request["overrides"].variables() : Variables();
}

}  // namespace kbench::capi
