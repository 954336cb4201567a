// The library's version.
#pragma once

namespace kbench {
/// "major.minor.patch"; minor changes may change results, patches never do.
const char* version();
}  // namespace kbench
