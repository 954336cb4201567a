// The files of page/, embedded at build time.
#pragma once

#include <string_view>

namespace kbench::report {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;

}  // namespace kbench::report
