// The certificates that this build carries, as text: levels/certificates/PRESET.json.
#pragma once

#include <string_view>

#include "kbench/variables.h"

namespace kbench::levels {

/// Empty where the preset has none.
std::string_view certificate_text(Preset preset);

}  // namespace kbench::levels
