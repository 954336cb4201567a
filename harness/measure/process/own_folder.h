// The folder of files that kbench keeps from one run to the next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kbench::process {

/// KBENCH_CACHE, else "kbench" in XDG_CACHE_HOME or in ~/.cache; empty if none is set or
/// KBENCH_CACHE is set and empty: nothing is kept then.
std::string cache_folder();

/// A folder that only this user, and no locked-in process, may write to, with a key that signs its
/// files. Only where it holds no secret (kept_pipelines.h) may a locked-in process read it. Nothing
/// here throws: on any fault nothing is found and nothing is kept.
class OwnFolder {
 public:
  OwnFolder() = default;  ///< no folder
  /// Makes the folder and the key if they are missing.
  explicit OwnFolder(const std::string& path);

  bool there() const { return !key_.empty(); }
  /// HMAC-SHA-256 of the text with the key, in hexadecimal.
  std::string signature(std::string_view text) const;

  /// The bytes of a file; empty if there is none or another user could have written it.
  std::string read(const std::string& name) const;
  /// Adds a line in one write, so that lines of several processes do not mix.
  void append(const std::string& name, const std::string& line) const;

  /// The bytes that keep() was given for that name and subject; empty if there are none or the file
  /// has been changed. The file counts as used now.
  std::string kept(const std::string& name, std::string_view subject) const;
  /// Replaces the file atomically.
  void keep(const std::string& name, std::string_view subject, std::string_view bytes) const;

  /// Removes files whose names begin with `prefix`, those used longest ago first, until all have
  /// `bytes` at most.
  void keep_at_most(const std::string& prefix, uint64_t bytes) const;
  /// Removes files that have not been used for a week and whose names begin with `prefix` but
  /// not with `spared`.
  void forget_stale(const std::string& prefix, const std::string& spared) const;

 private:
  std::string at(const std::string& name) const { return path_ + "/" + name; }

  std::string path_, key_;
};

}  // namespace kbench::process
