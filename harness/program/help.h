// How help pages look.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace kbench::program {

/// Plain pages within 100 columns: an option's type without its checks, defaults in brackets, and
/// of each verb its first line.
std::shared_ptr<CLI::FormatterBase> make_help_formatter();

/// A verb with its one-line summary, the paragraph below it on its own page, and examples.
CLI::App* add_verb(CLI::App& program, const std::string& name, const std::string& summary,
                   const std::string& description, const std::string& examples);

}  // namespace kbench::program
