// Files that this build carries as text.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace kbench::levels {

/// levels/certificates/FILE, "smoke.json" or "smoke.f16.json"; empty where there is none.
std::string_view certificate_text(std::string_view file);
/// levels/tolerances/FILE, "f16.json"; empty where there is none.
std::string_view tolerance_text(std::string_view file);
/// levels/sizes/FILE, "train.json" or "init_inputs.json"; empty where there is none.
std::string_view size_text(std::string_view file);

// --- the known rewritings: levels/algebra/*.yaml, and results.jsonl with what was measured of them
/// File name and text of each.
std::span<const std::pair<std::string_view, std::string_view>> algebra_candidates();
/// Results, one a line.
std::string_view algebra_results();

}  // namespace kbench::levels
