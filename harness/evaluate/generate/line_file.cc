#include "harness/evaluate/generate/line_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "harness/evaluate/generate/store.h"
#include "libkbench/base/files.h"

namespace kbench::generate {
namespace {

off_t size_of(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw_io("read", path);
  return status.st_size;
}

/// A file mapped into memory.
class Mapping {
 public:
  Mapping(int fd, size_t size, const std::string& path) : size_(size) {
    if (size == 0) return;
    data_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data_ == MAP_FAILED) throw_io("read", path);
    madvise(data_, size, MADV_SEQUENTIAL);
  }
  ~Mapping() {
    if (size_ > 0) munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

}  // namespace

int64_t cut_torn_line(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.open()) {
    if (errno == ENOENT) return 0;
    throw_io("write", path);
  }
  constexpr off_t kChunk = 1 << 16;
  const off_t size = size_of(fd.get(), path);
  off_t end = size;
  while (end > 0) {
    const off_t begin = std::max<off_t>(end - kChunk, 0);
    std::string chunk(static_cast<size_t>(end - begin), '\0');
    if (pread(fd.get(), chunk.data(), chunk.size(), begin) != ssize_t(chunk.size())) {
      throw_io("read", path);
    }
    const size_t newline = chunk.rfind('\n');
    end = newline == chunk.npos ? begin : begin + static_cast<off_t>(newline) + 1;
    if (newline != chunk.npos) break;
  }
  if (end != size && ftruncate(fd.get(), end) != 0) throw_io("cut the torn last line of", path);
  return end;
}

LineFile::LineFile(std::string path) : path_(std::move(path)) {
  const bool is_new = cut_torn_line(path_) == 0;
  if (is_new) make_folder(std::filesystem::path(path_).parent_path().string());
  fd_.reset(open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd_.open()) throw_io("write", path_);
  if (is_new) sync_folder(path_);
}

void LineFile::append(const std::string& line, bool durable) {
  const std::lock_guard hold(mutex_);
  if (torn_) {
    cut_torn_line(path_);
    torn_ = false;
  }
  const off_t before = size_of(fd_.get(), path_);
  try {
    write_all(fd_.get(), line + '\n', path_);
    if (durable && fdatasync(fd_.get()) != 0) throw_io("write to", path_);
  } catch (...) {
    // A full disk may have stored an incomplete line.
    torn_ = ftruncate(fd_.get(), before) != 0;
    throw;
  }
}

void append_line(const std::string& path, const std::string& line) {
  LineFile(path).append(line, /*durable=*/true);
}

void each_line(const std::string& path,
               const std::function<void(std::string_view, int64_t)>& take) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) {
    if (errno == ENOENT) return;
    throw_io("read", path);
  }
  const Mapping mapping(fd.get(), static_cast<size_t>(size_of(fd.get(), path)), path);
  const std::string_view text = mapping.text();
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = text.find('\n', begin);
    if (newline == text.npos) return;
    if (newline > begin) {
      take(text.substr(begin, newline - begin), static_cast<int64_t>(begin));
    }
    begin = newline + 1;
  }
}

int line_number_at(const std::string& path, int64_t offset) {
  int number = 1;
  each_line(path, [&](std::string_view, int64_t begin) { number += begin < offset; });
  return number;
}

std::string line_at(const std::string& path, int64_t offset) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) throw_io("read", path);
  const Mapping mapping(fd.get(), static_cast<size_t>(size_of(fd.get(), path)), path);
  const std::string_view rest = mapping.text().substr(static_cast<size_t>(offset));
  return std::string(rest.substr(0, rest.find('\n')));
}

}  // namespace kbench::generate
