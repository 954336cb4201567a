// The files a candidate consists of, read once, none from outside its folder.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kbench/candidate_source.h"
#include "kbench/error.h"

namespace kbench {

/// The path as messages show it.
std::string shown_path(const std::string& folder, const std::string& relative);

/// A path relative to a candidate's folder in plain form: '/' between parts, none of them '.' or
/// '..'. Throws kParse, without a place, for one that leaves the folder or that no file can have.
std::string plain_path(const std::string& relative);

/// Throws kParse, without a place, when a file of that many bytes is too long.
void check_size(const std::string& path, size_t bytes, size_t most);
[[noreturn]] void too_many_files();
[[noreturn]] void too_many_bytes();

/// Whether a name is that of a ModelNew file.
bool is_model_file(const std::string& name);
/// Whether a Python module's text gives ModelNew a meaning in its own scope, line by line: by a
/// class, a function, an assignment or an import, which may stand below an `if`, a `try` and the
/// like. Comments, long strings and what is inside of classes and functions do not count.
bool defines_model(const std::string& text);
/// The task of a ModelNew file: what a line "# task: level1/19" in it names, else what its name
/// does ("level_1_problem_19_sample_0.py", "level1/19.py", "19_ReLU.py"); nothing if neither names
/// one.
/// `at`, if given, gets the line's place. Throws kInvalidArgument there for a line that names no
/// task.
std::optional<TaskId> stated_task(const std::string& text, const std::string& name,
                                  Location* at = nullptr);
/// The candidate that a ModelNew file is. Throws Error (kParse, kNotFound).
Candidate load_model(const std::string& text, const std::string& file);
/// The files of a candidate whose ModelNew file does not name its task: "model_new.py", and a
/// manifest "candidate.yaml" that names both.
std::map<std::string, std::string> model_candidate(TaskId task, const std::string& text);
/// The text of "model_new.py" where the files are those of model_candidate(); nothing where they
/// are a candidate of another kind.
std::optional<std::string> model_of(const std::map<std::string, std::string>& files);

class CandidateReader {
 public:
  /// `folder` is only shown.
  CandidateReader(std::string folder, ReadFile read)
      : folder_(std::move(folder)), read_(std::move(read)) {}

  /// Reads a file and keeps its bytes. Throws at `at`: kParse for a path that leaves the folder, a
  /// file that is too long or one too many, kNotFound, kIo.
  const std::string& read(const std::string& relative, const Location& at);
  /// Reads the files that a shader's #include lines name, quoted and angled, and those they
  /// include. `relative` is the text's own path in the folder; `first` the place of its first line.
  void read_includes(const std::string& text, const std::string& relative, const Location& first);
  /// Counts bytes that were not read here: those of the YAML file.
  void count(size_t bytes) { bytes_ += bytes; }

  /// Every file read: path relative to the folder -> bytes.
  const std::map<std::string, std::string>& files() const { return files_; }
  /// The files among them that #include lines named.
  const std::map<std::string, std::string>& includes() const { return includes_; }

 private:
  /// The bytes of the file at a plain path, or null when there is none.
  const std::string* find(const std::string& plain);

  std::string folder_;
  ReadFile read_;
  std::map<std::string, std::string> files_, includes_;
  std::set<std::string> absent_;
  size_t bytes_ = 0;
};

/// The text without the byte order mark that it may begin with.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace kbench
