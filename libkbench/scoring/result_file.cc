#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "kbench/error.h"
#include "kbench/result.h"
#include "libkbench/base/file_lock.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/result_check.h"

namespace kbench {
namespace {

/// What every line begins with; a fragment that begins otherwise is not cut off.
constexpr std::string_view kResultStart = "{\"set\":";

bool is_result(std::string_view line) {
  try {
    unchecked_result(std::string(line));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The end of a file: its last line, and zero bytes behind it.
struct Tail {
  off_t begin = 0;  ///< of the last line
  std::string line;
  bool has_newline = false;
  bool has_zeros = false;
};

std::string read_at(int fd, off_t begin, off_t end, const std::string& path) {
  std::string chunk(static_cast<size_t>(end - begin), '\0');
  const ssize_t count = pread(fd, chunk.data(), chunk.size(), begin);
  if (count != static_cast<ssize_t>(chunk.size())) throw_io("read", path, count < 0 ? errno : EIO);
  return chunk;
}

/// Reads from the back, a block at a time: the file may be long.
Tail read_tail(int fd, off_t size, const std::string& path) {
  constexpr off_t kChunk = 1 << 16;
  Tail tail;
  bool in_line = false;  // past the zero bytes and the newline
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(end - kChunk, 0);
    std::string chunk = read_at(fd, begin, end, path);
    end = begin;
    if (!in_line) {
      const size_t last = chunk.find_last_not_of('\0');
      tail.has_zeros |= last != chunk.size() - 1;
      if (last == chunk.npos) continue;
      in_line = true;
      tail.has_newline = chunk[last] == '\n';
      chunk.resize(last + (tail.has_newline ? 0 : 1));
    }
    const size_t newline = chunk.rfind('\n');
    if (newline != chunk.npos) {
      tail.begin = begin + static_cast<off_t>(newline) + 1;
      tail.line.insert(0, chunk, newline + 1);
      break;
    }
    tail.line.insert(0, chunk);
  }
  return tail;
}

/// Zero bytes in a line are cut off from a file of results only: other files may well hold some.
bool is_ours(int fd, const Tail& tail, const std::string& path) {
  if (tail.line.find('\0') == tail.line.npos) return true;
  const off_t end = tail.begin + static_cast<off_t>(tail.line.size());
  return read_at(fd, 0, std::min<off_t>(end, kResultStart.size()), path) == kResultStart;
}

void cut(int fd, off_t size, const std::string& path) {
  if (ftruncate(fd, size) != 0) throw_io("cut the torn last line of", path);
}

/// Makes the file end in a newline: cuts a torn line, completes one that only lacks its newline.
void repair_end(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_io("read", path);
  const Tail tail = read_tail(fd, status.st_size, path);
  const bool whole = is_result(tail.line);
  if (tail.has_newline && !tail.has_zeros && tail.line.find('\0') == tail.line.npos) return;
  if (!whole && is_torn(tail.line, tail.has_newline, kResultStart) && is_ours(fd, tail, path)) {
    return cut(fd, tail.begin, path);
  }
  if (!whole) {
    throw Error(ErrorCode::kParse, Location{path},
                "does not end in a result; it is not a file of results, and was left as it is");
  }
  cut(fd, tail.begin + static_cast<off_t>(tail.line.size() + tail.has_newline), path);
  if (!tail.has_newline) write_all(fd, "\n", path);
}

}  // namespace

std::vector<Result> read_results(const std::string& path) {
  std::vector<Result> results;
  for (ResultLine& each : read_result_lines(path)) results.push_back(std::move(each.result));
  return results;
}

std::vector<ResultLine> read_result_lines(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return {};
  std::string text = read_file(path);
  text.resize(text.find_last_not_of('\0') + 1);
  std::vector<ResultLine> lines;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    const bool has_newline = newline != rest.npos;
    rest.remove_prefix(has_newline ? newline + 1 : rest.size());
    if (line.empty()) continue;
    const Location place{path, number, 0};
    try {
      lines.push_back({unchecked_result(std::string(line)), path, number});
    } catch (const Error& e) {
      if (rest.empty() && is_torn(line, has_newline, kResultStart)) break;
      throw Error(ErrorCode::kParse, place, e.message());
    }
    try {
      expect_possible(lines.back().result);
    } catch (const Error& e) {
      throw Error(ErrorCode::kParse, place, e.message());
    }
  }
  return lines;
}

ResultWriter::ResultWriter(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  // Pipes and terminals need not be readable.
  if (fd_ < 0 && errno == EACCES) fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) throw_io("write", path);
  try {
    struct stat status {};
    if (fstat(fd_, &status) != 0) throw_io("write", path);
    is_file_ = S_ISREG(status.st_mode);
    if (!is_file_) return;
    lock_file(fd_, path, "writing results to it");
    repair_end(fd_, path_);
    if (status.st_size == 0) sync_folder(path);
  } catch (...) {
    close(fd_);
    throw;
  }
}

ResultWriter::~ResultWriter() { close(fd_); }

void ResultWriter::append(const Result& result) {
  const std::string line = to_json(result) + '\n';
  if (!is_file_) return write_all(fd_, line, path_);
  if (torn_) {
    repair_end(fd_, path_);
    torn_ = false;
  }
  struct stat before {};
  if (fstat(fd_, &before) != 0) throw_io("write to", path_);
  try {
    write_all(fd_, line, path_);
    if (fdatasync(fd_) != 0) throw_io("write to", path_);
  } catch (const Error&) {
    // A full disk may have taken half a line; without it the file stays whole.
    torn_ = ftruncate(fd_, before.st_size) != 0;
    throw;
  }
}

}  // namespace kbench
