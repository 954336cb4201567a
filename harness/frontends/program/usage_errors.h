// Explains errors on the command line, in one sentence.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace kbench::program {

/// What CLI11 rejected, and how to correct it.
std::string explain_parse_error(const CLI::App& program, const CLI::ParseError& error);

/// Mistakes that CLI11 accepts: a flag as another flag's value, an empty value.
std::optional<std::string> find_odd_value(const CLI::App& program);

}  // namespace kbench::program
