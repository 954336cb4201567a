#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "kbench/error.h"
#include "kbench/result.h"

namespace kbench {
namespace {

/// What every line begins with: a fragment that does not is not ours to cut off.
constexpr std::string_view kLineStart = "{\"set\":";

[[noreturn]] void throw_io(const std::string& what, const std::string& path) {
  const std::string why = std::generic_category().message(errno);
  throw Error(ErrorCode::kIo, "cannot " + what + " " + path + ": " + why);
}

bool is_fragment(std::string_view text) {
  return text.substr(0, kLineStart.size()) == kLineStart.substr(0, text.size());
}

/// The line as a result, or nothing when it is no result.
bool is_result(const std::string& line) {
  try {
    result_from_json(line);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Holds the file's advisory lock, so that two programs appending to it do not tear each other's
/// lines apart.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

/// What follows the last newline of a file.
std::string read_tail(int fd, off_t size, const std::string& path) {
  constexpr off_t kChunk = 1 << 16;
  std::string tail;
  for (off_t end = size; end > 0;) {
    const off_t begin = end > kChunk ? end - kChunk : 0;
    std::string chunk(static_cast<size_t>(end - begin), '\0');
    if (pread(fd, chunk.data(), chunk.size(), begin) != static_cast<ssize_t>(chunk.size())) {
      throw_io("read", path);
    }
    const size_t newline = chunk.rfind('\n');
    if (newline != std::string::npos) return chunk.substr(newline + 1) + tail;
    tail.insert(0, chunk);
    end = begin;
  }
  return tail;
}

void write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_io("write to", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
}

/// Makes the file end in a newline: cuts a torn line, completes one that only lacks its newline.
void repair_end(int fd, const std::string& path) {
  const FileLock lock(fd);  // before the size is read: another writer may be appending
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_io("read", path);
  if (!S_ISREG(status.st_mode)) return;
  const std::string tail = read_tail(fd, status.st_size, path);
  if (tail.empty()) return;
  if (is_result(tail)) return write_all(fd, "\n", path);
  if (!is_fragment(tail)) {
    throw Error(ErrorCode::kParse, Location{path},
                "does not end in a result; it is not a file of results, and was left as it is");
  }
  if (ftruncate(fd, status.st_size - static_cast<off_t>(tail.size())) != 0) {
    throw_io("cut the torn last line of", path);
  }
}

}  // namespace

std::vector<Result> read_results(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return {};
    throw_io("read", path);
  }
  std::vector<Result> results;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    const bool unfinished = file.eof();  // no newline at its end
    try {
      results.push_back(result_from_json(line));
    } catch (const Error& e) {
      if (unfinished && is_fragment(line)) break;
      throw Error(ErrorCode::kParse, Location{path, number, 0}, e.message());
    }
  }
  if (file.bad()) throw_io("read", path);
  return results;
}

ResultWriter::ResultWriter(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  // Pipes and terminals need not be readable.
  if (fd_ < 0 && errno == EACCES) fd_ = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) throw_io("write", path);
  try {
    repair_end(fd_, path_);
  } catch (...) {
    close(fd_);
    throw;
  }
}

ResultWriter::~ResultWriter() {
  fsync(fd_);
  close(fd_);
}

void ResultWriter::append(const Result& result) {
  const std::string line = to_json(result) + '\n';
  const FileLock lock(fd_);
  struct stat before {};
  const bool regular = fstat(fd_, &before) == 0 && S_ISREG(before.st_mode);
  try {
    write_all(fd_, line, path_);
  } catch (const Error&) {
    // A full disk may have taken half a line; without it the file stays whole.
    [[maybe_unused]] const int cut = regular ? ftruncate(fd_, before.st_size) : 0;
    throw;
  }
}

}  // namespace kbench
