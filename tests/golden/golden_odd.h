// Records at sizes that are no power of two and unlike each other: tests/golden/odd.json.zst.
#pragma once

#include <string>
#include <vector>

#include "kbench/golden.h"

namespace kbench {

/// The records, a few a task, read once.
inline const std::vector<GoldenRecord>& odd_records() {
  static const auto records = load_golden(KBENCH_GOLDEN_DIR "/odd.json.zst");
  return records;
}

/// "level1/1 with N=37": what a record is about.
inline std::string sizes_of(const GoldenRecord& record) {
  std::string text = to_string(record.task) + " with";
  for (const auto& [name, value] : record.variables) text += " " + name + "=" + to_string(value);
  return text;
}

}  // namespace kbench
