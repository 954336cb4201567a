// A report as text for a terminal, and as a JSON document.
#pragma once

#include <string>

#include "harness/evaluate/report/analysis.h"

namespace kbench::report {

/// Leaderboard, funnel, attempts, cost, swarm and comparisons; parts without content are left out.
std::string format_report(const Study& study, const Analysis& analysis);
/// The whole analysis; unknown and undefined numbers are null.
std::string report_json(const Study& study, const Analysis& analysis);

}  // namespace kbench::report
