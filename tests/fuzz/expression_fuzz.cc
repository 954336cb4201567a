// Expressions over shape variables.
#include <cmath>
#include <map>

#include "kbench/candidate.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const std::map<std::string, double> names = {
      {"height", 65}, {"width", 33}, {"TILE", 16}, {"slope", 0.25}, {"huge", 9007199254740991.0}};
  const Sourced expression{fuzz::text_of(data, size), {"candidate.yaml", 1, 1}};
  fuzz::succeeds([&] {
    const int64_t value = evaluate_integer(expression, names);
    fuzz::promise(std::abs(static_cast<double>(value)) < 9007199254740992.0,
                  "an integer expression is below 2^53");
  });
  fuzz::succeeds([&] {
    fuzz::promise(std::isfinite(evaluate_real(expression, names)), "a real expression is finite");
  });
  return 0;
}
