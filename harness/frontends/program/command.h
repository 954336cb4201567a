// The command line: the program, its verbs and what they take. CLI11 parses it; its header takes
// 6 s to compile, so it is included only where its types are needed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kbench::program {

/// The texts of the page of the program or of a verb; the rest is its options.
struct Page {
  std::string summary;  ///< a line, without a full stop
  std::string description;
  std::string examples;                 ///< lines, indented by two blanks
  std::vector<std::string> notes = {};  ///< paragraphs behind the examples
};

struct ExitCode {
  int code;
  std::string meaning;
};

/// Of one command line. Help pages, man pages and completion are made of this and of CLI11's tree.
struct CommandFacts {
  std::string version;
  std::vector<ExitCode> exit_codes;
  std::map<const CLI::App*, Page> pages;
  std::map<const CLI::Option*, std::vector<std::string>> words = {};  ///< of Check::words
};

/// A check of an option's value.
struct Check {
  /// Returns what is wrong with a value; empty if nothing.
  std::function<std::string(const std::string& value)> find_mistake;
  /// All values that pass, where they are words: shells complete them.
  std::vector<std::string> words = {};
};

Check within(double low, double high);  ///< a number in this range; NaN fails
Check number_from(int low, int high);   ///< a whole number in this range
Check member_of(std::vector<std::string> words);

/// An option, or a positional argument. A handle: copies refer to the same one. The functions are
/// those of CLI11's Option.
class Option {
 public:
  Option(CLI::Option& option, CommandFacts& facts) : option_(&option), facts_(&facts) {}

  Option check(const Check& check) const;
  Option required() const;
  Option comma_separated() const;  ///< a list is one argument: A,B,C
  Option allow_extra_args(bool allow) const;
  Option excludes(Option other) const;
  Option needs(Option other) const;

  bool given() const;  ///< The option was on the command line.

 private:
  friend class Command;
  CLI::Option* option_;
  CommandFacts* facts_;
};

/// The program or one of its verbs. A handle: copies refer to the same one.
class Command {
 public:
  Command(CLI::App& app, CommandFacts& facts) : app_(&app), facts_(&facts) {}

  /// The same command; options that are added through it get this heading on the help page.
  Command in_group(const std::string& name) const;
  /// Binds a value, which must live until the command has run. `form`: names, and after a blank the
  /// type that the help page shows: "--task,--tasks TASK,...". Shells
  /// complete values of the types TASK, PRESET and VERB. command.cc lists the supported C++ types.
  template <class T>
  Option add_option(const std::string& form, T& value, const std::string& description = "",
                    const Check& check = {}) const;
  /// The same; the help page shows the current value as the default.
  template <class T>
  Option add_setting(const std::string& form, T& value, const std::string& description,
                     const Check& check = {}) const;
  Option add_flag(const std::string& names, bool& value, const std::string& description) const;
  /// A flag that also takes a value, behind a '=': without one it is "true".
  Option add_flag(const std::string& name, std::string& value, const std::string& description,
                  const Check& check) const;
  /// An option that was added before.
  Option option(const std::string& name) const;

  /// Adds a verb: its one-line summary, the description on its own help page, and examples.
  Command add_verb(const std::string& name, const std::string& summary,
                   const std::string& description, const std::string& examples) const;
  std::vector<Command> verbs() const;
  /// One of its verbs must be on the command line.
  void needs_verb() const;

  std::string name() const;
  std::string typed() const;  ///< "kbench model prompt"
  bool given() const;         ///< The verb was on the command line.
  /// The name of its first option on the command line; empty if there was none.
  std::string first_given_option() const;
  /// The help page.
  std::string help() const;
  /// The same as a man page, and that page's name, "kbench-run".
  std::string man_page() const;
  std::string man_page_name() const;

 private:
  CLI::App* app_;
  CommandFacts* facts_;
  std::string group_;  ///< heading of the options it adds; "": CLI11's own
};

/// The program's first argument when a shell asks: `kbench complete-words WORD...`.
inline constexpr char kCompleteWords[] = "complete-words";

/// Owns the command line and everything added to it.
class CommandLine {
 public:
  CommandLine(const std::string& name, const Page& page, const std::vector<ExitCode>& exit_codes,
              const std::string& version);
  ~CommandLine();

  Command program() const { return Command(*app_, *facts_); }

  /// False if --help or --version was given, which has been printed. Throws Error that says what is
  /// wrong and how to correct it.
  bool parse(const std::vector<std::string>& arguments);

  /// What a shell can complete the last of the words to, which may be empty: a line each, and
  /// behind a tab what it means. Empty: names of files. The scripts in completions/ ask for it by
  /// kCompleteWords.
  std::string complete(const std::vector<std::string>& words) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<CommandFacts> facts_;
};

}  // namespace kbench::program
