// A report as one HTML page that needs nothing else: no network, no second file.
#pragma once

#include <string>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/conversations.h"

namespace kbench::report {

/// Texts from outside stand in it as data, which its script shows as text.
std::string report_page(const Study& study, const Analysis& analysis,
                        const ConversationLimits& limits = {});

/// JSON as it may stand inside of a <script>: no '<', no line or paragraph separator.
std::string script_safe(std::string json);

}  // namespace kbench::report
