// The tables of a report, for a terminal and for the page, and its JSON document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/evaluate/report/analysis.h"

namespace kbench::report {

using Json = nlohmann::ordered_json;

struct Table {
  std::string title;                           ///< shown on the page
  std::vector<std::vector<std::string>> rows;  ///< the first heads the columns; rows may be shorter
  std::string note = {};                       ///< one line below it
};

/// How many models, tasks and attempts, and where they were judged, in one line.
std::string heading(const Study& study, const Analysis& analysis);
/// Leaderboard, funnel, attempts, cost, swarm and comparisons; those without content are left out.
std::vector<Table> tables(const Study& study, const Analysis& analysis);
/// What scores rest on, where there is something to say; a line each.
std::vector<std::string> remarks(const Study& study, const Analysis& analysis);
/// All of these as text.
std::string format_report(const Study& study, const Analysis& analysis);

/// The whole analysis; unknown and undefined numbers are null.
std::string report_json(const Study& study, const Analysis& analysis);
/// The speedup measured again, 0 where it did not pass; null where it was not.
Json confirmed_json(const Winner& winner);

}  // namespace kbench::report
