// The golden files that travel with the tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/golden.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench {

/// The records of a preset, read once.
inline const std::vector<GoldenRecord>& golden_records(Preset preset) {
  const auto load = [](const char* name) {
    return load_golden(std::string(KBENCH_GOLDEN_DIR "/") + name + ".json.zst");
  };
  switch (preset) {
    case Preset::smoke: {
      static const auto records = load("smoke");
      return records;
    }
    case Preset::v0: {
      static const auto records = load("v0");
      return records;
    }
    default: {
      static const auto records = load("v0.1");
      return records;
    }
  }
}

inline const GoldenRecord& find_record(const std::vector<GoldenRecord>& records, TaskId task) {
  const auto found = std::ranges::find(records, task, &GoldenRecord::task);
  if (found == records.end()) {
    throw Error(ErrorCode::kNotFound, "no golden record for " + to_string(task));
  }
  return *found;
}

inline const GoldenRecord& golden_record(Preset preset, TaskId task) {
  return find_record(golden_records(preset), task);
}

/// Of preset smoke in f16 or bf16.
inline const GoldenRecord& half_golden_record(DType dtype, TaskId task) {
  static const auto f16 = load_golden(KBENCH_GOLDEN_DIR "/smoke.f16.json.zst");
  static const auto bf16 = load_golden(KBENCH_GOLDEN_DIR "/smoke.bf16.json.zst");
  return find_record(dtype == DType::f16 ? f16 : bf16, task);
}

}  // namespace kbench
