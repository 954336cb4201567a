// The one exception type the library throws.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// What kind of thing went wrong; the program turns it into an exit code or a verdict.
enum class ErrorCode {
  kInvalidArgument,  ///< a value, flag, name or size that makes no sense
  kNotFound,         ///< a task, file or device that is not there
  kShape,            ///< shapes or element types an operator cannot take
  kParse,            ///< a malformed file; location() says where
  kIo,               ///< a file that cannot be read or written
  kCompile,          ///< a shader that does not compile; the message holds the diagnostics
  kUnsupported,      ///< something this device or build cannot do
  kOutOfMemory,      ///< host or device memory would not suffice, or did not
  kTimeout,          ///< a wait that ran past its limit
  kDeviceLost,       ///< the device stopped answering; the process must not use it again
  kModel,            ///< a language model that did not answer (kbench/model.h)
  kInternal,         ///< a bug in kbench itself
};
std::string_view name_of(ErrorCode code);  ///< "invalid_argument", "not_found", ...

/// A place in a file, 1-based; line 0 means "the file as a whole".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "file:line:column: " of a place, as messages begin; what is 0 is left out, and without a file it
/// is empty.
std::string at(const Location& location);

/// Every failure of the library arrives as this type. what() is one complete message, prefixed
/// with "file:line:column: " when a location is known.
///
///     try {
///       auto candidate = kbench::load_candidate("softmax.yaml");
///     } catch (const kbench::Error& e) {
///       std::cerr << e.what() << '\n';
///     }
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  Error(ErrorCode code, Location location, const std::string& message);
  /// The first of several errors that one file has; must not be empty.
  explicit Error(std::vector<Error> all);

  ErrorCode code() const { return code_; }
  const Location& location() const { return location_; }
  /// The message without the location.
  const std::string& message() const { return message_; }
  /// This error, and behind it what else is wrong with the same file, as it was found.
  std::vector<Error> all() const;

 private:
  ErrorCode code_;
  Location location_;
  std::string message_;
  std::shared_ptr<const std::vector<Error>> all_;  ///< null: this one alone
};

// Texts from outside, made fit to be shown.

/// A text that a candidate, a file's name or a compiler gave, as one line that is safe in a
/// terminal, a table and a log: control characters, line and paragraph separators, characters that
/// are invisible or turn the direction of writing, and what is not UTF-8 become \xNN, \uNNNN or
/// \UNNNNNNNN; a text that would be longer than `most` bytes is cut in the middle, with a note of
/// its length in the gap. Backslashes stay, so that shown(shown(t)) == shown(t).
std::string shown(std::string_view text, size_t most = 200);

}  // namespace kbench
