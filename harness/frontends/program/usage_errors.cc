#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <vector>

#include "harness/frontends/program/command_pages.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

const CLI::App& verb_of(const CLI::App& program) {
  const auto parsed = program.get_subcommands();
  return parsed.empty() ? program : verb_of(*parsed.back());
}

std::string in_quotes(const std::string& text) { return "'" + shown(text, 100) + "'"; }

/// Whether it takes no value.
bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

/// "--task TASK,...".
std::string usage_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  return option.get_name() + (is_flag(option) ? "" : " " + option.get_type_name());
}

/// The option that a message of CLI11 begins with or names.
const CLI::Option* option_in(const CLI::App& verb, const std::string& message) {
  const CLI::Option* found = nullptr;
  size_t best = message.npos;
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const size_t at = name.empty() ? name.npos : message.find(name);
    if (at == message.npos) continue;
    const size_t end = at + name.size();
    const bool whole = (at == 0 || message[at - 1] == ' ') &&
                       (end == message.size() || message[end] == ' ' || message[end] == ':');
    if (whole && at < best) {
      best = at;
      found = option;
    }
  }
  return found;
}

/// "; did you mean '--task'?", from the flags that the help shows.
std::string flag_suggestion(const CLI::App& verb, const std::string& wrong) {
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  return suggestion(wrong.substr(0, wrong.find('=')), known);
}

/// "; run, serve have it", of the verbs that have the flag; empty where none has.
std::string verbs_that_have(const CLI::App& program, const std::string& wrong) {
  const std::string flag = wrong.substr(0, wrong.find('='));
  std::vector<std::string> verbs;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) {
    if (verb->get_option_no_throw(flag) != nullptr) verbs.push_back(verb->get_name());
  }
  if (verbs.empty()) return "";
  return "; " + listed(verbs, std::identity()) + (verbs.size() == 1 ? " has it" : " have it");
}

bool is_task(const std::string& text) {
  try {
    named_task(text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// "model prompt", as a message says it.
std::string words_of(const CLI::App& verb) {
  const std::string words = called(verb);
  return words.substr(words.find(' ') + 1);
}

/// "extract, prompt", the verbs of a verb.
std::string verbs_of(const CLI::App& verb) {
  return listed(verb.get_subcommands(nullptr),
                [](const CLI::App* each) { return each->get_name(); });
}

/// Explains a first argument that is no verb.
std::string unknown_verb(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands(nullptr)) names.push_back(verb->get_name());
  const std::string meant = suggestion(word, names);
  std::string message = "unknown verb " + in_quotes(word);
  std::error_code ignored;
  if (!meant.empty()) return message + meant;
  if (std::filesystem::is_directory(word, ignored)) {
    if (candidate_files(word).empty()) return message + ": it is a folder without candidates";
    return message + ": it is a folder; `kbench run " + shown(word) +
           "` evaluates the candidates in it";
  }
  if (std::filesystem::exists(word, ignored)) {
    return message + ": it is a file; `kbench run " + shown(word) + "` evaluates a candidate";
  }
  if (is_task(word)) return message + ": it is a task; `kbench show " + word + "` shows it";
  message += "; verbs:";
  for (const std::string& name : names) message += " " + name;
  return message;
}

bool has_unknown_flag(const CLI::App& program) {
  const std::vector<std::string> extra = program.remaining(/*recurse=*/true);
  return !extra.empty() && extra.front().starts_with("-");
}

/// Explains a word in the place of one of a verb's own verbs; empty if there is none.
std::string unknown_verb_of(const CLI::App& program, const CLI::App& verb) {
  const std::vector<std::string> extra = program.remaining(/*recurse=*/true);
  if (extra.empty() || verb.get_subcommands(nullptr).empty()) return "";
  return words_of(verb) + " has no verb " + in_quotes(extra.front()) + "; it has " + verbs_of(verb);
}

std::string unexpected_word(const CLI::App& program, const CLI::App& verb) {
  const std::vector<std::string> extra = program.remaining(/*recurse=*/true);
  const std::string word = extra.empty() ? "" : extra.front();
  if (word.starts_with("-")) {
    const bool placed = word.size() > 2 && word[1] != '-' && verb.get_option_no_throw("-" + word);
    const std::string elsewhere = verbs_that_have(program, word);
    return (elsewhere.empty() ? "unknown flag " : called(verb) + " has no flag ") +
           in_quotes(word) +
           (placed               ? "; did you mean '-" + word + "'?"
            : !elsewhere.empty() ? elsewhere
                                 : flag_suggestion(verb, word));
  }
  if (&verb == &program) return unknown_verb(program, word);
  if (const std::string text = unknown_verb_of(program, verb); !text.empty()) return text;
  return "unexpected argument " + in_quotes(word);
}

/// "--task takes a value: TASK,...".
std::string wrong_count(const CLI::App& verb, const std::string& message) {
  const CLI::Option* const option = option_in(verb, message);
  if (option == nullptr) return "a flag has too few or too many values";
  const std::string name = "'" + option->get_name() + "'";
  if (is_flag(*option)) return name + " takes no value";
  if (message.find("At Most") != message.npos) return name + " is given twice; give it once";
  return name + " lacks its value: " + usage_of(*option);
}

/// A failed check of a value; a positional argument's name is left out.
std::string bad_value(const CLI::App& verb, const std::string& message) {
  const CLI::Option* const option = option_in(verb, message);
  const std::string name = option == nullptr ? "" : option->get_name() + ": ";
  const bool named = option == nullptr || !option->get_positional() || !message.starts_with(name);
  return named ? message : message.substr(name.size());
}

std::string wrong_value(const CLI::App& verb, const std::string& message) {
  const CLI::Option* const option = option_in(verb, message);
  if (option == nullptr) return "a value cannot be read";
  const std::string value = option->results().empty() ? "" : option->results().front();
  if (is_flag(*option)) {
    return "'" + option->get_name() + "' takes no value, and was given " + in_quotes(value);
  }
  return usage_of(*option) + " does not take " + in_quotes(value);
}

std::string lacking(const CLI::App& program, const CLI::App& verb, const std::string& message) {
  const CLI::Option* const option = option_in(verb, message);
  if (const std::string text = unknown_verb_of(program, verb); !text.empty()) return text;
  if (option == nullptr) return words_of(verb) + " needs a verb: " + verbs_of(verb);
  std::string what = option->get_description();
  if (!what.empty() && what.size() > 1 &&
      (std::islower(static_cast<unsigned char>(what[1])) != 0 || what[1] == ' ')) {
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  }
  return words_of(verb) + " needs " + usage_of(*option) + (what.empty() ? "" : " (" + what + ")");
}

/// "'--tokens' goes with '--http'", from a message with two options around `between`.
std::string of_two(const std::string& message, const std::string& between,
                   const std::string& instead) {
  const size_t at = message.find(between);
  if (at == message.npos) return message;
  return "'" + message.substr(0, at) + "'" + instead + "'" + message.substr(at + between.size()) +
         "'";
}

}  // namespace

std::optional<std::string> find_odd_value(const CLI::App& program) {
  const CLI::App& verb = verb_of(program);
  for (const CLI::Option* option : verb.get_options()) {
    if (is_flag(*option)) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) {
        return "'" + option->get_name(option->get_positional()) + "' is given an empty text" +
               (option->get_positional() ? "" : ": " + usage_of(*option));
      }
      const std::string flag = value.substr(0, value.find('='));
      if (flag.starts_with("--") && verb.get_option_no_throw(flag) != nullptr) {
        return "'" + option->get_name() + "' lacks its value: " + usage_of(*option) + ", and '" +
               flag + "' is a flag";
      }
    }
  }
  return std::nullopt;
}

std::string explain_parse_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& verb = verb_of(program);
  const std::string said = error.what();
  std::string message = said;
  if (const auto odd = find_odd_value(program)) {
    message = *odd;
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
             has_unknown_flag(program)) {
    message = unexpected_word(program, verb);
  } else if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    message = bad_value(verb, said);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    message = wrong_count(verb, said);
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    message = wrong_value(verb, said);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    message = lacking(program, verb, said);
  } else if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    message = of_two(said, " requires ", " goes with ");
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    message = of_two(said, " excludes ", " cannot go with ");
  }
  return message + "; see " + called(verb) + " --help";
}

}  // namespace kbench::program
