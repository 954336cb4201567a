#include "harness/evaluate/client/program_path.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "kbench/error.h"

namespace kbench::client {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string program_path(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* from_environment = std::getenv("KBENCH_PROGRAM");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  constexpr const char* kSelf = "/proc/self/exe";
  std::error_code ignored;
  const fs::path self = fs::read_symlink(kSelf, ignored);
  // By the link, not by what it says: the file may have been replaced since this program started.
  if (self.filename() == "kbench" || self.filename() == "kbench (deleted)") return kSelf;
  if (const fs::path beside = self.parent_path() / "kbench"; executable(beside)) {
    return beside.string();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / "kbench";
    if (executable(candidate)) return candidate.string();
  }
  throw Error(ErrorCode::kNotFound,
              "no kbench program to judge with: put it on PATH, or name it by KBENCH_PROGRAM");
}

}  // namespace kbench::client
