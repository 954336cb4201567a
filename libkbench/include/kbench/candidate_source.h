// Where the files of a candidate come from: a folder on disk, a map in memory, or another process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kbench/candidate.h"

namespace kbench {

/// Gives the bytes of a candidate's file by its path relative to the candidate's folder, parts
/// divided by '/', without '.' and '..'; nothing when there is no such file. Throws Error (kParse,
/// kIo) for a file that is there and refused; where the error has no location, the place that named
/// the file is put in.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

/// A candidate's folder on disk, opened once. Files are opened beneath it even where it is renamed
/// or replaced afterwards; no symbolic link is followed; only regular files are read, and no more
/// of them than kbench/candidate_limits.h allows one candidate.
class CandidateFolder {
 public:
  /// Throws Error: kNotFound when there is no such folder, kIo when it cannot be opened. The folder
  /// itself may be named through symbolic links.
  explicit CandidateFolder(const std::string& path);
  ~CandidateFolder();
  CandidateFolder(const CandidateFolder&) = delete;
  CandidateFolder& operator=(const CandidateFolder&) = delete;

  /// A ReadFile. The path need not be trusted: one that is not plain, and every file after the
  /// limits are reached, is refused (kParse); so is what is no regular file or cannot be read
  /// (kIo).
  std::optional<std::string> read(const std::string& path);

 private:
  int fd_ = -1;
  size_t files_ = 0, bytes_ = 0;
};

/// Where a candidate is: its folder, and the YAML file's name in it.
struct CandidatePlace {
  std::string folder;
  std::string manifest;
};

/// A candidate to be evaluated: a path, or its files in memory. Both convert to it by themselves.
struct CandidateSource {
  CandidateSource() = default;
  CandidateSource(const char* on_disk) : path(on_disk) {}
  CandidateSource(std::string on_disk) : path(std::move(on_disk)) {}
  CandidateSource(std::map<std::string, std::string> in_memory, std::string called = {})
      : path(std::move(called)), files(std::move(in_memory)) {}

  /// A YAML file, a folder holding candidate.yaml, or a Python file that defines ModelNew. For a
  /// candidate in memory the name that
  /// results give it, "set/name.yaml" (empty: the manifest's); no file is read then.
  std::string path;
  /// Relative path -> bytes, the manifest among them, in place of what the path names.
  std::optional<std::map<std::string, std::string>> files;
  std::string manifest = "candidate.yaml";  ///< of a candidate in memory: which of them it is
  /// Who wrote it: a model, a set, a client's name. On a GPU one process may run several candidates
  /// of one author, one after another (docs/measurement.md); empty: it has a process of its own.
  std::string author;
  /// The text of its task's file (docs/tasks.md), where the process that judges does not know the
  /// task; empty: it knows all tasks that this process knows.
  std::string task_file = {};

  bool operator==(const CandidateSource&) const = default;
};

/// Checks what is not the candidate's fault: throws kNotFound where there is no such file, folder
/// or manifest, kIo where it cannot be read. Nothing else is checked.
void expect_readable(const CandidateSource& source);

/// The place that a path names: a YAML file, or a folder holding candidate.yaml. Reads no file.
CandidatePlace candidate_place(const std::string& path);

/// The candidate with all its files in memory, as another machine needs it; one that is in memory
/// already as it is. What is wrong with the candidate itself is left to its judge. Throws
/// kNotFound, kIo.
CandidateSource in_memory(const CandidateSource& source);

/// Reads the candidate whose YAML file is `manifest`, a path as `read` takes it. `folder` is only
/// shown: messages and Kernel::file begin with it. Throws Error (kParse, kIo, kNotFound).
Candidate load_candidate(const std::string& manifest, const std::string& folder,
                         const ReadFile& read);

/// The same from memory: path -> bytes, the YAML file among them.
Candidate candidate_from_files(const std::string& manifest,
                               const std::map<std::string, std::string>& files);

/// The same from disk or memory, as the source says.
Candidate candidate_of(const CandidateSource& source);
/// Nothing where it cannot be read: its judge says why.
std::optional<Candidate> candidate_if_readable(const CandidateSource& source);

}  // namespace kbench
