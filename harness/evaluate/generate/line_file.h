// Files of lines that are only ever appended to.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "kbench/error.h"
#include "libkbench/base/files.h"

namespace kbench::generate {

/// Appends lines, each in one write. When the file is opened, an incomplete last line, left by a
/// killed process, is cut off. Thread-safe. Throws kIo.
class LineFile {
 public:
  explicit LineFile(std::string path);
  /// `durable`: the line is on disk when this returns.
  void append(const std::string& line, bool durable);

 private:
  std::string path_;
  std::mutex mutex_;
  UniqueFd fd_;
  bool torn_ = false;  ///< an incomplete line could not be removed
};

/// Appends one line to a file, which is created, with its folder, if it does not exist. The line is
/// on disk when this returns. Two threads must not append to the same file at once. Throws kIo; the
/// file is then as it was.
void append_line(const std::string& path, const std::string& line);

/// Cuts off everything after the last newline: an incomplete line, or zero bytes after a loss of
/// power. Returns the file's length; 0 if there is no file. Throws kIo.
int64_t cut_torn_line(const std::string& path);

/// Calls `line` with each complete line and its offset. The file is mapped, not read into memory. A
/// file that does not exist counts as empty. Throws kIo.
void each_line(const std::string& path,
               const std::function<void(std::string_view line, int64_t offset)>& take);
/// The line at an offset that each_line() gave, and its number, counted from 1.
std::string line_at(const std::string& path, int64_t offset);
int line_number_at(const std::string& path, int64_t offset);

/// `read` applied to the line at an offset. An Error that it throws is given the file and the line.
template <class F>
auto read_at(const std::string& path, int64_t offset, F read) {
  const std::string line = line_at(path, offset);
  try {
    return read(line);
  } catch (const Error& e) {
    throw Error(e.code(), Location{path, line_number_at(path, offset), 0}, e.message());
  }
}

}  // namespace kbench::generate
