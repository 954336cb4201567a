#include "libkbench/candidate/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "kbench/candidate_limits.h"
#include "libkbench/base/suggest.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/yaml_hints.h"

namespace kbench {
namespace {

/// Walks a text without building a tree: counts values and bytes of text, an alias as everything it
/// repeats, and notes where the last document begins.
class Survey : public YAML::EventHandler {
 public:
  explicit Survey(const std::string& file) : file_(file) {}
  std::optional<YAML::Mark> last_document;

  void OnDocumentStart(const YAML::Mark& mark) override {
    last_document = mark;
    sizes_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor, 0); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    leaf(mark, anchor, text.size());
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto size = sizes_.find(anchor);
    if (size == sizes_.end()) fail_parse(at(mark), "an alias stands inside what it repeats");
    count(mark, size->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Size {
    size_t values = 0, bytes = 0;
  };

  Location at(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  void count(const YAML::Mark& mark, const Size& more) {
    size_.values += more.values;
    size_.bytes += more.bytes;
    const auto fail = [&](const std::string& what) {
      fail_parse(at(mark),
                 "the file has more than " + what + ", those that aliases repeat included");
    };
    if (size_.values > limits::kNodes) fail(std::to_string(limits::kNodes) + " values");
    if (size_.bytes > limits::kTextBytes)
      fail(std::to_string(limits::kTextBytes) + " bytes of text");
  }
  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor, size_t bytes) {
    count(mark, {1, bytes});
    if (anchor != YAML::NullAnchor) sizes_[anchor] = {1, bytes};
  }
  void open(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= limits::kDepth) {
      fail_parse(at(mark), "the file is nested too deeply: " + std::to_string(limits::kDepth) +
                               " levels are the most");
    }
    open_.emplace_back(anchor, size_);
    count(mark, {1, 0});
  }
  void close() {
    const auto [anchor, before] = open_.back();
    open_.pop_back();
    if (anchor == YAML::NullAnchor) return;
    sizes_[anchor] = {size_.values - before.values, size_.bytes - before.bytes};
  }

  const std::string& file_;
  Size size_;
  std::map<YAML::anchor_t, Size> sizes_;
  std::vector<std::pair<YAML::anchor_t, Size>> open_;  ///< anchor; what came before it
};

/// Checks the first document's size, and returns where a second one begins, if one does.
/// (YAML::LoadAll loops for ever on some malformed texts.)
std::optional<YAML::Mark> survey(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Survey survey(file);
  if (!parser.HandleNextDocument(survey) || !parser.HandleNextDocument(survey)) return std::nullopt;
  return survey.last_document;
}

}  // namespace

const YamlEntry* YamlFields::find(const std::string& key) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const YamlEntry& entry) { return entry.key == key; });
  return it == entries_.end() ? nullptr : &*it;
}

YamlReader::YamlReader(const std::string& text, std::string file, const std::string& subject)
    : file_(std::move(file)) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines_.push_back(line);
  if (const size_t nul = text.find('\0'); nul != std::string::npos) {
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    fail_parse({file_, static_cast<int>(line) + 1, 1}, "not a text file: it holds a NUL character");
  }
  try {
    if (const auto mark = survey(text, file_)) {
      fail_parse({file_, mark->line + 1, mark->column + 1},
                 "the document ends before this; expected one YAML document and nothing after it");
    }
    root_ = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    Location at{file_, error.mark.line + 1, error.mark.column + 1};
    if (error.mark.is_null()) at = {file_, 0, 0};
    if (const auto hint = why_not_yaml(lines_, error.mark.line, error.msg)) {
      if (hint->line > 0) at = {file_, hint->line, hint->column};
      fail_parse(at, "not valid YAML: " + hint->message);
    }
    const bool deep = error.msg == YAML::ErrorMsg::BAD_FILE;
    fail_parse(at, deep ? "not valid YAML: nested too deeply" : "not valid YAML: " + error.msg);
  }
  if (!root_.IsDefined() || root_.IsNull()) {
    fail_parse({file_, 1, 1}, "the file is empty; expected " + subject);
  }
}

Location YamlReader::at(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {file_, 1, 1};
  return {file_, mark.line + 1, mark.column + 1};
}

char YamlReader::character_at(const YAML::Node& node) const {
  const YAML::Mark mark = node.Mark();
  if (mark.line < 0 || static_cast<size_t>(mark.line) >= lines_.size()) return ' ';
  const std::string& line = lines_[static_cast<size_t>(mark.line)];
  return static_cast<size_t>(mark.column) < line.size() ? line[static_cast<size_t>(mark.column)]
                                                        : ' ';
}

void YamlReader::wrong_type(const YAML::Node& node, const std::string& what,
                            const std::string& expected) const {
  std::string found = "nothing";
  if (node.IsMap()) found = "a map";
  if (node.IsSequence()) found = "a list";
  if (node.IsScalar()) found = quoted(node.Scalar());
  fail_parse(at(node), what + ": expected " + expected + ", found " + found);
}

std::vector<YamlEntry> YamlReader::entries(const YAML::Node& node, const std::string& what) const {
  if (!node.IsMap()) wrong_type(node, what, "a map (key: value)");
  std::vector<YamlEntry> result;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) wrong_type(pair.first, "a key in " + what, "a name");
    result.push_back({pair.first.Scalar(), at(pair.first), pair.second});
  }
  std::vector<const YamlEntry*> sorted;
  for (const YamlEntry& entry : result) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->key < b->key; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->key == sorted[i - 1]->key) {
      fail_parse(sorted[i]->at, "duplicate key " + quoted(sorted[i]->key) + " in " + what +
                                    ", first given in line " +
                                    std::to_string(sorted[i - 1]->at.line));
    }
  }
  return result;
}

void YamlReader::refuse_gone(const YamlEntry& entry) const {
  const std::string_view instead = instead_of_gone(entry.key);
  if (instead.empty()) return;
  fail_parse(entry.at,
             "'" + entry.key + "' is no key of the format any more: " + std::string(instead));
}

YamlFields YamlReader::fields(const YAML::Node& node, const std::string& what,
                              const std::vector<std::string>& allowed,
                              const std::vector<std::string>& required) const {
  YamlFields fields(entries(node, what), at(node));
  for (const auto& pair : node) {
    const std::string& key = pair.first.Scalar();
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      if (std::count(key.begin(), key.end(), ')') > std::count(key.begin(), key.end(), '(')) {
        fail_parse(at(pair.first), quoted(key) + " in " + what +
                                       ": between { } YAML ends a text at a comma; quote the "
                                       "expression, as in \"ceil_div(a, b)\"");
      }
      refuse_gone({key, at(pair.first), pair.second});
      fail_parse(at(pair.first), "unknown key " + quoted(key) + " in " + what +
                                     suggestion(key.substr(0, 60), allowed) +
                                     " (allowed: " + joined(allowed) + ")");
    }
  }
  for (const std::string& key : required) {
    if (fields.find(key) == nullptr) {
      fail_parse(at(node), "missing key '" + key + "' in " + what);
    }
  }
  return fields;
}

std::vector<YAML::Node> YamlReader::list(const YAML::Node& node, const std::string& what) const {
  if (!node.IsSequence()) wrong_type(node, what, "a list");
  return {node.begin(), node.end()};
}

std::vector<YAML::Node> YamlReader::list_or_one(const YAML::Node& node) const {
  if (node.IsSequence()) return {node.begin(), node.end()};
  return {node};
}

Sourced YamlReader::text(const YAML::Node& node, const std::string& what) const {
  if (node.IsMap()) {
    for (const YamlEntry& entry : entries(node, what)) refuse_gone(entry);
  }
  if (!node.IsScalar()) wrong_type(node, what, "a text or number");
  Sourced result{node.Scalar(), at(node)};
  const char first = character_at(node);
  if (node.Tag() == "!" && (first == '"' || first == '\'')) ++result.at.column;
  return result;
}

Sourced YamlReader::text(const YamlFields& fields, const std::string& key) const {
  return text(fields.find(key)->value, key);
}

std::optional<Sourced> YamlReader::text_if_any(const YamlFields& fields,
                                               const std::string& key) const {
  const YamlEntry* entry = fields.find(key);
  return entry == nullptr ? std::nullopt : std::optional(text(entry->value, key));
}

int64_t YamlReader::integer(const YAML::Node& node, const std::string& what) const {
  const Sourced source = text(node, what);
  int64_t value = 0;
  if (!read_number(source.text, value)) wrong_type(node, what, "an integer");
  return value;
}

bool YamlReader::boolean(const YAML::Node& node, const std::string& what) const {
  if (!node.IsScalar()) wrong_type(node, what, "true or false");
  if (node.Scalar() == "true") return true;
  if (node.Scalar() == "false") return false;
  wrong_type(node, what, "true or false");
}

Sourced YamlReader::block(const YAML::Node& node, const std::string& what) const {
  Sourced result = text(node, what);
  const char first = node.Tag() == "!" ? character_at(node) : ' ';
  if (first == '>') {
    fail_parse(at(node), what + ": '>' joins lines; use '|', which keeps them");
  }
  const auto line = static_cast<size_t>(std::max(node.Mark().line, 0));
  const bool named = first == '&' && line < lines_.size() && begins_block(lines_[line]);
  if (first == '|' || named) {
    // Where the block is well-formed up to there, YAML drops the line without an error.
    if (const auto hint = line_left_of_block(lines_, line)) {
      fail_parse({file_, hint->line, hint->column}, hint->message);
    }
    result.at = {file_, result.at.line + 1, 1};
  }
  return result;
}

}  // namespace kbench
