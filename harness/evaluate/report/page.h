// A report as one self-contained HTML page.
#pragma once

#include <string>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/conversations.h"

namespace kbench::report {

/// Model answers and file contents are embedded as data that the page's script shows as text.
std::string report_page(const Study& study, const Analysis& analysis,
                        const ConversationLimits& limits = {});

/// Escapes JSON for use inside a <script>: no '<', no line or paragraph separator.
std::string script_safe(std::string json);

}  // namespace kbench::report
