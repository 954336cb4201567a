// The files a candidate consists of, read once, none from outside its folder.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kbench/error.h"

namespace kbench {

/// The path as messages show it.
std::string shown_path(const std::string& folder, const std::string& relative);

class CandidateFiles {
 public:
  explicit CandidateFiles(std::string folder) : folder_(std::move(folder)) {}

  /// The bytes of a file, and remembers them. Throws at `at`: kParse for a path that leaves the
  /// folder or a file that is too long, kNotFound, kIo.
  const std::string& read(const std::string& relative, const Location& at);
  /// Reads what a shader's quoted and angled #include lines name, and what those do, in turn.
  /// `relative` is the text's own path in the folder; `first` the place of its first line.
  void read_includes(const std::string& text, const std::string& relative, const Location& first);

  /// Every file read: path relative to the folder -> bytes.
  const std::map<std::string, std::string>& files() const { return files_; }
  /// Those of them that #include lines named.
  const std::map<std::string, std::string>& includes() const { return includes_; }

 private:
  /// The path in plain form; throws when it leaves the folder.
  std::string checked(const std::string& relative, const Location& at) const;

  std::string folder_;
  std::map<std::string, std::string> files_, includes_;
};

}  // namespace kbench
