#include "libkbench/base/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <iterator>

#include "kbench/candidate_limits.h"
#include "kbench/text.h"

namespace kbench {

std::string quoted(const std::string& text) { return "'" + shown(text, 120) + "'"; }

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

}  // namespace kbench
