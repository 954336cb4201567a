// PTX text cut into words, numbers, strings and signs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench::cuda {

struct PtxLexeme {
  enum class Kind {
    name,      ///< "mov", "%r1", "$L__BB0_2", "_"
    modifier,  ///< a dot and what belongs to it: ".u64", ".shared::cta", ".16x256b"
    number,
    string,
    sign
  };
  Kind kind = Kind::sign;
  std::string_view text;
  int line = 0;
};

using LexemeKind = PtxLexeme::Kind;

/// Without blanks and comments. Throws kParse for what stands in no PTX.
std::vector<PtxLexeme> read_ptx_lexemes(std::string_view text);

/// An integer as PTX writes it: "12", "0x1F", "7U"; nothing for any other.
std::optional<uint64_t> ptx_number(std::string_view text);

/// The text, cut where it is long, in quotes for a message.
std::string quoted_ptx(std::string_view text);

/// Throws kParse with that line.
[[noreturn]] void fail_ptx(int line, const std::string& message);

}  // namespace kbench::cuda
