#include "harness/measure/runner/python_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench::runner {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// Opens a folder without following a link. One without permissions is given them, as it is the
/// user's own.
Folder open_folder(int parent, const char* name) {
  const UniqueFd found(openat(parent, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  if (found.get() < 0) return nullptr;
  // By descriptor, as the name may be that of something else by now.
  const std::string path = "/proc/self/fd/" + std::to_string(found.get());
  int opened = openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  const bool all = fstat(found.get(), &status) == 0 && (status.st_mode & S_IRWXU) == S_IRWXU;
  if (opened < 0 || !all) {
    if (chmod(path.c_str(), S_IRWXU) == 0 && opened < 0) {
      opened = openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
  }
  if (opened < 0) return nullptr;
  Folder folder(fdopendir(opened));
  if (!folder) close(opened);
  return folder;
}

/// Calls `each` with the names in the folder, until it returns false.
bool for_each_name(DIR* folder, const std::function<bool(const char*)>& each) {
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!each(entry->d_name)) return false;
  }
  return true;
}

std::string said(const std::string& what) { return what + ": " + std::strerror(errno); }

/// Empties a folder without recursion: the files of each folder in it are removed, and the folders
/// in that are moved up beside it.
class Remover {
 public:
  explicit Remover(int top) : top_(top) {}

  std::string run() {
    for (bool more = true; more && failure_.empty();) {
      more = false;
      const Folder folder = open_folder(top_, ".");
      if (!folder) return said("it cannot be opened");
      for_each_name(folder.get(), [&](const char* name) {
        more = true;
        return remove(name);
      });
    }
    return failure_;
  }

 private:
  bool remove(const char* name) {
    if (unlinkat(top_, name, 0) == 0) return true;
    const Folder folder = open_folder(top_, name);
    if (!folder) return fail(name);
    for_each_name(folder.get(), [&](const char* inner) {
      return unlinkat(dirfd(folder.get()), inner, 0) == 0 || move_up(dirfd(folder.get()), inner);
    });
    if (!failure_.empty()) return false;
    // Names that were missed while it changed are found by the next pass of run().
    if (unlinkat(top_, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY) return true;
    return fail(name);
  }

  bool move_up(int parent, const char* name) {
    static_cast<void>(open_folder(parent, name));  // Makes it writable, or it could not be moved.
    for (;;) {
      const std::string to = ".up-" + std::to_string(moved_++);
      struct stat taken {};
      if (fstatat(top_, to.c_str(), &taken, AT_SYMLINK_NOFOLLOW) == 0) continue;
      return renameat(parent, name, top_, to.c_str()) == 0 || fail(name);
    }
  }

  bool fail(const char* name) {
    failure_ = said(name);
    return false;
  }

  int top_;
  uint64_t moved_ = 0;
  std::string failure_;
};

class Meter {
 public:
  explicit Meter(const ScratchLimits& limits) : limits_(limits) {}

  std::string over(int parent, const char* name, size_t depth) {
    if (depth > limits_.depth) {
      return "folders nested deeper than " + std::to_string(limits_.depth);
    }
    const Folder folder = open_folder(parent, name);
    if (!folder) return "";
    std::string found;
    for_each_name(folder.get(), [&](const char* inner) {
      found = count(dirfd(folder.get()), inner, depth);
      return found.empty();
    });
    return found;
  }

 private:
  std::string count(int folder, const char* name, size_t depth) {
    struct stat status {};
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return "";
    bytes_ += static_cast<uint64_t>(status.st_blocks) * 512;
    if (++files_ > limits_.files) return "more than " + std::to_string(limits_.files) + " files";
    if (bytes_ > limits_.bytes) return "more than " + std::to_string(limits_.bytes) + " bytes";
    return S_ISDIR(status.st_mode) ? over(folder, name, depth + 1) : "";
  }

  const ScratchLimits& limits_;
  uint64_t bytes_ = 0;
  size_t files_ = 0;
};

}  // namespace

std::string remove_tree(const std::string& path) {
  const Folder top = open_folder(AT_FDCWD, path.c_str());
  if (!top) return errno == ENOENT ? "" : said(path);
  const std::string failure = Remover(dirfd(top.get())).run();
  if (!failure.empty()) return path + ": " + failure;
  return rmdir(path.c_str()) == 0 ? "" : said(path);
}

std::string over_limit(const std::string& path, const ScratchLimits& limits) {
  return Meter(limits).over(AT_FDCWD, path.c_str(), 0);
}

PythonScratch::PythonScratch()
    : path_((std::filesystem::temp_directory_path() / "kbench-triton-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw Error(ErrorCode::kIo, said("no scratch folder for Triton"));
  }
  folder_ = UniqueFd(open(path_.c_str(), kFolder));
  if (!folder_.open()) throw Error(ErrorCode::kIo, said(path_));
}

void PythonScratch::write(const std::string& name, std::string_view text) const {
  const bool plain = !name.empty() && name.find('/') == std::string::npos;
  const UniqueFd file(
      plain ? openat(folder_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
            : -1);
  bool whole = file.open();
  while (whole && !text.empty()) {
    const auto put = TEMP_FAILURE_RETRY(::write(file.get(), text.data(), text.size()));
    whole = put > 0;
    if (whole) text.remove_prefix(static_cast<size_t>(put));
  }
  if (!whole) throw Error(ErrorCode::kIo, "'" + shown(name) + "' cannot be written for Python");
}

UniqueFd PythonScratch::folder(const std::string& name) const {
  if (mkdirat(folder_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) return {};
  return UniqueFd(openat(folder_.get(), name.c_str(), kFolder));
}

PythonScratch::~PythonScratch() {
  if (there_) remove_tree(path_);
}

void PythonScratch::remove() {
  there_ = false;
  const std::string failure = remove_tree(path_);
  if (!failure.empty()) {
    throw Error(ErrorCode::kIo,
                "the scratch folder of Triton's Python cannot be removed: " + failure);
  }
}

}  // namespace kbench::runner
