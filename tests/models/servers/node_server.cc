#include "tests/models/servers/node_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/support/needs.h"

namespace kbench::testing {

std::string node_module(const std::string& file) {
  const char* folder = std::getenv("KBENCH_NODE_MODULES");
  return std::string(folder == nullptr ? "" : folder) + "/" + file;
}

bool node_runs(const std::string& package, const std::string& file) {
  const size_t at = package.find('@', 1);  // the first may begin the name
  const std::string name = package.substr(0, at);
  bool there = std::filesystem::exists(node_module(name + "/" + file));
  if (there && at != package.npos) {
    std::ifstream stream(node_module(name + "/package.json"));
    const auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
    there = json.is_object() && json.value("version", "") == package.substr(at + 1);
  }
  const char* check =
      "node -e 'const [a, b] = process.versions.node.split(\".\");"
      "process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)' 2>/dev/null";
  return has(there, package + " in KBENCH_NODE_MODULES (npm: " + package + ")") &&
         has(std::system(check) == 0, "Node 20.15 or later (Debian: nodejs)");
}

NodeServer::NodeServer(const std::vector<std::string>& arguments) {
  std::array<int, 2> pipe = {};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::vector<std::string> words = {"node"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(pipe[1], 1);
    ::dup2(pipe[1], 2);
    ::execvp("node", argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  said_ = pipe[0];
  std::string said;
  char byte = 0;
  while (::read(said_, &byte, 1) == 1) {
    said += byte;
    const size_t at = said.find("http://");
    if (byte != '\n' || at == said.npos) continue;
    url_ = said.substr(at, said.find_first_of(" \n/", at + 7) - at) + "/v1";
    return;
  }
  ::waitpid(pid_, nullptr, 0);
  ::close(said_);
  throw std::runtime_error("the server did not start: " + said);
}

NodeServer::~NodeServer() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(said_);
}

}  // namespace kbench::testing
