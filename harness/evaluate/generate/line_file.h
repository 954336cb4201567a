// Files of whole lines that are only ever appended to.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "kbench/error.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::generate {

/// Appends lines; each is written in one piece. A last line that a killed process left torn is cut
/// off when the file is opened. Any thread. Throws kIo.
class LineFile {
 public:
  explicit LineFile(std::string path);
  /// `durable`: it is on disk when this returns.
  void append(const std::string& line, bool durable);

 private:
  std::string path_;
  std::mutex mutex_;
  UniqueFd fd_;
  bool torn_ = false;  ///< half a line could not be taken back
};

/// One line onto a file that is opened for it, and made with its folder where it is not there; on
/// disk when this returns. Two threads must not append to one file at once. Throws kIo; the file
/// then is as it was.
void append_line(const std::string& path, const std::string& line);

/// Cuts off what stands behind the last newline: half a line, or zero bytes of a loss of power.
/// Returns the file's length; 0 where there is none. Throws kIo.
int64_t cut_torn_line(const std::string& path);

/// Hands over each whole line with its offset. The file is mapped, not read into memory. A file
/// that is not there is empty. Throws kIo.
void each_line(const std::string& path,
               const std::function<void(std::string_view line, int64_t offset)>& take);
/// The line at an offset that each_line() gave, and its number, counted from 1.
std::string line_at(const std::string& path, int64_t offset);
int line_number_at(const std::string& path, int64_t offset);

/// What `read` makes of the line at an offset. An Error that it throws gets the file and the line.
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
