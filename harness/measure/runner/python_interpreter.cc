#include "harness/measure/runner/python_interpreter.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/process/channel.h"
#include "harness/measure/process/deadline.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kProbeSeconds = 10;

constexpr const char* kProbe = R"(
import ast, importlib.util, json, os, sys, sysconfig
package, folders, version, cuda = sys.argv[1], None, "", ""
if package:
    try:
        spec = importlib.util.find_spec(package)
        folders = list(spec.submodule_search_locations or []) if spec else None
        import importlib.metadata
        version = importlib.metadata.version(package)
    except Exception:
        pass
    # PyTorch says there what it was built for: importing it takes seconds.
    try:
        with open(os.path.join(folders[0], "version.py")) as file:
            lines = ast.parse(file.read()).body
        for line in lines:
            target = getattr(line, "target", None) or getattr(line, "targets", [None])[0]
            if isinstance(target, ast.Name) and target.id == "cuda":
                cuda = str(ast.literal_eval(line.value) or "")
    except Exception:
        pass
names = [sysconfig.get_config_var(name) for name in ("LDLIBRARY", "INSTSONAME")]
print(json.dumps({
    "executable": sys.executable,
    "prefixes": [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix],
    "paths": sys.path + [sysconfig.get_path(name) for name in
                         ("stdlib", "platstdlib", "purelib", "platlib")],
    "libraries": [os.path.join(sysconfig.get_config_var("LIBDIR") or "/", name)
                  for name in names if name],
    "package": folders, "version": version, "cuda": cuda}))
)";

/// The standard output of a program; nothing if it cannot be run or fails.
std::optional<std::string> output_of(const std::vector<std::string>& command) {
  auto [output_read, output_write] = process::make_pipe();
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    dup2(output_write.get(), STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  output_write.reset();
  std::string output;
  process::Deadline deadline(kProbeSeconds);
  bool open = true;
  while (open && !deadline.passed() && output.size() < kMostPythonOutput) {
    pollfd end{output_read.get(), POLLIN, 0};
    if (poll(&end, 1, 50) <= 0) continue;
    char buffer[4096];
    const ssize_t got = read(output_read.get(), buffer, sizeof buffer);
    if (got > 0) output.append(buffer, static_cast<size_t>(got));
    open = got > 0 || (got < 0 && errno == EINTR);
  }
  if (open) kill(child, SIGKILL);
  int status = 0;
  TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return output;
}

/// The output of kProbe; null if it is not as expected.
Json ask(const std::string& program, const std::string& package) {
  const auto output = output_of({program, "-I", "-B", "-c", kProbe, package});
  if (!output) return nullptr;
  const Json said = Json::parse(*output, nullptr, /*allow_exceptions=*/false);
  for (const char* list : {"prefixes", "paths", "libraries"}) {
    if (!said.is_object() || !said.contains(list) || !said.at(list).is_array()) return nullptr;
  }
  const bool texts = said.contains("executable") && said.at("executable").is_string() &&
                     said.contains("version") && said.at("version").is_string() &&
                     said.contains("cuda") && said.at("cuda").is_string() &&
                     said.contains("package");
  return texts ? said : Json(nullptr);
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Json& each : list) {
    if (each.is_string()) texts.push_back(each);
  }
  return texts;
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  return error ? path : resolved.string();
}

/// A user's home, or a folder with homes in it: Python must not read what else lies there.
bool holds_a_home(const std::string& path) {
  const fs::path folder = canonical(path);
  for (const char* each : {"/", "/home", "/root"}) {
    if (folder == each) return true;
  }
  if (folder.parent_path() == "/home") return true;
  std::vector<std::string> homes;
  if (const char* home = std::getenv("HOME")) homes.push_back(home);
  if (const passwd* user = getpwuid(geteuid())) homes.push_back(user->pw_dir);
  return std::any_of(homes.begin(), homes.end(), [&](const std::string& home) {
    const fs::path one = canonical(home);
    return one != "/" &&
           std::mismatch(folder.begin(), folder.end(), one.begin(), one.end()).first ==
               folder.end();
  });
}

std::vector<std::string> readable_of(const std::string& program, const Json& said) {
  std::vector<std::string> all = {program, canonical(program)};
  const auto add_folder = [&all](const std::string& path) {
    if (path.starts_with('/') && !holds_a_home(path)) all.push_back(path);
  };
  for (const std::string& path : texts_of(said.at("paths"))) add_folder(path);
  for (const std::string& path : texts_of(said.at("package"))) add_folder(path);
  for (const std::string& library : texts_of(said.at("libraries"))) {
    if (fs::is_regular_file(library)) all.push_back(library);
  }
  for (const std::string& prefix : texts_of(said.at("prefixes"))) {
    all.push_back(prefix + "/pyvenv.cfg");
    // Shared libraries lie beside the standard library.
    if (holds_a_home(prefix)) continue;
    add_folder(prefix + "/lib");
    add_folder(prefix + "/lib64");
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool is_script(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  char first[2] = {};
  return file.read(first, sizeof first) && first[0] == '#' && first[1] == '!';
}

bool has(const Json& said, const std::string& package) {
  return said.is_object() && (package.empty() || said.at("package").is_array());
}

}  // namespace

std::string interpreter_behind(const std::string& program) {
  if (!is_script(program)) return "";
  const auto said = output_of({program, "-I", "-c", "import sys; print(sys.executable, end='')"});
  return said && said->starts_with('/') && access(said->c_str(), X_OK) == 0 ? *said : "";
}

std::vector<std::string> python_programs() {
  if (const char* named = std::getenv("KBENCH_PYTHON")) return {named};
  std::vector<std::string> all;
  const auto add = [&all](const std::string& folder) {
    const std::string path = folder + "/python3";
    if (access(path.c_str(), X_OK) != 0) return;
    if (std::find(all.begin(), all.end(), path) == all.end()) all.push_back(path);
  };
  if (const char* environment = std::getenv("VIRTUAL_ENV")) add(environment + std::string("/bin"));
  for (const std::string& folder : cuda::python_folders()) add(folder);
  for (const char* folder : {"/usr/local/bin", "/usr/bin"}) add(folder);
  return all;
}

PythonSearch find_python(const std::string& package) {
  PythonSearch search;
  std::string broken;
  for (const std::string& program : python_programs()) {
    Json said = ask(program, package);
    if (has(said, package)) {
      // A shim that only starts another interpreter is replaced by that one.
      std::string chosen = program;
      const std::string itself = said.at("executable");
      if (!itself.empty() && canonical(itself) != canonical(program)) {
        Json other = ask(itself, package);
        if (has(other, package)) {
          chosen = itself;
          said = std::move(other);
        }
      }
      search.found =
          PythonInterpreter{chosen, readable_of(chosen, said), said.at("version"), said.at("cuda")};
      return search;
    }
    std::string& list = said.is_object() ? search.tried : broken;
    if (!list.empty()) list += "; ";
    list += "'" + shown(program) + "' " +
            (said.is_object() ? "has no package '" + package + "'" : "cannot be run");
  }
  if (search.tried.empty()) search.tried = broken;
  if (search.tried.empty())
    search.tried = "there is no python3 on PATH, in /usr/local/bin, or in /usr/bin";
  return search;
}

}  // namespace kbench::runner
