#include "harness/frontends/program/command_pages.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <string_view>

#include "harness/frontends/program/text.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

constexpr size_t kNameColumn = 30;
constexpr size_t kTextColumns = 100 - kNameColumn;

}  // namespace

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

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  if (!is_positional) std::erase_if(options, &CLI::Option::get_positional);
  if (options.empty()) return "";
  return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
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

namespace {

/// A text that roff prints as it is. "-" is no hyphen: flags can be copied from the page.
std::string escaped(const std::string& text) {
  static const std::map<char, std::string_view> kEscapes = {
      {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
      {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}};
  std::string result;
  for (const char c : text) {
    const auto found = kEscapes.find(c);
    result += found == kEscapes.end() ? std::string(1, c) : std::string(found->second);
  }
  return result;
}

/// Lines with a first letter that begins no request, as a point would ("'" is escaped).
std::string lines_of(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result += (line.starts_with(".") ? "\\&" : "") + line + "\n";
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

/// A paragraph of any number of lines.
std::string paragraph(const std::string& text) {
  constexpr size_t kColumns = 78;
  return lines_of(wrapped(escaped(text), kColumns));
}

/// Lines as they are, without their indentation by two blanks.
std::string literal_lines(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    result += (line.starts_with("  ") ? line.substr(2) : line) + "\n";
  }
  return ".nf\n" + lines_of(escaped(result)) + ".fi\n";
}

std::string entry(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + paragraph(text);
}

std::string entry_of(const CLI::Option& option) {
  if (option.get_positional()) {
    return entry(italic(option.get_name(true)), option.get_description());
  }
  std::string head = bold(option.get_name(false, true));
  if (const std::string type = type_of(option); !type.empty()) head += " " + italic(type);
  return entry(head + escaped(HelpFormatter::default_of(option)), option.get_description());
}

std::string options_section(const CLI::App& command) {
  std::string result = ".SH OPTIONS\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) result += entry_of(*option);
  }
  for (const std::string& group : command.get_groups()) {
    std::string options;
    for (const CLI::Option* option : command.get_options()) {
      const bool here = !option->get_positional() && option->get_group() == group;
      if (here) options += entry_of(*option);
    }
    if (!options.empty())
      result += (group == "Options" ? "" : ".SS " + escaped(group) + "\n") + options;
  }
  return result;
}

std::string reference_to(const CLI::App& command) {
  return ".BR " + escaped(man_page_name(command)) + " (1)";
}

/// The date of SOURCE_DATE_EPOCH (reproducible-builds.org/specs/source-date-epoch), or nothing.
std::string source_date() {
  const char* const text = std::getenv("SOURCE_DATE_EPOCH");
  int64_t seconds = 0;
  if (text == nullptr || !read_number(text, seconds)) return "";
  const std::time_t time = seconds;
  std::tm parts{};
  char date[32];
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return std::string(date, std::strftime(date, sizeof date, "%Y-%m-%d", &parts));
}

std::string usage_of(const CLI::App& command) {
  const std::string typed = called(command);
  std::string usage = HelpFormatter().make_usage(&command, typed);
  usage = usage.substr(usage.find(typed) + typed.size());
  return ".B " + escaped(typed) + "\n" + paragraph(usage);
}

}  // namespace

std::string man_page_name(const CLI::App& command) {
  std::string name = called(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CLI::App& command, const CommandFacts& facts) {
  const Page& page = facts.pages.at(&command);
  const CLI::App* const program = command.get_parent();
  const std::vector<const CLI::App*> verbs = command.get_subcommands({});
  const std::string name = man_page_name(command);

  // Names are not hyphenated, lines not spread.
  std::string text = ".TH " + escaped(name) + " 1 \"" + source_date() + "\" \"kbench " +
                     facts.version + "\" kbench\n.nh\n.ad l\n.SH NAME\n" +
                     paragraph(name + " - " + page.summary) + ".SH SYNOPSIS\n" + usage_of(command) +
                     ".SH DESCRIPTION\n" + paragraph(page.description);
  if (!verbs.empty()) text += ".SH VERBS\n";
  for (const CLI::App* verb : verbs) {
    text += ".TP\n" + reference_to(*verb) + "\n" + paragraph(facts.pages.at(verb).summary);
  }
  text += options_section(command) + ".SH EXAMPLES\n" + literal_lines(page.examples);
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : facts.exit_codes) {
    text += entry(bold(std::to_string(code)), meaning);
  }
  if (!page.notes.empty()) text += ".SH NOTES\n";
  for (size_t i = 0; i < page.notes.size(); ++i) {
    text += (i == 0 ? "" : ".PP\n") + paragraph(page.notes[i]);
  }
  text += ".SH SEE ALSO\n";
  if (program != nullptr) return text + reference_to(*program) + "\n";
  for (const CLI::App* verb : verbs) {
    text += reference_to(*verb) + (verb == verbs.back() ? "\n" : ",\n");
  }
  return text;
}

}  // namespace kbench::program
