// A report as text for a terminal, and as one JSON document.
#pragma once

#include <string>

#include "harness/evaluate/report/analysis.h"

namespace kbench::report {

/// Leaderboard, funnel, attempts, cost, swarm and comparisons, as far as there is something to say.
std::string format_report(const Study& study, const Analysis& analysis);
/// Everything of the analysis; an unknown or undefined number is null.
std::string report_json(const Study& study, const Analysis& analysis);

}  // namespace kbench::report
