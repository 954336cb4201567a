// Small texts: numbers, names, lists and tables in messages, words and case.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/error.h"

namespace kbench {

/// The text in quotes, escaped and shortened for a message (kbench/error.h).
std::string quoted(const std::string& text);
/// "a, b, c"; of very many names the first ones and how many more there are.
std::string joined(const std::vector<std::string>& names);
/// Shortest decimal text that reads back as x.
std::string number_text(double x);
/// With so many significant digits, as printf's %g: 0.0001235, 1.2e+20.
std::string digits_text(double x, int digits);
/// 1.5e9 -> "1.50 G", 400 -> "400 ": what its unit follows.
std::string scaled_text(double x);
/// Without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

/// Reads a text that is a number and nothing else; false where it is not, or T cannot hold it.
template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
/// "a, b, c": what text(value) gives for each value.
template <class Range, class Text>
std::string listed(const Range& values, Text text) {
  std::string list;
  for (const auto& value : values) {
    list += list.empty() ? "" : ", ";
    list += text(value);
  }
  return list;
}

/// The same of the first `most` of them: "a, b and 3 more".
template <class Range, class Text>
std::string listed(const Range& values, Text text, size_t most) {
  const std::string first = listed(values | std::views::take(most), text);
  if (values.size() <= most) return first;
  return first + " and " + std::to_string(values.size() - most) + " more";
}

/// Which signs begin comments: // and /* or #.
enum class Comments { of_c, of_python };
/// The text with blanks for its comments; lines and places stay.
std::string without_comments(std::string text, Comments comments);

char lower(char c);  ///< of ASCII letters; others stay
std::string lowered(std::string_view text);
/// Letters, digits and '_'.
bool is_word_character(char c);
/// The longest runs of such characters, in order.
std::vector<std::string_view> words_in(std::string_view text);
/// Where `word` stands in a text and not as a part of a longer one; npos where it does not.
size_t find_word(std::string_view text, std::string_view word);

/// Throws kParse. Whatever the message quotes is escaped, and cut where it is too long.
[[noreturn]] void fail_parse(const Location& at, const std::string& message);
/// The same when there is more of something than the limit allows.
void check_count(const Location& at, const std::string& what, size_t count, size_t most);

/// Errors of one file, told together: a part with an error is left out, and the parts behind it are
/// read all the same.
class FileErrors {
 public:
  /// Calls `read`; false where it threw an Error that names a place, which is kept. What a device
  /// lacks (kUnsupported) is no error of the file, and is thrown on.
  template <class Read>
  bool keep(Read&& read) {
    try {
      read();
      return true;
    } catch (const Error& error) {
      for (const Error& each : error.all()) add(each);
      return false;
    }
  }
  bool any() const { return !errors_.empty(); }
  /// Throws what was kept as one Error.
  void throw_all();

 private:
  static constexpr size_t kMostTold = 50;

  void add(const Error& error);

  std::vector<Error> errors_;
  size_t untold_ = 0;  ///< beyond kMostTold
};

/// "; did you mean 'x'?" for the name closest to `wrong` by edit distance, in which neighbours that
/// changed places count one; or "" when none is close.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

enum class Side { left, right };

/// The columns of what is printed for people.
inline constexpr size_t kLineWidth = 100;

/// Columns as wide as their widest cell with two blanks between, no blanks at the ends of lines.
/// Cells of the first column stand to the left of it, those of the others on `side`. Where lines
/// would be longer than `width`, cells take several lines; columns that do not fit even so stand in
/// a table below, with the first column again. A width of 0 is none.
std::string text_table(const std::vector<std::vector<std::string>>& rows, Side side,
                       size_t width = kLineWidth);

/// The text with lines that are longer than `width` broken, and indented where they go on.
std::string broken_lines(std::string_view text, size_t width = kLineWidth);

/// Letters, digits and '_' of ASCII, no digit first.
inline bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::ranges::all_of(
             text, [](unsigned char c) { return (c < 128 && std::isalnum(c)) || c == '_'; });
}

}  // namespace kbench
