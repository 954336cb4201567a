#include "libkbench/extraction/answer_names.h"

#include <algorithm>
#include <cctype>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

/// Limit on the name of a file or folder. File systems allow 255; a file that is being written has
/// a longer name.
constexpr size_t kPartBytes = 200;
/// Files that a run writes beside a candidate's.
constexpr std::string_view kRunFiles[] = {"answer.md", "feedback.txt"};

constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool ends_in(std::string_view name, std::initializer_list<std::string_view> suffixes) {
  if (name.find('.') == name.npos) return false;
  const std::string small = lowered(name.substr(name.size() - std::min<size_t>(name.size(), 8)));
  const size_t slash = name.find_last_of("/\\");
  const size_t base = name.size() - (slash == name.npos ? 0 : slash + 1);
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) {
    return base > suffix.size() && small.ends_with(suffix);
  });
}

bool is_file_name(std::string_view word) {
  return has_kernel_suffix(word) || has_include_suffix(word) || has_manifest_suffix(word);
}

/// Marks around names: ASCII and typographic quotes, in UTF-8, in Windows' code page
/// 1252, and in its bytes read as Latin-1; Markdown's bold, code and heading; brackets.
constexpr std::string_view kAsciiMarks = "\"'`*()[]{},";
constexpr std::string_view kMarks[] = {
    "\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9c", "\xe2\x80\x9d", "\xc2\xab",
    "\xc2\xbb",     "\xc2\x91",     "\xc2\x92",     "\xc2\x93",     "\xc2\x94",
    "\x91",         "\x92",         "\x93",         "\x94"};

std::string_view without_marks(std::string_view text) {
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (bool again = true;
       again && !text.empty() && !(is_plain(text.front()) && is_plain(text.back()));) {
    again = false;
    const auto strip = [&](std::string_view mark) {
      if (text.starts_with(mark)) {
        text.remove_prefix(mark.size());
        again = true;
      }
      if (text.ends_with(mark)) {
        text.remove_suffix(mark.size());
        again = true;
      }
    };
    for (const char& mark : kAsciiMarks) strip({&mark, 1});
    for (const std::string_view mark : kMarks) strip(mark);
    for (const char& blank : kBlanks) strip({&blank, 1});
    if (text.ends_with(':')) {
      text.remove_suffix(1);
      again = true;
    }
  }
  // __bold__; single underscores belong to the name.
  if (text.size() > 4 && text.starts_with("__") && text.ends_with("__")) {
    text = text.substr(2, text.size() - 4);
  }
  return text;
}

/// Removes "File:", "file name 2 =" and the like from the front.
std::string_view without_label(std::string_view text) {
  const size_t mark = text.find_first_of(":=");
  if (mark == text.npos || mark > 24) return text;
  const std::string label = lowered(without_marks(text.substr(0, mark)));
  for (const std::string_view known : {"file", "filename", "file name", "title", "path", "name"}) {
    if (!label.starts_with(known)) continue;
    if (label.find_first_not_of(" 0123456789", known.size()) == label.npos) {
      return text.substr(mark + 1);
    }
  }
  return text;
}

/// The name where a line holds nothing else; else empty.
std::string_view lone_name(std::string_view line) {
  if (line.size() > 2 * limits::kPathBytes) return {};
  size_t begin = line.find_first_not_of(" \t>#-+");  // quote, heading, list
  if (begin == line.npos) return {};
  line.remove_prefix(begin);
  if (begin = line.find_first_not_of("0123456789");
      begin != line.npos && begin > 0 && (line[begin] == '.' || line[begin] == ')') &&
      begin + 1 < line.size() && line[begin + 1] == ' ') {
    line.remove_prefix(begin + 2);  // "1. "
  }
  const std::string_view name = without_marks(without_label(without_marks(line)));
  if (name.find_first_of(kBlanks) != name.npos || !is_file_name(name)) return {};
  return name;
}

std::string_view first_comment(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  std::string_view line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  for (const std::string_view open : {"//", "/*", "#", ";", "--", "<!--"}) {
    if (!line.starts_with(open)) continue;
    line.remove_prefix(open.size());
    for (const std::string_view close : {"*/", "-->"}) {
      if (const size_t at = line.find(close); at != line.npos) line = line.substr(0, at);
    }
    return line;
  }
  return {};
}

/// The name in "glsl relu.comp", "glsl:relu.comp", "{.glsl file="relu.comp"}", "relu.comp".
std::string_view name_in_info(std::string_view info) {
  info = info.substr(0, 4 * limits::kPathBytes);
  for (size_t at = 0; at < info.size();) {
    const size_t begin = info.find_first_not_of(" \t{},;", at);
    if (begin == info.npos) break;
    size_t end = info.find_first_of(" \t{},;", begin);
    if (end == info.npos) end = info.size();
    std::string_view word = info.substr(begin, end - begin);
    at = end;
    if (const size_t mark = word.find_last_of(":="); mark != word.npos)
      word.remove_prefix(mark + 1);
    word = without_marks(word);
    if (is_file_name(word)) return word;
  }
  return {};
}

}  // namespace

bool has_kernel_suffix(std::string_view name) {
  return ends_in(name, {".comp", ".glsl", ".hlsl", ".cu", ".ptx", ".py"});
}
bool has_include_suffix(std::string_view name) {
  return ends_in(name, {".h", ".inc", ".glslh", ".hlsli", ".cuh"});
}
bool has_manifest_suffix(std::string_view name) { return ends_in(name, {".yaml", ".yml"}); }

BlockName safe_name(std::string_view written) {
  BlockName result;
  if (written.size() > limits::kPathBytes) return {};
  result.unsafe = written.starts_with('/') || written.starts_with('\\');
  std::string part;
  const auto end_part = [&] {
    if (part == "..") result.unsafe = true;
    if (!part.empty() && part != "." && part != "..") {
      result.path += (result.path.empty() ? "" : "/") + part;
    }
    part.clear();
  };
  for (const char c : written) {
    if (c == '/' || c == '\\') {
      end_part();
      result.unsafe |= c == '\\';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
               c == '-') {
      part += c;
    } else {
      part += '_';
      result.unsafe = true;
    }
  }
  end_part();
  return result;
}

BlockName block_name(std::string_view info, std::string_view line_before, std::string_view text) {
  if (const std::string_view name = name_in_info(info); !name.empty()) return safe_name(name);
  std::string_view name = lone_name(line_before);
  if (name.empty()) name = lone_name(first_comment(text));
  if (name.empty()) return {};
  BlockName result = safe_name(name);
  result.in_line = true;
  return result;
}

std::string why_not_in_one_folder(const std::map<std::string, std::string>& files) {
  const auto quoted = [](const std::string& name) { return "'" + shown(name, 80) + "'"; };
  for (const auto& [path, text] : files) {
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      const std::string above = path.substr(0, end);
      if (end - begin > kPartBytes) {
        return "the name " + quoted(path.substr(begin, end - begin)) + " is longer than the " +
               std::to_string(kPartBytes) + " letters that a file or folder may have";
      }
      if (end < path.size() && files.contains(above)) {
        return quoted(above) + " is a file, and cannot be the folder of " + quoted(path) +
               " too; give one of them another name";
      }
      if (end < path.size() && std::ranges::count(kRunFiles, above) > 0) {
        return "no folder can be called " + quoted(above) + ", as that of " + quoted(path) +
               " is: a file of that name is kept there; give it another name";
      }
      begin = end + 1;
    }
  }
  return "";
}

}  // namespace kbench
