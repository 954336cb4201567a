#include "libkbench/candidate/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <sstream>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"

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

size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// "#version 450", but no "# a comment".
bool is_directive(std::string_view line) {
  constexpr std::array<std::string_view, 14> kWords = {
      "version", "extension", "include", "define", "undef",  "ifdef", "ifndef",
      "if",      "elif",      "else",    "endif",  "pragma", "line",  "error"};
  line.remove_prefix(indent_of(line));
  if (!line.starts_with('#')) return false;
  line.remove_prefix(1);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r(\"<"));
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

struct GoneKey {
  std::string_view key, instead;
};
constexpr std::string_view kAddInKernel =
    "bind the whole buffer, give the kernel the first element's number as a number, and add it "
    "there";
constexpr GoneKey kGoneKeys[] = {
    {"bindings",
     "number the shader's buffers 0, 1, 2, ... of set 0 in the order of 'bind', in HLSL t and u "
     "together (register(t0), register(u1))"},
    {"preamble", "write its text into the shader, behind the #version line"},
    {"optimize", "leave it out; shaders are always optimized"},
    {"subgroup_size", "leave it out, and ask gl_SubgroupSize in the shader"},
    {"fast_math", "call the fast functions by their names (__expf, __fdividef)"},
    {"configs", "give the best of them as the kernel's num_warps, num_stages and constants"},
    {"cluster", "say it in the kernel: __cluster_dims__(2, 1, 1)"},
    {"cooperative", "end the kernel where its grid would wait, and launch another"},
    {"copy", "copy by a kernel, or by {op: cast, in: x, out: output, attributes: {dtype: f32}}"},
    {"fill", "write the values by a kernel"},
    {"offset", kAddInKernel},
    {"length", kAddInKernel},
};

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
  FileErrors errors;
  std::optional<YamlFields> result;
  errors.keep([&] { result = fields(node, what, allowed, required, errors); });
  errors.throw_all();
  return *std::move(result);
}

YamlFields YamlReader::fields(const YAML::Node& node, const std::string& what,
                              const std::vector<std::string>& allowed,
                              const std::vector<std::string>& required, FileErrors& errors) const {
  YamlFields fields(entries(node, what), at(node));
  for (const auto& pair : node) {
    const std::string& key = pair.first.Scalar();
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    errors.keep([&] {
      if (std::count(key.begin(), key.end(), ')') > std::count(key.begin(), key.end(), '(')) {
        fail_parse(at(pair.first), quoted(key) + " in " + what +
                                       ": between { } YAML ends a text at a comma; quote the "
                                       "expression, as in \"ceil_div(a, b)\"");
      }
      refuse_gone({key, at(pair.first), pair.second});
      fail_parse(at(pair.first), "unknown key " + quoted(key) + " in " + what +
                                     suggestion(key.substr(0, 60), allowed) +
                                     " (allowed: " + joined(allowed) + ")");
    });
  }
  std::vector<std::string> missing;
  for (const std::string& key : required) {
    if (fields.find(key) == nullptr) missing.push_back("'" + key + "'");
  }
  if (!missing.empty()) {
    fail_parse(at(node), (missing.size() == 1 ? "missing key " : "missing keys ") +
                             joined(missing) + " in " + what);
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

std::string_view instead_of_gone(std::string_view key) {
  const auto* const found = std::ranges::find(kGoneKeys, key, &GoneKey::key);
  return found == std::end(kGoneKeys) ? std::string_view() : found->instead;
}

bool begins_block(std::string_view line) {
  while (!line.empty() && std::string_view(" \r").find(line.back()) != std::string_view::npos) {
    line.remove_suffix(1);
  }
  if (line.ends_with("|-") || line.ends_with("|+")) line.remove_suffix(1);
  const bool behind = line.find(": ") != std::string_view::npos || trimmed(line).starts_with("- ");
  return behind && line.ends_with(" |");
}

std::optional<YamlHint> line_left_of_block(const std::vector<std::string>& lines, size_t header) {
  if (header >= lines.size() || !begins_block(lines[header])) return std::nullopt;
  const auto next = [&](size_t i) {
    while (i < lines.size() && is_blank(lines[i])) ++i;
    return i;
  };
  const size_t first = next(header + 1);
  if (first == lines.size()) return std::nullopt;
  // The key, behind the dashes of lists.
  const size_t key = std::min(lines[header].find_first_not_of(" -"), lines[header].size());
  const size_t indent = indent_of(lines[first]) > key ? indent_of(lines[first]) : key + 1;
  size_t i = first;
  while (i < lines.size() && indent_of(lines[i]) >= indent) i = next(i + 1);
  if (i == lines.size() || !is_directive(lines[i])) return std::nullopt;
  return YamlHint{static_cast<int>(i) + 1, static_cast<int>(indent_of(lines[i])) + 1,
                  quoted(std::string(trimmed(lines[i]))) + " stands left of the text of " +
                      quoted(std::string(trimmed(lines[header]))) + " in line " +
                      std::to_string(header + 1) +
                      ", and ends it: indent every line of it alike, by more than its key"};
}

std::optional<YamlHint> why_not_yaml(const std::vector<std::string>& lines, int line,
                                     const std::string& message) {
  if (message.find("flow not found") != std::string::npos) {
    return YamlHint{0, 0, message + "; between { } and [ ] quote texts that hold , [ ] { } or :"};
  }
  // The cause is not behind the place that is complained of.
  const size_t last = std::min(static_cast<size_t>(std::max(line, 0)) + 1, lines.size());
  for (size_t i = last; i-- > 0 && i + 3 > last;) {
    const std::string_view blanks =
        std::string_view(lines[i]).substr(0, lines[i].find_first_not_of(" \t"));
    const size_t tab = blanks.find('\t');
    if (tab == std::string_view::npos || is_blank(lines[i])) continue;
    return YamlHint{static_cast<int>(i) + 1, static_cast<int>(tab) + 1,
                    "a tab indents this line, and YAML takes spaces only"};
  }
  for (size_t i = last; i-- > 0;) {
    if (auto hint = line_left_of_block(lines, i)) return hint;
  }
  return std::nullopt;
}

}  // namespace kbench
