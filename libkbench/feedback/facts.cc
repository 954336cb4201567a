#include <cmath>
#include <cstdio>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {

Facts facts_of(const Result& result, const Candidate* candidate, const Evidence& evidence) {
  Facts facts{result, candidate, evidence, nullptr, std::nullopt};
  if (lookup_task(result.task) == nullptr || result.preset.empty()) return facts;
  try {
    facts.graph = build_graph(result);
    if (candidate && !candidate->torch) facts.resolved = resolve(*candidate, *facts.graph);
  } catch (const Error&) {  // the result says what is wrong
    return facts;
  }
  return facts;
}

std::string short_number(double value) { return digits_text(value, 4); }

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, units[unit]);
  return text;
}

std::string sizes_text(const Variables& variables) {
  return listed(variables, [](const auto& variable) {
    return variable.first + " = " + to_string(variable.second);
  });
}

}  // namespace kbench
