// Completes a command line for a shell. The shells' own files, in completions/, only ask.
#pragma once

#include <string>
#include <vector>

#include "harness/frontends/program/page.h"

namespace kbench::program {

/// The program's first argument when a shell asks: `kbench complete-words WORD...`.
inline constexpr char kCompleteWords[] = "complete-words";

/// `words`: those behind the program's name, up to the cursor; the last is the one to complete and
/// may be empty. Returns lines. The first says what the shell completes too (none, folders or
/// files), and behind a tab what of the word stays, as "--task=relu," does. Each other line is an
/// end of the word, and behind a tab what it means.
std::string completion_of(const CLI::App& program, const CommandFacts& facts,
                          const std::vector<std::string>& words);

}  // namespace kbench::program
