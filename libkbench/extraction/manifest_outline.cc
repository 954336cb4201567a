#include "libkbench/extraction/manifest_outline.h"

#include <algorithm>

namespace kbench {
namespace {

/// Goes over a text in flow style, or one line in block style, and notes keys with their values.
class KeyScan {
 public:
  /// `top`: keys at this depth of braces are the document's own.
  KeyScan(std::string_view text, int top, ManifestOutline& outline)
      : text_(text), top_(top), outline_(outline) {}

  void run() {
    for (;;) {
      skip_blanks();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      if (is_mark(c)) {
        depth_ += (c == '{' || c == '[') - (c == '}' || c == ']');
        ++at_;
        continue;
      }
      const std::string key = scalar(/*is_key=*/true);
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != ':') continue;
      ++at_;
      skip_blanks();
      note(key, at_ < text_.size() && !is_mark(text_[at_]) ? scalar(/*is_key=*/false) : "");
    }
  }

 private:
  static bool is_mark(char c) {
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#' && (at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t')) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }
  std::string scalar(bool is_key) {
    const char quote = text_[at_];
    if (quote == '"' || quote == '\'') {
      std::string value;
      for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        value += text_[at_];
      }
      ++at_;
      return value;
    }
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '{' || c == '}' || c == '[' ||
          c == ']' || c == ',' || (is_key && c == ':')) {
        break;
      }
      ++at_;
    }
    if (at_ == begin) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  void note(const std::string& key, std::string value) {
    if (key == "file" && !value.empty()) outline_.files.push_back(value);
    if (depth_ != top_) return;
    if (key == "kbench") outline_.kbench = true;
    if (key == "dtype") outline_.dtype = value;
    if (key == "task") outline_.task = std::move(value);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0, top_;
  ManifestOutline& outline_;
};

std::string_view trimmed_right(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r\n");
  return line.substr(0, end == line.npos ? 0 : end + 1);
}

/// Whether a line's value is a block scalar, whose text follows: "source: |2-".
bool opens_block(std::string_view line) {
  if (const size_t comment = line.find(" #"); comment != line.npos) line = line.substr(0, comment);
  line = trimmed_right(line);
  const size_t mark = line.find_last_of("|>");
  return mark != line.npos && mark > 0 && (line[mark - 1] == ' ' || line[mark - 1] == ':') &&
         line.find_first_not_of("+-0123456789", mark + 1) == line.npos;
}

}  // namespace

ManifestOutline manifest_outline(std::string_view text) {
  ManifestOutline outline;
  constexpr size_t kNone = std::string_view::npos;
  size_t top = kNone, block = kNone;  // indentation of the document; of what a block scalar is in
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = text.find('\n', begin);
    const size_t end = newline == kNone ? text.size() : newline + 1;
    std::string_view line = trimmed_right(text.substr(begin, end - begin));
    size_t indent = line.find_first_not_of(' ');
    if (indent != kNone && block != kNone && indent <= block) block = kNone;
    const bool says_something = indent != kNone && block == kNone && line[indent] != '#' &&
                                !line.starts_with("---") && !line.starts_with('%');
    if (says_something) {
      if (top == kNone) {
        if (line[indent] == '{') {  // the whole document is in flow style
          KeyScan(text.substr(begin), 1, outline).run();
          return outline;
        }
        top = indent;
      }
      constexpr int kNever = -1'000'000'000;
      int own = indent == top ? 0 : kNever;
      while (line.substr(indent).starts_with("- ")) {
        own = kNever;
        indent = std::min(line.find_first_not_of(' ', indent + 2), line.size());
      }
      KeyScan(line.substr(std::min(indent, line.size())), own, outline).run();
      if (opens_block(line)) block = indent;
    }
    begin = end;
  }
  return outline;
}

}  // namespace kbench
