// Descriptors and locks of files; files read whole, and files that appear whole or not at all.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kbench/error.h"

namespace kbench {

/// An Error of kIo with the system's own number for it.
class SystemError : public Error {
 public:
  SystemError(const std::string& message, int number)
      : Error(ErrorCode::kIo, message), number_(number) {}
  /// Nothing can be written until space is freed.
  bool disk_is_full() const { return number_ == ENOSPC || number_ == EDQUOT; }

 private:
  int number_;
};

/// Throws a SystemError: "cannot read x.json: Permission denied".
[[noreturn]] void throw_io(const std::string& doing, const std::string& path, int error = errno);

/// Throws kIo with the reason. A pipe or a device is read to its end.
std::string read_file(const std::string& path);

/// Writes all of it, in one call of the system where the system takes it in one. Throws kIo.
void write_all(int fd, std::string_view bytes, const std::string& path);

/// Whether the last line of a file is incomplete because a process was killed or power was lost,
/// which leaves zero bytes where data did not reach the disk. All lines of that file begin with
/// `start`; a line that begins otherwise is not ours, and not torn.
bool is_torn(std::string_view line, bool has_newline, std::string_view start);

/// Whether a file is synced to disk before it gets its name. With `no`, a loss of power may leave
/// it empty; the end of a process may not.
enum class Sync { yes, no };

/// A file under construction. It has no name until commit(), which puts it on disk and then in the
/// place of `path` in one step: a reader finds the old file or the new one, never a part, and a
/// process that is killed leaves nothing behind. (On a file system without nameless files it is
/// called PATH.PID.next meanwhile.) Pipes and devices are written to as they are. Every member
/// throws kIo.
class NewFile {
 public:
  explicit NewFile(const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) { write_all(fd_, bytes, path_); }
  void commit(Sync sync = Sync::yes);

 private:
  void replace(Sync sync);

  std::string path_;
  std::string target_;            ///< where a link at `path` leads
  std::string next_;              ///< the name meanwhile, or just before the replacement
  std::optional<unsigned> mode_;  ///< of the file that is replaced
  bool in_place_ = false;         ///< a pipe or a device
  bool named_ = false;            ///< next_ is there
  int fd_ = -1;
};

/// A NewFile of one text.
void replace_file(const std::string& path, std::string_view text, Sync sync = Sync::yes);

// An open file descriptor with one owner.

/// Closes the descriptor on destruction; -1 is none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// Gives the descriptor away, unclosed.
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

/// Locks an open file for this process until its descriptor is closed; on a file system without
/// locks does nothing. Throws kIo when another has it: "PATH is in use: process 4711 is DOING".
void lock_file(int fd, const std::string& path, const std::string& doing);

/// Syncs the folder of a new file, so that the file's name survives a loss of power.
void sync_folder(const std::string& path);

/// Opens a file for reading by a path of plain parts below the folder `directory`, without waiting
/// and without following any symbolic link. Returns the descriptor, or -1 with errno: ELOOP for a
/// symbolic link, EXDEV for a path that would leave the folder.
int open_beneath(int directory, const std::string& path);

/// The same part by part, for kernels without openat2.
int open_beneath_by_parts(int directory, const std::string& path);

}  // namespace kbench
