#include "tests/program/run_program.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace kbench::testing {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

Said run_and_say(const std::string& script, const std::string& folder) {
  const ScratchFolder scratch;
  std::string command = folder.empty() ? "" : "cd " + quoted(folder) + " && ";
  command += "{ KBENCH=" + quoted(KBENCH_PROGRAM) + "; " + script + "; } </dev/null >" +
             quoted(scratch / "out") + " 2>" + quoted(scratch / "err");
  const int status = std::system(command.c_str());
  Said said;
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  said.out = read_file(scratch / "out");
  said.err = read_file(scratch / "err");
  return said;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

size_t count_lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> listed_experiments(const std::string& out) {
  std::vector<std::string> names;
  for (size_t at = 0; at < out.size();) {
    const size_t end = out.find('\n', at);
    const std::string line = out.substr(at, end - at);
    names.push_back(line.substr(0, line.find("/iterations:")));  // Google Benchmark's
    at = end + 1;
  }
  return names;
}

Said run_program(const std::vector<std::string>& arguments, const std::string& folder) {
  std::string script = quoted(KBENCH_PROGRAM);
  for (const std::string& argument : arguments) script += " " + quoted(argument);
  return run_in_shell(script, folder);
}

namespace {

/// The commands that an output tells its reader to type: behind "see" or "Now:", or in backquotes.
std::vector<std::string> commands_in(const std::string& text) {
  static const std::regex hint("(?:see |Now: |`)kbench( [^`;,()\n]*)");
  std::vector<std::string> commands;
  for (std::sregex_iterator each(text.begin(), text.end(), hint), end; each != end; ++each) {
    commands.push_back((*each)[1]);
  }
  return commands;
}

/// Runs the commands that are told; none may be a wrong one. A word in capitals stands for what the
/// reader has: for a task one is put in, and of a verb that takes a file of theirs the page is
/// shown.
void run_hints(const std::string& text, const std::string& folder) {
  static std::set<std::string> done;
  for (std::string command : commands_in(text)) {
    if (!done.insert(command).second) continue;
    command = std::regex_replace(command, std::regex(" TASK\\b"), " relu");
    command = std::regex_replace(command, std::regex(" (VERB|NAME)\\b"), " exp");
    if (std::regex_search(command, std::regex(" [A-Z]+(\\.py)?( |$)"))) {
      command = command.substr(0, command.find(' ', 1)) + " --help";
    }
    const bool judges = command.starts_with(" run ") && command.find("--check") == command.npos &&
                        command.find("--help") == command.npos;
    const bool serves = command.starts_with(" serve ");
    if (serves) command += " --help";
    const ScratchFolder empty;  // for what overwrites nothing
    const Said said = run_and_say("\"$KBENCH\"" + command + (judges ? " --check" : ""),
                                  command.starts_with(" new ") ? empty.path() : folder);
    EXPECT_NE(said.code, 2) << "a hint that is no right command:" << command << "\n" << said.err;
  }
}

}  // namespace

Said run_in_shell(const std::string& script, const std::string& folder) {
  const Said said = run_and_say(script, folder);
  run_hints(said.out + said.err, folder);
  return said;
}

}  // namespace kbench::testing
