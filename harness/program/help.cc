#include "harness/program/help.h"

#include <sstream>

namespace kbench::program {
namespace {

constexpr size_t kNameColumn = 30;
constexpr size_t kTextColumns = 100 - kNameColumn;

std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kTextColumns) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNameColumn); }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    std::string text = option->get_type_size() == 0 ? "" : " " + type.substr(0, type.find(':'));
    if (option->get_positional()) text.clear();  // Its name says it.
    if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
    if (option->get_required() && !option->get_positional()) text += " (required)";
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description());
  }

  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string description = verb->get_description();
    std::ostringstream out;
    CLI::detail::format_help(out, verb->get_name(), description.substr(0, description.find('\n')),
                             get_column_width());
    return out.str();
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("SUBCOMMAND", "VERB");
  formatter->label("SUBCOMMANDS", "VERBS");
  return formatter;
}

CLI::App* add_verb(CLI::App& program, const std::string& name, const std::string& summary,
                   const std::string& description, const std::string& examples) {
  CLI::App* verb = program.add_subcommand(name, summary + ".\n\n" + description + "\n");
  verb->group("Verbs");
  verb->footer("\nExamples:\n" + examples);
  return verb;
}

}  // namespace kbench::program
