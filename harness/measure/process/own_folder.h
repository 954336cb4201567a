// Files that kbench keeps from one run to the next.
#pragma once

#include <string>
#include <string_view>

namespace kbench::process {

/// KBENCH_CACHE, else kbench in XDG_CACHE_HOME or in ~/.cache; empty where none is named. The empty
/// KBENCH_CACHE keeps none.
std::string cache_folder();

/// A folder of this user's that nobody else may write to, and no locked-in process can reach, with
/// a key of its own that signs what is kept there. Nothing here throws: where anything is not in
/// order nothing is found and nothing is kept.
class OwnFolder {
 public:
  /// None.
  OwnFolder() = default;
  /// Makes it, and the key, where they are missing.
  explicit OwnFolder(const std::string& path);

  bool there() const { return !key_.empty(); }
  /// HMAC-SHA-256 of the text with the key, in hexadecimal.
  std::string signature(std::string_view text) const;

  /// The bytes of a file; empty where there is none, or somebody else could have written it.
  std::string read(const std::string& name) const;
  /// Adds a line, in one write: those of two processes do not mix.
  void append(const std::string& name, const std::string& line) const;

  /// What keep() kept, if it has not been changed since and was kept under that name for that
  /// subject; else empty.
  std::string kept(const std::string& name, std::string_view subject) const;
  /// Replaces the file, whole or not at all.
  void keep(const std::string& name, std::string_view subject, std::string_view bytes) const;

  /// Removes the files whose names begin with `prefix` and not with `spared`, where nobody has
  /// written to them for a week.
  void forget_stale(const std::string& prefix, const std::string& spared) const;

 private:
  std::string at(const std::string& name) const { return path_ + "/" + name; }

  std::string path_, key_;
};

}  // namespace kbench::process
