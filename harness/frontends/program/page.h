// What the command line's pages say and CLI11 does not keep: texts, exit codes, words.
#pragma once

#include <map>
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

}  // namespace kbench::program
