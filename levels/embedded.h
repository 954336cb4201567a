// Files that this build carries as text.
#pragma once

#include <string_view>

namespace kbench::levels {

/// levels/certificates/FILE, "smoke.json" or "smoke.f16.json"; empty where there is none.
std::string_view certificate_text(std::string_view file);
/// levels/tolerances/FILE, "f16.json"; empty where there is none.
std::string_view tolerance_text(std::string_view file);
/// levels/sizes/FILE, "train.json"; empty where there is none.
std::string_view size_text(std::string_view file);

}  // namespace kbench::levels
