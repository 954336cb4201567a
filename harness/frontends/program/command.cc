#include "harness/frontends/program/command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <sstream>

#include "harness/frontends/program/text.h"
#include "harness/frontends/program/usage_errors.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::program {
namespace {

constexpr size_t kNameColumn = 30;
constexpr size_t kTextColumns = 100 - kNameColumn, kPageColumns = 98;

std::string wrapped(const std::string& text, size_t columns = kTextColumns) {
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

/// Help pages within 100 columns: types without their checks, defaults in brackets, and the first
/// line of each verb.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kNameColumn);
    label("SUBCOMMAND", "VERB");
    label("SUBCOMMANDS", "VERBS");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    std::string text = option->get_type_size() == 0 ? "" : " " + type.substr(0, type.find(':'));
    if (option->get_positional()) text.clear();  // its name says it
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

Check check_by(const CLI::Validator& validator) {
  return {[validator](const std::string& value) { return validator(value); },
          validator.get_description()};
}

}  // namespace

Check within(double low, double high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    double value = 0;
    // Written so that NaN fails too.
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
    return "'" + shown(text) + "' is not a number from " + format_number(low, 7) + " to " +
           format_number(high, 7);
  };
  return {check};
}

Check number_from(int low, int high) { return check_by(CLI::Range(low, high)); }

Check not_negative() { return check_by(CLI::NonNegativeNumber); }

Check member_of(const std::vector<std::string>& words) { return check_by(CLI::IsMember(words)); }

Option Option::check(const Check& check) const {
  return Option(*option_->check(CLI::Validator(
      [find_mistake = check.find_mistake](std::string& value) { return find_mistake(value); },
      check.domain)));
}

Option Option::group(const std::string& name) const { return Option(*option_->group(name)); }

Option Option::type_name(const std::string& name) const {
  return Option(*option_->type_name(name));
}

Option Option::option_text(const std::string& text) const {
  return Option(*option_->option_text(text));
}

Option Option::required() const { return Option(*option_->required()); }

Option Option::comma_separated() const {
  return Option(*option_->delimiter(',')->allow_extra_args(false));
}

Option Option::allow_extra_args(bool allow) const {
  return Option(*option_->allow_extra_args(allow));
}

Option Option::excludes(Option other) const { return Option(*option_->excludes(other.option_)); }

Option Option::needs(Option other) const { return Option(*option_->needs(other.option_)); }

bool Option::given() const { return option_->count() > 0; }

std::string Option::type_name() const { return option_->get_type_name(); }

Command Command::in_group(const std::string& name) const {
  Command grouped = *this;
  grouped.group_ = name;
  return grouped;
}

template <class T>
Option Command::add_option(const std::string& form, T& value, const std::string& description,
                           const Check& check) const {
  const size_t blank = form.find(' ');
  CLI::Option* const option = app_->add_option(form.substr(0, blank), value, description);
  if (blank != form.npos) option->type_name(form.substr(blank + 1));
  if (!group_.empty()) option->group(group_);
  return check.find_mistake ? Option(*option).check(check) : Option(*option);
}

template <class T>
Option Command::add_setting(const std::string& form, T& value, const std::string& description,
                            const Check& check) const {
  const Option option = add_option(form, value, description, check);
  option.option_->capture_default_str();
  return option;
}

// The types that options can bind.
#define KBENCH_OPTION_OF(...)                                                                \
  template Option Command::add_option(const std::string&, __VA_ARGS__&, const std::string&,  \
                                      const Check&) const;                                   \
  template Option Command::add_setting(const std::string&, __VA_ARGS__&, const std::string&, \
                                       const Check&) const
KBENCH_OPTION_OF(int);
KBENCH_OPTION_OF(uint64_t);
KBENCH_OPTION_OF(double);
KBENCH_OPTION_OF(std::string);
KBENCH_OPTION_OF(std::optional<double>);
KBENCH_OPTION_OF(std::optional<int64_t>);
KBENCH_OPTION_OF(std::optional<uint64_t>);
KBENCH_OPTION_OF(std::optional<std::string>);
KBENCH_OPTION_OF(std::vector<int>);
KBENCH_OPTION_OF(std::vector<double>);
KBENCH_OPTION_OF(std::vector<std::string>);
#undef KBENCH_OPTION_OF

Option Command::add_flag(const std::string& names, bool& value,
                         const std::string& description) const {
  CLI::Option* const option = app_->add_flag(names, value, description);
  if (!group_.empty()) option->group(group_);
  return Option(*option);
}

Option Command::option(const std::string& name) const { return Option(*app_->get_option(name)); }

Command Command::add_verb(const std::string& name, const std::string& summary,
                          const std::string& description, const std::string& examples) const {
  CLI::App* const verb =
      app_->add_subcommand(name, summary + ".\n\n" + wrapped(description, kPageColumns) + "\n");
  verb->group("Verbs");
  verb->footer("\nExamples:\n" + examples);
  return Command(*verb);
}

std::vector<Command> Command::verbs() const {
  std::vector<Command> all;
  for (CLI::App* verb : app_->get_subcommands(nullptr)) all.emplace_back(*verb);
  return all;
}

std::string Command::name() const { return app_->get_name(); }

bool Command::given() const { return app_->parsed(); }

std::string Command::first_given_option() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) return name_of(*option);
  }
  return "";
}

std::string Command::help() const {
  const CLI::App* const program = app_->get_parent();
  if (program != nullptr) return app_->help(program->get_name());
  // CLI11's help() would print the page of the parsed verb.
  return app_->get_formatter()->make_help(app_, app_->get_name(), CLI::AppFormatMode::Normal);
}

CommandLine::CommandLine(const std::string& description, const std::string& footer,
                         const std::string& version)
    : app_(std::make_unique<CLI::App>(description, "kbench")) {
  app_->footer(footer);
  app_->set_version_flag("--version", version);
  app_->require_subcommand(0, 1);
  app_->formatter(std::make_shared<HelpFormatter>());
}

CommandLine::~CommandLine() = default;

bool CommandLine::parse(const std::vector<std::string>& arguments) {
  try {
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& e) {  // --help, --version
    app_->exit(e);
    return false;
  } catch (const CLI::ParseError& e) {
    throw Error(ErrorCode::kInvalidArgument, explain_parse_error(*app_, e));
  }
  if (const auto odd = find_odd_value(*app_)) throw Error(ErrorCode::kInvalidArgument, *odd);
  return true;
}

}  // namespace kbench::program
