#include "harness/frontends/program/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "harness/frontends/program/help_formatter.h"
#include "harness/frontends/program/value_words.h"

namespace kbench::program {
namespace {

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }
bool takes_many(const CLI::Option& option) { return option.get_expected_max() > 1; }

/// A command line, read as far as it goes; what is wrong with it is not of interest.
class Reading {
 public:
  Reading(const CLI::App& program, const CommandFacts& facts, const std::vector<std::string>& words)
      : command_(&program), facts_(facts) {
    for (size_t i = 0; i + 1 < words.size(); ++i) read(words[i]);
    if (!words.empty()) begun_ = words.back();
  }

  std::string completed() {
    const bool flag = begun_.starts_with("-") && !only_arguments_;
    const size_t equals = begun_.find('=');
    if (flag && equals != begun_.npos) {
      if (const CLI::Option* option = option_named(begun_.substr(0, equals))) {
        stays_ = begun_.substr(0, equals + 1);
        complete_value(*option);
      }
    } else if (open_ != nullptr && !(flag && open_read_)) {
      complete_value(*open_);
    } else if (flag) {
      complete_flag();
    } else {
      complete_argument();
      if (offered_.words.empty() && offered_.paths == Paths::none && begun_.empty()) {
        complete_flag();
      }
    }
    return lines();
  }

 private:
  const CLI::Option* option_named(const std::string& name) const {
    return name.starts_with("-") ? command_->get_option_no_throw(name) : nullptr;
  }

  void read(const std::string& word) {
    const bool flag = word.starts_with("-") && !only_arguments_;
    if (open_ != nullptr && !(flag && open_read_)) {
      open_read_ = true;
      if (!takes_many(*open_) || !open_->get_allow_extra_args()) open_ = nullptr;
      return;
    }
    open_ = nullptr;
    if (word == "--") {
      only_arguments_ = true;
    } else if (flag) {
      const size_t equals = word.find('=');
      const CLI::Option* const option = option_named(word.substr(0, equals));
      if (option == nullptr) return;
      given_.insert(option);
      if (takes_value(*option) && equals == word.npos) {
        open_ = option;
        open_read_ = false;
      }
    } else if (const CLI::App* const verb = verb_named(word)) {
      command_ = verb;
      given_.clear();
    } else {
      ++arguments_;
    }
  }

  const CLI::App* verb_named(const std::string& name) const {
    if (!given_.empty() || arguments_ > 0) return nullptr;  // verbs come first
    const auto found =
        command_->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
    return found.empty() ? nullptr : found.front();
  }

  void complete_flag() {
    for (const CLI::Option* option : command_->get_options()) {
      const auto excludes = option->get_excludes();
      const bool excluded = std::ranges::any_of(
          excludes, [&](const CLI::Option* other) { return given_.contains(other); });
      const bool again = given_.contains(option) && !takes_many(*option);
      if (option->get_group().empty() || excluded || again) continue;
      for (const std::string& name : option->get_lnames()) {
        if (!("--" + name).starts_with(begun_)) continue;
        offered_.words.push_back({"--" + name, option->get_description()});
        break;  // one name of several
      }
    }
  }

  void complete_argument() {
    if (given_.empty() && arguments_ == 0) complete_verb(*command_);
    const auto arguments =
        command_->get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (arguments.empty()) return;
    const CLI::Option& last = *arguments.back();
    if (arguments_ < arguments.size()) {
      complete_value(*arguments[arguments_]);
    } else if (takes_many(last)) {
      complete_value(last);
    }
  }

  void complete_verb(const CLI::App& program) {
    for (const CLI::App* verb : program.get_subcommands({})) {
      offered_.words.push_back({verb->get_name(), facts_.pages.at(verb).summary});
    }
  }

  void complete_value(const CLI::Option& option) {
    std::string type = type_of(option);
    if (option.get_positional() && type == "TEXT") type = option.get_name(true);
    std::string value = begun_.substr(stays_.size());
    if (const size_t dots = type.find("..."); dots != type.npos) {
      const bool list = dots > 0 && type[dots - 1] == ',';
      type.erase(list ? dots - 1 : dots);
      const size_t comma = list ? value.rfind(',') : value.npos;
      if (comma != value.npos) {
        stays_ += value.substr(0, comma + 1);
        value.erase(0, comma + 1);
      }
    }
    if (const auto words = facts_.words.find(&option); words != facts_.words.end()) {
      for (const std::string& word : words->second) offered_.words.push_back({word});
    } else if (type == "VERB" && arguments_ == 0) {
      complete_verb(*command_->get_parent());
    } else {
      offered_ = words_of_type(type, value);
    }
  }

  std::string lines() const {
    constexpr const char* kPaths[] = {"none", "folders", "files"};
    std::string text = std::string(kPaths[static_cast<int>(offered_.paths)]) + "\t" + stays_ + "\n";
    for (const Word& word : offered_.words) {
      if (!(stays_ + word.text).starts_with(begun_)) continue;
      text += word.text + "\t" + wrapped(word.meaning, std::string::npos) + "\n";
    }
    return text;
  }

  const CLI::App* command_;
  const CommandFacts& facts_;
  std::set<const CLI::Option*> given_;
  const CLI::Option* open_ = nullptr;  ///< takes the next word
  bool open_read_ = false;             ///< and has taken one
  bool only_arguments_ = false;        ///< behind "--"
  size_t arguments_ = 0;               ///< words that are neither flags nor their values
  std::string begun_;                  ///< the word to complete
  std::string stays_;
  ValueWords offered_;
};

}  // namespace

std::string completion_of(const CLI::App& program, const CommandFacts& facts,
                          const std::vector<std::string>& words) {
  return Reading(program, facts, words).completed();
}

}  // namespace kbench::program
