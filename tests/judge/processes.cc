#include "tests/judge/processes.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace kbench::testing {
namespace {

std::string read_proc(pid_t process, const std::string& file) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/" + file, std::ios::binary);
  std::ostringstream text;  // Iterators would throw where the process has just ended.
  text << stream.rdbuf();
  return text.str();
}

/// Children of any of the parents, whose command says this.
std::vector<pid_t> children_with(const std::vector<pid_t>& parents, const std::string& said) {
  std::vector<pid_t> found;
  for (const pid_t parent : parents) {
    for (const pid_t child : children_of(parent)) {
      if (command_of(child).find(said) != std::string::npos) found.push_back(child);
    }
  }
  return found;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  const std::string folder = "/proc/" + std::to_string(parent) + "/task";
  // Each thread has those that it started.
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator(folder, ignored)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

std::string command_of(pid_t process) {
  std::string command = read_proc(process, "cmdline");
  std::ranges::replace(command, '\0', ' ');
  return command;
}

bool alive(pid_t process) {
  const std::string stat = read_proc(process, "stat");
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.at(name_end + 2) != 'Z';
}

bool dies(pid_t process) {
  for (int i = 0; i < 6000 && alive(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !alive(process);
}

std::vector<pid_t> judges() { return children_with({getpid()}, " judge-process "); }

std::vector<pid_t> runners(const std::string& role) {
  return children_with(judges(), " runner-process " + role + " ");
}

std::set<SharedMapping> shared_mappings(pid_t process) {
  std::set<SharedMapping> found;
  std::istringstream maps(read_proc(process, "maps"));
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:kbench") == std::string::npos) continue;
    std::istringstream words(line);
    std::string range, rights, offset, device, inode;
    words >> range >> rights >> offset >> device >> inode;
    found.insert({device + " " + inode, rights.at(1) == 'w'});
  }
  return found;
}

}  // namespace kbench::testing
