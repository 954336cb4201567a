#include "harness/measure/cuda/ptx_declaration.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

namespace kbench::cuda {
namespace {

template <size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// What is declared is read from left to right; a word that does not fit ends it with an error, or
/// as `unread` where the rules have a name for it.
class Reader {
 public:
  explicit Reader(std::span<const PtxLexeme> words) : words_(words) {}

  PtxDeclaration variables() {
    while (at_ < words_.size() && is_ptx_linkage(word())) {
      made_.external = made_.external || word() == ".extern";
      ++at_;
    }
    if (at_ == words_.size() || !is_ptx_space(word())) {
      fail_ptx(words_[0].line, quoted_ptx(words_[0].text) + " declares nothing");
    }
    made_.space = word();
    ++at_;
    if (!type(/*parameter=*/false)) return made_;
    do {
      declarator();
    } while (take(","));
    if (at_ < words_.size()) fail_too_many();
    return made_;
  }

  PtxDeclaration parameter() {
    if (word() != ".param" && word() != ".reg") {
      fail_ptx(words_[0].line, quoted_ptx(word()) + " is no parameter");
    }
    made_.space = word();
    ++at_;
    if (!type(/*parameter=*/true)) return made_;
    declarator();
    if (at_ < words_.size()) fail_too_many();
    return made_;
  }

  std::string_view limits(PtxFunction& function) {
    while (at_ < words_.size()) {
      if (words_[at_].kind != LexemeKind::modifier) fail_too_many();
      const std::string_view limit = word();
      constexpr std::string_view kFlags[] = {".noreturn", ".explicitcluster"};
      constexpr std::string_view kNumbers[] = {".maxntid",       ".reqntid", ".minnctapersm",
                                               ".maxnctapersm",  ".maxnreg", ".reqnctapercluster",
                                               ".maxclusterrank"};
      if (!is_one_of(limit, kFlags) && !is_one_of(limit, kNumbers)) return limit;
      ++at_;
      if (is_one_of(limit, kNumbers)) set_limit(limit, function);
    }
    return {};
  }

 private:
  std::string_view word() const { return at_ < words_.size() ? words_[at_].text : ""; }
  int line() const { return words_[std::min(at_, words_.size() - 1)].line; }
  bool take(std::string_view text) {
    if (word() != text) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail_too_many() const {
    fail_ptx(line(), quoted_ptx(word()) + " is not expected here");
  }
  uint64_t number(std::string_view behind) {
    const auto value = at_ < words_.size() ? ptx_number(word()) : std::nullopt;
    if (!value) fail_ptx(line(), "a number is expected behind " + quoted_ptx(behind));
    ++at_;
    return *value;
  }

  /// ".align 4 .v2 .f32"; false where a word has no place there.
  bool type(bool parameter) {
    bool pointer = false;
    while (at_ < words_.size() && words_[at_].kind == LexemeKind::modifier) {
      constexpr std::string_view kSpaces[] = {".global", ".const", ".shared", ".local"};
      const std::string_view modifier = word();
      ++at_;
      if (modifier == ".align") {
        const uint64_t alignment = number(modifier);
        if (!pointer) alignment_ = alignment;  // else of what it points to
      } else if (modifier == ".v2" || modifier == ".v4") {
        vector_ = modifier == ".v2" ? 2 : 4;
      } else if (modifier == ".ptr" && parameter && element_ > 0) {
        pointer = true;
      } else if (pointer && is_one_of(modifier, kSpaces)) {
        continue;
      } else if (element_ == 0 && ptx_type_bytes(modifier) > 0) {
        element_ = ptx_type_bytes(modifier);
      } else {
        made_.unread = modifier;
        return false;
      }
    }
    if (element_ == 0) fail_ptx(line(), "a declaration without a type");
    return true;
  }

  void declarator() {
    if (at_ == words_.size() || words_[at_].kind != LexemeKind::name) {
      fail_ptx(line(), "a declaration without a name");
    }
    PtxDeclared one{word(), line(), 0, 0, 0, {}};
    ++at_;
    if (made_.space == ".reg") {
      if (take("<")) {
        one.count = std::max<uint64_t>(number("<"), 1);
        if (!take(">")) fail_ptx(line(), "'>' is missing");
      }
    } else {
      uint64_t count = vector_;
      while (take("[")) {
        const uint64_t extent = word() == "]" ? 0 : number("[");  // extern: the launch says
        if (__builtin_mul_overflow(count, extent, &count)) count = kMostPtxBytes;
        if (!take("]")) fail_ptx(line(), "']' is missing");
      }
      if (__builtin_mul_overflow(element_, count, &one.size)) one.size = kMostPtxBytes;
      one.size = std::min(one.size, kMostPtxBytes);
      if (take("=")) one.initial = initial();
    }
    one.alignment = alignment_ > 0 ? alignment_ : std::max<uint64_t>(element_, 1);
    made_.declared.push_back(one);
  }

  /// "{1, -2, {3}}" or "5"; a name in it, or nothing.
  std::string_view initial() {
    size_t depth = 0, begin = at_;
    std::string_view named;
    for (; at_ < words_.size(); ++at_) {
      const PtxLexeme& each = words_[at_];
      if (each.kind == LexemeKind::name) {
        if (named.empty() || named == "generic") named = each.text;
        continue;
      }
      if (each.kind == LexemeKind::number) continue;
      if (each.text == "," && depth == 0) break;
      if (each.text == "{") ++depth;
      if (each.text == "}") {
        if (depth == 0) fail_too_many();
        --depth;
      }
      constexpr std::string_view kSigns[] = {"{", "}", ",", "-", "+", "(", ")"};
      if (each.kind != LexemeKind::sign || !is_one_of(each.text, kSigns)) fail_too_many();
    }
    if (at_ == begin || depth > 0) fail_ptx(line(), "an initial value does not end");
    return named;
  }

  void set_limit(std::string_view limit, PtxFunction& function) {
    std::vector<uint32_t> extents;
    uint64_t threads = 1;
    do {
      const uint64_t extent = std::min<uint64_t>(number(limit), UINT32_MAX);
      extents.push_back(static_cast<uint32_t>(extent));
      threads = std::min<uint64_t>(threads * extent, UINT32_MAX);
    } while (take(","));
    if (limit == ".reqnctapercluster") function.required_cluster = extents;
    if (limit != ".maxntid" && limit != ".reqntid") return;
    function.max_threads = static_cast<uint32_t>(threads);
    if (limit == ".reqntid") function.required_block = extents;
  }

  std::span<const PtxLexeme> words_;
  size_t at_ = 0;
  uint64_t element_ = 0, vector_ = 1, alignment_ = 0;
  PtxDeclaration made_;
};

}  // namespace

bool is_ptx_linkage(std::string_view word) {
  constexpr std::string_view kWords[] = {".visible", ".extern", ".weak", ".common"};
  return is_one_of(word, kWords);
}

bool is_ptx_space(std::string_view word) {
  constexpr std::string_view kWords[] = {".global", ".const", ".shared",
                                         ".local",  ".param", ".reg"};
  return is_one_of(word, kWords);
}

PtxDeclaration read_ptx_declaration(std::span<const PtxLexeme> words) {
  return Reader(words).variables();
}
PtxDeclaration read_ptx_parameter(std::span<const PtxLexeme> words) {
  return Reader(words).parameter();
}
std::string_view read_ptx_limits(std::span<const PtxLexeme> words, PtxFunction& function) {
  return Reader(words).limits(function);
}

}  // namespace kbench::cuda
