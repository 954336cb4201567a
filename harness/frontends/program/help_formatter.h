// How help pages look. Includes CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace kbench::program {

constexpr size_t kPageColumns = 98;

/// The words of a text in lines of at most so many columns.
std::string wrapped(const std::string& text, size_t columns = kPageColumns);

/// "--devices all|DEVICE,...": what stands behind the name; empty for a flag.
std::string type_of(const CLI::Option& option);

/// Help pages within 100 columns: defaults in brackets, and the first
/// line of each verb.
/// As it is typed: "kbench", "kbench model prompt".
std::string called(const CLI::App& command);

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  /// What stands behind an option's type: " [auto]", " (required)".
  static std::string default_of(const CLI::Option& option);
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
};

}  // namespace kbench::program
