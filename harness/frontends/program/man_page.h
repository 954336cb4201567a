// The pages of --help as man pages.
#pragma once

#include <string>

#include "harness/frontends/program/page.h"

namespace kbench::program {

/// "kbench-run".
std::string man_page_name(const CLI::App& command);

/// The page of the program or of a verb in man(7)'s macros. It has the date of SOURCE_DATE_EPOCH
/// where that is set, and no other.
std::string man_page(const CLI::App& command, const CommandFacts& facts);

}  // namespace kbench::program
