// Numbers of a report as JSON, for --json and for the page.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/evaluate/report/analysis.h"

namespace kbench::report {

using Json = nlohmann::ordered_json;

Json json_of(const Interval& interval);
Json json_of(const Score& score);
/// The speedup measured again, 0 where it did not pass; null where it was not.
Json confirmed_json(const Winner& winner);
Json json_of(const ModelReport& model, const Study& study, const Analysis& analysis);
Json json_of(const Swarm& swarm, const Analysis& analysis);
Json json_of(const std::vector<PairedComparison>& comparisons, const Analysis& analysis);

}  // namespace kbench::report
