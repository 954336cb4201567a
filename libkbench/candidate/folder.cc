// Candidates on disk: where they are and how their files are opened.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void cannot_open(const std::string& path, int error) {
  if (error == ELOOP) {
    throw Error(ErrorCode::kParse, "file " + quoted(path) +
                                       " is a symbolic link or lies behind one; a candidate's "
                                       "files must be regular files in its own folder");
  }
  if (error == EXDEV) {
    throw Error(ErrorCode::kParse, "file " + quoted(path) + " lies outside the folder");
  }
  if (error == ENXIO) {
    throw Error(ErrorCode::kIo, "file " + quoted(path) + " is not a regular file");
  }
  throw Error(ErrorCode::kIo, "cannot open file " + quoted(path) + ": " + reason(error));
}

/// Reads a file to its end, but at most `most` + 1 bytes: enough to see that it is too long.
std::string read_all(int fd, const std::string& path, size_t most) {
  std::string bytes;
  size_t filled = 0;
  for (;;) {
    bytes.resize(std::min(most + 1, filled + (size_t{64} << 10)));
    const ssize_t got = ::read(fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw Error(ErrorCode::kIo, "cannot read file " + quoted(path) + ": " + reason(errno));
    }
    filled += static_cast<size_t>(got);
    if (got == 0 || filled > most) break;
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

CandidateFolder::CandidateFolder(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  fd_ = ::open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd_ >= 0) return;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR) {
    throw Error(ErrorCode::kNotFound, "there is no folder " + quoted(path));
  }
  throw Error(ErrorCode::kIo, "cannot open folder " + quoted(path) + ": " + reason(error));
}

CandidateFolder::~CandidateFolder() { ::close(fd_); }

std::optional<std::string> CandidateFolder::read(const std::string& path) {
  const std::string plain = plain_path(path);
  const Descriptor file(open_beneath(fd_, plain));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    cannot_open(plain, errno);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, "file " + quoted(plain) + " is not a regular file");
  }
  check_size(plain, static_cast<size_t>(status.st_size), limits::kFileBytes);
  // One more than the limit on files, for the YAML file.
  if (++files_ > limits::kFiles + 1) too_many_files();
  std::string bytes = read_all(file.get(), plain, limits::kFileBytes);
  check_size(plain, bytes.size(), limits::kFileBytes);
  bytes_ += bytes.size();
  if (bytes_ > limits::kCandidateBytes) too_many_bytes();
  return bytes;
}

CandidatePlace candidate_place(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {path, "candidate.yaml"};
  const fs::path file(path);
  if (!file.has_filename()) {
    throw Error(ErrorCode::kNotFound, "there is no candidate file or folder " + quoted(path));
  }
  const fs::path parent = file.parent_path();
  return {parent.empty() ? "." : parent.string(), file.filename().string()};
}

Candidate load_candidate(const std::string& path) {
  const CandidatePlace place = candidate_place(path);
  CandidateFolder folder(place.folder);
  return load_candidate(place.manifest, place.folder,
                        [&](const std::string& name) { return folder.read(name); });
}

void expect_readable(const CandidateSource& source) {
  if (source.files) {
    if (source.files->contains(source.manifest)) return;
    throw Error(ErrorCode::kNotFound,
                "there is no file " + quoted(source.manifest) + " among the candidate's files");
  }
  const CandidatePlace place = candidate_place(source.path);
  CandidateFolder folder(place.folder);
  try {
    if (folder.read(place.manifest)) return;
  } catch (const Error& error) {
    // A file that is there and refused, a pipe or a device is the candidate's fault.
    std::error_code ignored;
    const auto type = fs::symlink_status(fs::path(place.folder) / place.manifest, ignored).type();
    if (error.code() == ErrorCode::kParse || fs::is_other(fs::file_status(type))) return;
    throw Error(error.code(), Location{source.path}, error.message());
  }
  throw Error(ErrorCode::kNotFound, "there is no candidate file or folder " +
                                        quoted(shown_path(place.folder, place.manifest)));
}

namespace {

/// Whether a file of a folder is meant as a candidate. Triton kernels are Python files, too, and
/// files of tasks are YAML files: neither is one.
bool may_be_candidate(const std::string& path) {
  const bool model = is_model_file(path);
  if (!model && fs::path(path).extension() != ".yaml") return false;
  try {
    const CandidatePlace place = candidate_place(path);
    const auto text = CandidateFolder(place.folder).read(place.manifest);
    if (model) return text && defines_model(*text);
    return !text || ("\n" + *text).find("\nkbench_task:") == text->npos;
  } catch (const Error&) {  // Reading it as a candidate says why.
    return !model;
  }
}

/// Takes out the ModelNew files that a manifest among `files` names: they are that candidate's.
void drop_named_models(std::vector<std::string>& files) {
  const auto place = [](const std::string& file) { return fs::path(file).lexically_normal(); };
  std::set<fs::path> folders, named;  // a manifest names files of its folder and of those in it
  for (const std::string& file : files) {
    if (!is_model_file(file)) continue;
    fs::path folder = place(file).parent_path();
    while (folders.insert(folder).second && folder.has_relative_path()) {
      folder = folder.parent_path();
    }
  }
  for (const std::string& file : files) {
    if (is_model_file(file) || !folders.contains(place(file).parent_path())) continue;
    try {
      const Candidate candidate = load_candidate(file);
      if (candidate.torch) named.insert(place(candidate.torch->file));
    } catch (const Error&) {  // Reading it as a candidate says why.
    }
  }
  std::erase_if(files, [&](const std::string& file) { return named.contains(place(file)); });
}

}  // namespace

std::vector<std::string> candidate_files(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory) {
    throw Error(ErrorCode::kIo, "cannot open " + quoted(path) + ": " + error.message());
  }
  if (!fs::exists(status)) {
    throw Error(ErrorCode::kNotFound, "there is no candidate file or folder " + quoted(path));
  }
  if (!fs::is_directory(status)) return {path};
  std::vector<std::string> files;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      // Links and the like are listed too: reading one says why it is refused.
      const bool folder = fs::is_directory(entry.symlink_status());
      const std::string file = entry.path().string();
      if (!folder && may_be_candidate(file)) files.push_back(file);
    }
  } catch (const fs::filesystem_error& failure) {
    throw Error(ErrorCode::kIo, "cannot list " + quoted(path) + ": " + failure.code().message());
  }
  drop_named_models(files);
  std::sort(files.begin(), files.end());
  return files;
}

// A candidate on disk as one in memory, to be sent elsewhere.

Candidate candidate_of(const CandidateSource& source) {
  return source.files ? candidate_from_files(source.manifest, *source.files)
                      : load_candidate(source.path);
}

std::optional<Candidate> candidate_if_readable(const CandidateSource& source) {
  try {
    return candidate_of(source);
  } catch (const Error&) {
    return std::nullopt;
  }
}

CandidateSource in_memory(const CandidateSource& source) {
  if (source.files) return source;
  expect_readable(source);
  const CandidatePlace place = candidate_place(source.path);
  CandidateFolder folder(place.folder);
  std::map<std::string, std::string> files;
  const ReadFile keep = [&](const std::string& path) {
    std::optional<std::string> text = folder.read(path);
    if (text) files[path] = *text;
    return text;
  };
  try {
    load_candidate(place.manifest, place.folder, keep);
  } catch (const Error& e) {
    // What is wrong with it is for its judge to say, who finds the same in these files.
    if (e.code() != ErrorCode::kParse && e.code() != ErrorCode::kNotFound) throw;
  }
  CandidateSource whole(std::move(files));
  whole.manifest = place.manifest;
  whole.author = source.author;
  whole.task_file = source.task_file;
  return whole;
}

}  // namespace kbench
