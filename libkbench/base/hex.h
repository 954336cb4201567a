// Bytes as hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kbench {

/// Two digits a byte, in lower case.
inline std::string hex_of(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// A UUID as it is written: "00112233-4455-6677-8899-aabbccddeeff".
inline std::string uuid_text(std::span<const uint8_t, 16> uuid) {
  std::string text = hex_of(uuid);
  for (const size_t at : {20, 16, 12, 8}) text.insert(at, 1, '-');
  return text;
}

}  // namespace kbench
