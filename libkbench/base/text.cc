#include "libkbench/base/text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <utility>

#include "kbench/candidate_limits.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"

namespace kbench {
namespace {

/// Insertions, deletions, substitutions, and neighbours that changed places.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1), before(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] != b[j]), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
      }
    }
  }
  return row.back();
}

/// One character of a text: its bytes, and its code point where the bytes are UTF-8.
struct Character {
  std::string_view bytes;
  bool valid = false;
  uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {text.substr(0, 1), true, lead};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const Character broken{text.substr(0, 1)};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return broken;
  uint32_t code = lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return broken;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[length] || code > 0x10ffff || surrogate) return broken;
  return {text.substr(0, length), true, code};
}

/// True for characters that move the cursor, are invisible or change how their neighbours are read.
bool is_hidden(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},    {0x115f, 0x1160},
      {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfe00, 0xfe0f},
      {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}};
  return std::any_of(std::begin(kHidden), std::end(kHidden), [&](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

std::string escaped(const Character& character) {
  if (character.valid && !is_hidden(character.code)) return std::string(character.bytes);
  std::array<char, 12> text{};
  if (!character.valid || character.code < 0x80) {
    const auto byte = static_cast<unsigned>(static_cast<unsigned char>(character.bytes[0]));
    std::snprintf(text.data(), text.size(), "\\x%02x", byte);
  } else {
    const char* form = character.code > 0xffff ? "\\U%08x" : "\\u%04x";
    std::snprintf(text.data(), text.size(), form, static_cast<unsigned>(character.code));
  }
  return text.data();
}

/// As many whole characters from the front as fit in `most` bytes once escaped.
std::string escaped_front(std::string_view text, size_t most) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::string next = escaped(character);
    if (result.size() + next.size() > most) break;
    result += next;
    text.remove_prefix(character.bytes.size());
  }
  return result;
}

/// The same from the end.
std::string escaped_back(std::string_view text, size_t most) {
  text.remove_prefix(text.size() - std::min(text.size(), most));
  // No escaped character is shorter than its bytes, so what fits begins no earlier than this; the
  // rest of a character that began before it is left out.
  for (int i = 0; i < 3 && !text.empty() && (static_cast<unsigned char>(text[0]) >> 6) == 2; ++i) {
    text.remove_prefix(1);
  }
  size_t length = 0;
  std::vector<std::string> characters;
  while (!text.empty()) {
    const Character character = first_character(text);
    characters.push_back(escaped(character));
    length += characters.back().size();
    text.remove_prefix(character.bytes.size());
  }
  std::string result;
  for (const std::string& next : characters) {
    if (length <= most) result += next;
    if (length > most) length -= next.size();
  }
  return result;
}

/// As JSON writes a character that it does not take as it is: by its one or two words of UTF-16.
std::string json_escaped(uint32_t code) {
  std::array<char, 24> text{};
  if (code > 0xffff) {
    code -= 0x10000;
    std::snprintf(text.data(), text.size(), "\\u%04x\\u%04x", 0xd800U + (code >> 10),
                  0xdc00U + (code & 0x3ffU));
  } else {
    std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(code));
  }
  return text.data();
}

}  // namespace

std::string quoted(const std::string& text) { return "'" + shown(text, 120) + "'"; }

std::string without_comments(std::string text, Comments comments) {
  const bool python = comments == Comments::of_python;
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, text.size()); ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (python ? rest.starts_with("#") : rest.starts_with("//")) {
      blank(i, text.find('\n', i));
    } else if (!python && rest.starts_with("/*")) {
      const size_t end = text.find("*/", i + 2);
      blank(i, end == text.npos ? text.size() : end + 2);
    }
  }
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    if (i == limits::kListedNames) {
      return text + "and " + std::to_string(names.size() - i) + " more";
    }
    text += names[i];
  }
  return text;
}

std::string number_text(double x) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return std::string(text, end);
}

std::string digits_text(double x, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, x);
  return text;
}

std::string scaled_text(double x) {
  constexpr const char* kPrefixes[] = {" ", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  for (; x >= 1000 && prefix + 1 < std::size(kPrefixes); x /= 1000) ++prefix;
  char text[40];
  std::snprintf(text, sizeof text, "%.*f%s", prefix == 0 ? 0 : 2, x, kPrefixes[prefix]);
  return text;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (auto begin = text.begin();;) {
    begin = std::find_if(begin, text.end(), is_word_character);
    if (begin == text.end()) return words;
    const auto end = std::find_if_not(begin, text.end(), is_word_character);
    words.emplace_back(begin, end);
    begin = end;
  }
}

size_t find_word(std::string_view text, std::string_view word) {
  if (word.empty()) return text.npos;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !is_word_character(text[at - 1]) || !is_word_character(word[0]);
    const bool ends =
        end == text.size() || !is_word_character(text[end]) || !is_word_character(word.back());
    if (begins && ends) return at;
  }
  return text.npos;
}

void fail_parse(const Location& at, const std::string& message) {
  throw Error(ErrorCode::kParse, at, shown(message, limits::kMessageBytes));
}

void check_count(const Location& at, const std::string& what, size_t count, size_t most) {
  if (count <= most) return;
  fail_parse(at, what + ": at most " + std::to_string(most) + " are allowed, found " +
                     std::to_string(count));
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(1, wrong.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(wrong, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = &name;
    }
  }
  return best ? "; did you mean '" + *best + "'?" : "";
}

namespace {

/// Takes off the front of `text` what goes on a line of `width` bytes. Lines end behind a blank, or
/// else behind '_' or '/', where there is one that is not at the line's beginning.
std::string_view take_line(std::string_view& text, size_t width) {
  size_t end = text.size();
  if (end > width) {
    const size_t begin = text.find_first_not_of(' ');
    const auto behind = [&](const char* letters) {
      const size_t last = text.find_last_of(letters, width - 1);
      return last == text.npos || last <= begin ? 0 : last + 1;
    };
    end = behind(" ");
    if (end == 0) end = behind("_/");
    if (end == 0) end = width;
    while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

using Rows = std::vector<std::vector<std::string>>;

/// The rows with cells that are wider than their column on several rows; names in the first column
/// are indented where they go on.
Rows wrapped(const Rows& rows, const std::vector<size_t>& widths) {
  Rows lines;
  for (const auto& row : rows) {
    const size_t first = lines.size();
    lines.emplace_back(row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      std::string_view rest = row[i];
      const size_t indent = i == 0 ? std::min(rest.find_first_not_of(' '), widths[0] / 2) + 2 : 0;
      for (size_t at = first; at == first || !rest.empty(); ++at) {
        if (at == lines.size()) lines.emplace_back(row.size());
        const size_t in = at == first ? 0 : indent;
        lines[at][i] = std::string(in, ' ').append(take_line(rest, widths[i] - in));
      }
    }
  }
  return lines;
}

/// The first column of each row, and those from `begin` to `end`; without rows that end before.
Rows columns_of(const Rows& rows, size_t begin, size_t end) {
  Rows part;
  for (const auto& row : rows) {
    if (begin > 1 && row.size() <= begin) continue;
    auto& cells = part.emplace_back(row.begin(), row.begin() + std::min<size_t>(row.size(), 1));
    for (size_t i = begin; i < std::min(end, row.size()); ++i) cells.push_back(row[i]);
  }
  return part;
}

}  // namespace

std::string text_table(const Rows& rows, Side side, size_t width) {
  constexpr size_t kBetween = 2, kNarrowestFirst = 24, kNarrowest = 12;
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  if (widths.empty()) return "";
  size_t total = kBetween * (widths.size() - 1);
  for (const size_t each : widths) total += each;
  for (; width > 0 && total > width; --total) {
    const auto others = std::max_element(widths.begin() + 1, widths.end());
    const bool any = others != widths.end() && *others > kNarrowest;
    const bool first = widths[0] > kNarrowestFirst && (!any || widths[0] >= *others);
    if (!any && !first) break;
    --(first ? widths[0] : *others);
  }
  if (width > 0 && total > width && widths.size() > 2) {
    size_t fit = 2, used = widths[0] + kBetween + widths[1];
    while (used + kBetween + widths[fit] <= width) used += kBetween + widths[fit++];
    return text_table(columns_of(rows, 1, fit), side, width) + "\n" +
           text_table(columns_of(rows, fit, widths.size()), side, width);
  }
  std::string text;
  for (const auto& row : wrapped(rows, widths)) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) line.append(kBetween, ' ');
      line += i == 0 || side == Side::left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string broken_lines(std::string_view text, size_t width) {
  std::string result;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t indent = std::min(line.find_first_not_of(' '), width / 2) + 4;
    for (size_t in = 0;; in = indent) {
      const std::string_view part = take_line(line, width - in);
      result.append(in, ' ').append(part.substr(0, part.find_last_not_of(' ') + 1)) += '\n';
      if (line.empty()) break;
    }
  }
  return result;
}

std::string with_hidden_escaped(std::string json) {
  // JSON has its own escapes of all below 0x20 inside of strings, and newlines between values.
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
  if (std::ranges::all_of(json, plain)) return json;
  std::string escaped;
  escaped.reserve(json.size() + 16);
  for (std::string_view rest = json; !rest.empty();) {
    const Character character = first_character(rest);
    if (character.valid && character.code >= 0x7f && is_hidden(character.code)) {
      escaped += json_escaped(character.code);
    } else {
      escaped += character.bytes;
    }
    rest.remove_prefix(character.bytes.size());
  }
  return escaped;
}

std::string shown(std::string_view text, size_t most) {
  if (text.size() <= most) {
    std::string whole = escaped_front(text, text.size() * 4);
    if (whole.size() <= most) return whole;
  }
  const std::string gap = " ... (" + std::to_string(text.size()) + " bytes in all) ... ";
  if (most <= gap.size()) return escaped_front(text, most);
  const size_t back = (most - gap.size()) / 3;
  return escaped_front(text, most - gap.size() - back) + gap + escaped_back(text, back);
}

std::string_view name_of(ErrorCode code) {
  return name_in<ErrorCode::kInternal>(
      {"invalid_argument", "not_found", "shape", "parse", "io", "compile", "unsupported",
       "out_of_memory", "timeout", "device_lost", "model", "internal"},
      code);
}

std::string at(const Location& location) {
  if (location.file.empty()) return "";
  std::string text = shown(location.file, 1000);
  if (location.line > 0) text += ":" + std::to_string(location.line);
  if (location.line > 0 && location.column > 0) text += ":" + std::to_string(location.column);
  return text + ": ";
}

Error::Error(ErrorCode code, const std::string& message) : Error(code, Location{}, message) {}

Error::Error(ErrorCode code, Location location, const std::string& message)
    : std::runtime_error(at(location) + message),
      code_(code),
      location_(std::move(location)),
      message_(message) {}

Error::Error(std::vector<Error> all) : Error(all.front()) {
  all_ = std::make_shared<const std::vector<Error>>(std::move(all));
}

std::vector<Error> Error::all() const { return all_ ? *all_ : std::vector<Error>{*this}; }

void FileErrors::add(const Error& error) {
  const Location& at = error.location();
  if (at.file.empty() || error.code() == ErrorCode::kUnsupported) throw error;
  for (const Error& known : errors_) {
    const Location& there = known.location();
    if (there.line == at.line && there.column == at.column && known.message() == error.message()) {
      return;
    }
  }
  if (errors_.size() < kMostTold) {
    errors_.push_back(error);
  } else {
    ++untold_;
  }
}

void FileErrors::throw_all() {
  if (errors_.empty()) return;
  if (untold_ > 0) {
    errors_.emplace_back(errors_.front().code(), Location{errors_.front().location().file, 0, 0},
                         "and " + std::to_string(untold_) + " errors more");
  }
  throw Error(std::move(errors_));
}

}  // namespace kbench
