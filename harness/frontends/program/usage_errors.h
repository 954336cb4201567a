// What is wrong with a command line, in one sentence of kbench's own.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace kbench::program {

/// "--task"; CLI11 itself has no name for an option that no help page shows.
std::string name_of(const CLI::Option& option);

/// What CLI11 could not take of the command line, and what would be right.
std::string explain_parse_error(const CLI::App& program, const CLI::ParseError& error);

/// Mistakes that CLI11 accepts: a flag as another flag's value, an empty text.
std::optional<std::string> find_odd_value(const CLI::App& program);

}  // namespace kbench::program
