#include "harness/frontends/program/help_formatter.h"

#include <sstream>

namespace kbench::program {
namespace {

constexpr size_t kNameColumn = 30;
constexpr size_t kTextColumns = 100 - kNameColumn;

}  // namespace

std::string wrapped(const std::string& text, size_t columns) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

std::string type_of(const CLI::Option& option) {
  return option.get_type_size() == 0 ? "" : option.get_type_name();
}

std::string called(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return (parent == nullptr ? "" : called(*parent) + " ") + command.get_name();
}

HelpFormatter::HelpFormatter() {
  column_width(kNameColumn);
  label("SUBCOMMAND", "VERB");
  label("SUBCOMMANDS", "VERBS");
}

std::string HelpFormatter::default_of(const CLI::Option& option) {
  std::string text;
  if (!option.get_default_str().empty()) text += " [" + option.get_default_str() + "]";
  if (option.get_required() && !option.get_positional()) text += " (required)";
  return text;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  // The name of a positional argument says its type.
  const std::string type = option->get_positional() ? "" : type_of(*option);
  return (type.empty() ? "" : " " + type) + default_of(*option);
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), kTextColumns);
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  const std::string description = verb->get_description();
  std::ostringstream out;
  CLI::detail::format_help(out, verb->get_name(), description.substr(0, description.find('\n')),
                           get_column_width());
  return out.str();
}

}  // namespace kbench::program
