#include "tests/program/run_program.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kbench::testing {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
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

Said run_in_shell(const std::string& script, const std::string& folder) {
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

}  // namespace kbench::testing
