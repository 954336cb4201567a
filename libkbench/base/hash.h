// SHA-256.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// Hashes a sequence of texts; each is framed by its length, so that moving a byte from one to the
/// next changes the hash.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256& add(std::string_view text);
  /// The digest in hex; ends the use of the object.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 32 hexadecimal digits from the system's random numbers, which cannot be guessed. Throws kIo.
std::string random_id();

// Bytes as hexadecimal digits.

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

/// And back; nothing for what is not pairs of digits in lower case.
inline std::optional<std::vector<uint8_t>> bytes_of_hex(std::string_view text) {
  const auto value = [](char digit) {
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                                          : -1;
  };
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = value(text[i]), low = value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

/// A UUID as it is written: "00112233-4455-6677-8899-aabbccddeeff".
inline std::string uuid_text(std::span<const uint8_t, 16> uuid) {
  std::string text = hex_of(uuid);
  for (const size_t at : {20, 16, 12, 8}) text.insert(at, 1, '-');
  return text;
}

}  // namespace kbench
