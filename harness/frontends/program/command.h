// The command line: the program, its verbs and what they take. CLI11 parses it; its header takes
// 6 s to compile, so only command.cc and usage_errors.cc include it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kbench::program {

/// What a value must be.
struct Check {
  /// Says what is wrong with a value; empty: nothing.
  std::function<std::string(const std::string& value)> find_mistake;
  std::string domain = "";  ///< follows the option's type in messages that name it
};

Check within(double low, double high);  ///< a number; NaN is none
Check number_from(int low, int high);
Check not_negative();
Check member_of(const std::vector<std::string>& words);

/// A flag, or an argument without a flag. A handle: copies mean the same one. The functions are
/// CLI11's of the same name.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option check(const Check& check) const;
  Option group(const std::string& name) const;  ///< its heading on the help page; "": not shown
  Option type_name(const std::string& name) const;
  Option option_text(const std::string& text) const;  ///< in place of type and default
  Option required() const;
  Option capture_default_str() const;  ///< shows the value that it has now
  Option delimiter(char delimiter) const;
  Option allow_extra_args(bool allow) const;
  Option excludes(Option other) const;
  Option needs(Option other) const;

  std::string type_name() const;

 private:
  CLI::Option* option_;
};

/// The program or one of its verbs. A handle: copies mean the same one.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  /// Binds a value, which must live until the command has run. command.cc lists the types.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& description = "") const;
  Option add_flag(const std::string& names, bool& value, const std::string& description) const;
  /// One that was added before.
  Option option(const std::string& name) const;

  /// A verb with its one-line summary, the paragraph below it on its own page, and examples.
  Command add_verb(const std::string& name, const std::string& summary,
                   const std::string& description, const std::string& examples) const;
  std::vector<Command> verbs() const;

  std::string name() const;
  bool given() const;  ///< The verb stood on the command line.
  /// The first of its own options that stood on the command line; empty: none did.
  std::string first_given_option() const;
  /// The help page.
  std::string help() const;

 private:
  CLI::App* app_;
};

/// Owns the program's command and all that is added to it.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& footer,
              const std::string& version);
  ~CommandLine();

  Command program() const { return Command(*app_); }

  /// False: --help or --version was asked for, and has been printed. Throws Error that says what is
  /// wrong, and what would be right.
  bool parse(const std::vector<std::string>& arguments);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kbench::program
