#include "harness/measure/vulkan/glsl_version.h"

#include <algorithm>
#include <charconv>

namespace kbench::vulkan {
namespace {

constexpr int kFirstDesktop = 420, kFirstEs = 310;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The text without its comments, lines kept.
std::string without_comments(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view two = text.substr(i, 2);
    if (two == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i < text.size()) plain += '\n';
    } else if (two == "/*") {
      for (i += 2; i < text.size() && text.substr(i, 2) != "*/"; ++i) {
        if (text[i] == '\n') plain += '\n';
      }
      ++i;
      plain += ' ';
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// What follows "#version" on a line; nothing on another line.
std::optional<std::string_view> directive(std::string_view line) {
  const auto skip = [&line] {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  };
  skip();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip();
  constexpr std::string_view kWord = "version";
  if (!line.starts_with(kWord)) return std::nullopt;
  line.remove_prefix(kWord.size());
  if (!line.empty() && !is_blank(line.front())) return std::nullopt;
  skip();
  return line;
}

std::string fault_of(std::string_view stated) {
  int number = 0;
  const auto [end, error] = std::from_chars(stated.data(), stated.data() + stated.size(), number);
  if (error != std::errc()) return "#version is followed by no number; write #version 450";
  const std::string_view profile(end, static_cast<size_t>(stated.data() + stated.size() - end));
  const bool es = profile.find("es") != std::string_view::npos;
  if (number >= (es ? kFirstEs : kFirstDesktop)) return "";
  return "#version " + std::to_string(number) + (es ? " es" : "") +
         " has no compute shaders: they need 420 or later, or 310 es; write #version 450";
}

}  // namespace

GlslVersion read_glsl_version(std::string_view text) {
  const std::string plain = without_comments(text);
  GlslVersion found;
  bool first = true;
  int line = 1;
  for (size_t at = 0; at <= plain.size(); ++line) {
    const size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view here = std::string_view(plain).substr(at, end - at);
    at = end + 1;
    if (const auto stated = directive(here)) {
      found.line = line;
      found.stated = true;
      found.error = first ? fault_of(*stated)
                          : "#version has to come first: nothing but comments may stand before it";
      return found;
    }
    const bool blank = here.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
    if (!blank) first = false;
  }
  return found;
}

}  // namespace kbench::vulkan
