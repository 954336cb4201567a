// A report as one self-contained HTML page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/conversations.h"

namespace kbench::report {

/// Model answers and file contents are embedded as data that the page's script shows as text.
std::string report_page(const Study& study, const Analysis& analysis,
                        const ConversationLimits& limits = {});

/// Escapes JSON for use inside a <script>: no '<', no line or paragraph separator.
std::string script_safe(std::string json);

/// The files of page/, embedded at build time.
extern const std::string_view kPageHtml, kPageStyle, kPageScript;

/// The mark in a cell of the grid: an attempt's outcome, readable without colour.
struct Mark {
  std::string_view name;  ///< of the verdict or outcome
  std::string_view text;  ///< at most five letters; empty: the speedup is shown
  std::string_view kind;  ///< "pass", "bad", or "none" if it says nothing about the model
  std::string_view meaning;
};

/// All marks, by how far the attempt came, the least first. A cell shows the last of its failures.
const std::vector<Mark>& marks();
/// Index into marks().
size_t mark_of(const AttemptRow& row);

}  // namespace kbench::report
