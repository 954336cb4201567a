// What command.cc has of CLI11, which this includes: pages of help and of the manual, and errors.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/frontends/program/command.h"

namespace kbench::program {

/// "--devices all|DEVICE,...": what stands behind the name; empty for a flag.
std::string type_of(const CLI::Option& option);

/// As it is typed: "kbench", "kbench model prompt".
std::string called(const CLI::App& command);

/// Help pages within 100 columns: defaults in brackets, and the first line of each verb.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  /// What stands behind an option's type: " [auto]", " (required)".
  static std::string default_of(const CLI::Option& option);
  /// Without an argument that may be given behind a flag, too: it stands among the arguments.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
};

/// "kbench-run".
std::string man_page_name(const CLI::App& command);
/// The page of the program or of a verb in man(7)'s macros. It has the date of SOURCE_DATE_EPOCH
/// where that is set, and no other.
std::string man_page(const CLI::App& command, const CommandFacts& facts);

/// What CLI11 rejected, and how to correct it, in one sentence (usage_errors.cc).
std::string explain_parse_error(const CLI::App& program, const CLI::ParseError& error);
/// Mistakes that CLI11 accepts: a flag as another flag's value, an empty value (usage_errors.cc).
std::optional<std::string> find_odd_value(const CLI::App& program);

}  // namespace kbench::program
