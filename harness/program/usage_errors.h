// What is wrong with a command line, in one sentence of kbench's own.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace kbench::program {

/// What CLI11 could not take of the command line, and what would be right.
std::string explain_parse_error(const CLI::App& program, const CLI::ParseError& error);

/// Mistakes that CLI11 accepts: a flag as another flag's value, an empty text.
std::optional<std::string> find_odd_value(const CLI::App& program);

}  // namespace kbench::program
