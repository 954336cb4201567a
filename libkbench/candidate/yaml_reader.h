// Strict access to a YAML document: unknown keys, and values of another kind than expected, are
// errors with their place.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {

/// One "key: value" of a map.
struct YamlEntry {
  std::string key;
  Location at;  ///< of the key
  YAML::Node value;
};

/// A map whose keys have been checked.
class YamlFields {
 public:
  YamlFields(std::vector<YamlEntry> entries, Location at)
      : entries_(std::move(entries)), at_(std::move(at)) {}
  /// The entry, or null when the key is not there.
  const YamlEntry* find(const std::string& key) const;
  const Location& at() const { return at_; }

 private:
  std::vector<YamlEntry> entries_;
  Location at_;
};

/// One parsed document. `what` in the calls below names the thing read, for messages: "a step".
class YamlReader {
 public:
  /// Throws kParse when the text is not exactly one YAML document. `subject` names what the
  /// document should be, for messages.
  YamlReader(const std::string& text, std::string file, const std::string& subject = "a candidate");

  const YAML::Node& root() const { return root_; }
  Location at(const YAML::Node& node) const;

  /// The entries of a map in order; duplicate keys are errors.
  std::vector<YamlEntry> entries(const YAML::Node& node, const std::string& what) const;
  /// A map with no keys but these, all of the required ones among them.
  YamlFields fields(const YAML::Node& node, const std::string& what,
                    const std::vector<std::string>& allowed,
                    const std::vector<std::string>& required = {}) const;
  /// The same; keys that are not allowed are kept in `errors`, and the map is given without them.
  YamlFields fields(const YAML::Node& node, const std::string& what,
                    const std::vector<std::string>& allowed,
                    const std::vector<std::string>& required, FileErrors& errors) const;
  /// Throws kParse, saying what to write instead, where the key is one that the format had once.
  void refuse_gone(const YamlEntry& entry) const;
  std::vector<YAML::Node> list(const YAML::Node& node, const std::string& what) const;
  /// A list's items; a single item counts as a list of one.
  std::vector<YAML::Node> list_or_one(const YAML::Node& node) const;
  Sourced text(const YAML::Node& node, const std::string& what) const;
  /// The text of a key that fields() has required.
  Sourced text(const YamlFields& fields, const std::string& key) const;
  std::optional<Sourced> text_if_any(const YamlFields& fields, const std::string& key) const;
  int64_t integer(const YAML::Node& node, const std::string& what) const;
  bool boolean(const YAML::Node& node, const std::string& what) const;
  /// A text of several lines, "at" being where its own first line begins: the line after "|".
  Sourced block(const YAML::Node& node, const std::string& what) const;

 private:
  char character_at(const YAML::Node& node) const;
  [[noreturn]] void wrong_type(const YAML::Node& node, const std::string& what,
                               const std::string& expected) const;

  std::string file_;
  std::vector<std::string> lines_;
  YAML::Node root_;
};

// Likely causes where a YAML text cannot be read, or is read as something else than its author
// meant.

struct YamlHint {
  int line = 0, column = 0;  ///< 1-based
  std::string message;
};

/// Whether a block of text begins behind the line: it ends with '|', '|-' or '|+' behind a key or a
/// dash, perhaps with an anchor between.
bool begins_block(std::string_view line);

/// Finds a preprocessor line (#version) that is indented less than the block of text it belongs to:
/// YAML takes it for a comment and ends the block there. `header` is the index of the line that
/// ends with the block's '|'.
std::optional<YamlHint> line_left_of_block(const std::vector<std::string>& lines, size_t header);

/// The likely cause of the YAML parser's `message` about the line with that index; nothing where
/// the message must suffice.
std::optional<YamlHint> why_not_yaml(const std::vector<std::string>& lines, int line,
                                     const std::string& message);

/// What to write in place of a key that candidates' files had once; empty for any other word.
std::string_view instead_of_gone(std::string_view key);

}  // namespace kbench
