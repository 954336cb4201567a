#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "kbench/text.h"
#include "libkbench/base/json_text.h"

namespace kbench {
namespace {

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

}  // namespace kbench
