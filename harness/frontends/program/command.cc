#include "harness/frontends/program/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "harness/frontends/program/command_pages.h"
#include "harness/frontends/program/text.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

/// The words that a value can be.
std::vector<std::string> words_of(const CLI::Option& option, const CommandFacts& facts) {
  if (const auto known = facts.words.find(&option); known != facts.words.end()) {
    return known->second;
  }
  const std::string type = option.get_positional() ? option.get_name(true) : type_of(option);
  std::vector<std::string> words;
  if (type.find("PRESET") != type.npos) words = names_to(Preset::v0_1);
  if (type.find("TASK") == type.npos) return words;
  for (const Task& task : tasks()) words.push_back(to_string(task.id));
  return words;
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

Check number_from(int low, int high) {
  const auto check = [low, high](const std::string& text) -> std::string {
    int64_t value = 0;
    if (read_number(text, value) && value >= low && value <= high) return "";
    return "'" + shown(text) + "' is not a whole number from " + std::to_string(low) + " to " +
           std::to_string(high);
  };
  return {check};
}

Check member_of(std::vector<std::string> words) {
  const auto check = [words](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return "'" + shown(text) + "' is none of " + listed(words, std::identity()) +
           suggestion(text, words);
  };
  return {.find_mistake = check, .words = words};
}

Option Option::check(const Check& check) const {
  option_->check(CLI::Validator(
      [find_mistake = check.find_mistake](std::string& value) { return find_mistake(value); }, ""));
  if (!check.words.empty()) facts_->words[option_] = check.words;
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::comma_separated() const {
  option_->delimiter(',')->allow_extra_args(false);
  return *this;
}

Option Option::allow_extra_args(bool allow) const {
  option_->allow_extra_args(allow);
  return *this;
}

Option Option::excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

bool Option::given() const { return option_->count() > 0; }

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
  const Option added(*option, *facts_);
  return check.find_mistake ? added.check(check) : added;
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
  return Option(*option, *facts_);
}

Option Command::add_flag(const std::string& name, std::string& value,
                         const std::string& description, const Check& check) const {
  CLI::Option* const option = app_->add_flag(name, value, description);
  if (!group_.empty()) option->group(group_);
  return Option(*option, *facts_).check(check);
}

Option Command::option(const std::string& name) const {
  return Option(*app_->get_option(name), *facts_);
}

Command Command::add_verb(const std::string& name, const std::string& summary,
                          const std::string& description, const std::string& examples) const {
  CLI::App* const verb =
      app_->add_subcommand(name, summary + ".\n\n" + wrapped(description) + "\n");
  verb->group("Verbs");
  verb->footer("\nExamples:\n" + examples);
  facts_->pages[verb] = {summary, description, examples};
  return Command(*verb, *facts_);
}

std::vector<Command> Command::verbs() const {
  std::vector<Command> all;
  for (CLI::App* verb : app_->get_subcommands(nullptr)) all.emplace_back(*verb, *facts_);
  return all;
}

void Command::needs_verb() const { app_->require_subcommand(1); }

std::string Command::name() const { return app_->get_name(); }

std::string Command::typed() const { return called(*app_); }

bool Command::given() const { return app_->parsed(); }

std::string Command::first_given_option() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

std::string Command::help() const {
  // CLI11's help() would print the page of a parsed verb.
  return app_->get_formatter()->make_help(app_, called(*app_), CLI::AppFormatMode::Normal);
}

std::string Command::man_page() const { return program::man_page(*app_, *facts_); }

std::string Command::man_page_name() const { return program::man_page_name(*app_); }

CommandLine::CommandLine(const std::string& name, const Page& page,
                         const std::vector<ExitCode>& exit_codes, const std::string& version)
    : app_(std::make_unique<CLI::App>(page.summary + ".\n\n" + wrapped(page.description) + "\n",
                                      name)),
      facts_(
          std::make_unique<CommandFacts>(CommandFacts{version, exit_codes, {{app_.get(), page}}})) {
  std::string footer = "\nExamples:\n" + page.examples, codes;
  for (const std::string& note : page.notes) footer += "\n\n" + wrapped(note);
  for (const auto& [code, meaning] : exit_codes) {
    codes += (codes.empty() ? "Exit codes: " : "; ") + std::to_string(code) + " " + meaning;
  }
  app_->footer(footer + "\n\n" + wrapped(codes + "."));
  app_->set_version_flag("--version", name + " " + version);
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

std::string CommandLine::complete(const std::vector<std::string>& words) const {
  const std::string begun = words.empty() ? "" : words.back();
  const CLI::App* command = app_.get();
  size_t behind = 0;  // the first word behind the verbs
  while (behind + 1 < words.size()) {
    const auto named = command->get_subcommands(
        [&](const CLI::App* verb) { return verb->get_name() == words[behind]; });
    if (named.empty()) break;
    command = named.front();
    ++behind;
  }
  std::string lines;
  const auto offer = [&](const std::string& word, const std::string& meaning) {
    if (word.starts_with(begun)) lines += word + "\t" + wrapped(meaning, meaning.npos) + "\n";
  };
  const auto offer_verbs = [&](const CLI::App& of) {
    for (const CLI::App* verb : of.get_subcommands({})) {
      offer(verb->get_name(), facts_->pages.at(verb).summary);
    }
  };
  const auto offer_values = [&](const CLI::Option& option) {
    for (const std::string& word : words_of(option, *facts_)) offer(word, "");
    if (option.get_name(true) == "VERB") offer_verbs(*app_);
  };
  const std::string before = words.size() > 1 ? words[words.size() - 2] : "";
  const CLI::Option* const open =
      before.starts_with("--") ? command->get_option_no_throw(before) : nullptr;
  if (open != nullptr && open->get_expected_max() > 0) {
    offer_values(*open);
  } else if (begun.starts_with("-")) {
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_lnames().empty() && !option->get_positional()) {
        offer("--" + option->get_lnames().front(), option->get_description());
      }
    }
  } else {
    if (behind + 1 >= words.size()) offer_verbs(*command);
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) offer_values(*option);
    }
  }
  return lines;
}

}  // namespace kbench::program
