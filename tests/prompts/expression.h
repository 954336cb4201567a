// The little of Python that listings use: integers, texts, lists, + - * // **, indexing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kbench::test {

struct PythonValue {
  enum class Kind { integer, text, list };
  Kind kind = Kind::integer;
  int64_t integer = 0;
  std::string text;
  std::vector<PythonValue> list;
};

/// Throws std::runtime_error for what it cannot read.
PythonValue evaluate_python(const std::string& text,
                            const std::map<std::string, PythonValue>& names);

}  // namespace kbench::test
