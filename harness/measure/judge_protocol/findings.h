// What a judge sends beside a result when a request asks for details: a candidate's outputs on
// inputs that the client knows, and the time of each step. Neither is a measurement, and neither
// has to do with secret inputs of a verdict that is still to come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/tensor.h"

namespace kbench::judge {

/// Elements of all outputs together that an inspection hands back at most.
inline constexpr int64_t kMostInspected = 1 << 16;

/// A candidate run three times on the same inputs: over plausible values in its outputs and
/// temporaries, over zeros, and over zeros once more. Then it runs once on other inputs.
struct Inspection {
  struct Output {
    Tensor before;    ///< what stood there before the first run
    Tensor got;       ///< by the first run
    Tensor again;     ///< by the second
    Tensor repeated;  ///< by the third: what differs from the second is a race
    Tensor other;     ///< by the fourth, on other inputs (InspectedDraws)
  };
  std::vector<Output> outputs;  ///< by output index
};

/// Median device times over a few runs with cold caches, milliseconds.
struct StepTimes {
  std::vector<double> candidate_ms;  ///< by step of dispatch; of very many the last has the rest
  std::vector<double> baseline_ms;   ///< by node of the graph that is no view, then copies if any
};

struct Findings {
  std::optional<Inspection> inspection;
  std::optional<StepTimes> times;
};

std::string to_json(const Inspection& inspection);       ///< one line
Inspection inspection_from_json(std::string_view line);  ///< throws kParse
std::string to_json(const StepTimes& times);             ///< one line
StepTimes step_times_from_json(std::string_view line);   ///< throws kParse

}  // namespace kbench::judge
