// Files read whole, and files that appear whole or not at all.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace kbench
