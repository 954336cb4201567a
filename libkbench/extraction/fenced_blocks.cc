#include "libkbench/extraction/fenced_blocks.h"

#include <md4c.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "libkbench/base/text.h"

namespace kbench {
namespace {

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n>") == line.npos; }

/// Where the source's lines begin, and one more: its end.
std::vector<size_t> line_starts(std::string_view source) {
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    if (source[i] == '\n' || source[i] == '\r') starts.push_back(i + 1);
  }
  if (starts.back() != source.size()) starts.push_back(source.size());
  return starts;
}

/// The source with the marks of emphasis, links and code spans replaced by 'x', byte for byte: md4c
/// would spend most of its time on them, and a hundred times as much on texts made for that.
std::string without_inlines(std::string_view source) {
  std::string plain(source);
  bool in_front = true;    // so far, what may stand before a fence
  bool has_fence = false;  // a line that may open or close one is kept as it is
  for (char& c : plain) {
    switch (c) {
      case '\n':
      case '\r':
        in_front = true;
        has_fence = false;
        break;
      case '`':
      case '~':
        has_fence = has_fence || in_front;
        [[fallthrough]];
      case '*':
      case '_':
        if (!in_front && !has_fence) c = 'x';
        break;
      case '[':
      case ']':
      case '!':
      case '&':
      case '\\':
      case '<':
      case '@':
      case ':':
        c = 'x';
        in_front = false;
        break;
      case ' ':
      case '\t':
      case '>':
      case '-':
      case '+':
      case '.':
      case ')':
        break;
      default:
        in_front = in_front && c >= '0' && c <= '9';
    }
  }
  return plain;
}

/// Collects what md4c's callbacks report. Its pieces of text point into the plain form of the
/// source, which gives their places.
class Gatherer {
 public:
  explicit Gatherer(std::string_view source)
      : source_(source), starts_(line_starts(source)), plain_(without_inlines(source)) {}
  const std::string& plain() const { return plain_; }

  void open(const MD_BLOCK_CODE_DETAIL& detail) {
    block_.emplace();
    block_->info = original({detail.info.text, detail.info.size});
    block_->language = original({detail.lang.text, detail.lang.size});
    fence_ = detail.fence_char;
    first_line_.reset();
    lines_ = 0;
  }
  void text(MD_TEXTTYPE type, std::string_view piece) {
    if (!block_) return;
    if (type == MD_TEXT_NULLCHAR) {
      block_->text += '\0';
      return;
    }
    block_->text += original(piece);
    if (piece == "\n") {
      ++lines_;
    } else if (!first_line_) {
      if (const auto offset = offset_of(piece)) first_line_ = line_of(*offset) - lines_;
    }
  }
  void close() {
    if (block_ && first_line_ && *first_line_ > 0) {
      const size_t fence = *first_line_ - 1;
      const size_t after = std::min(*first_line_ + lines_, starts_.size() - 1);
      block_->begin = starts_[fence];
      block_->end = starts_[after];
      block_->closed = is_closing(line(after));
      for (size_t above = fence; above-- > 0;) {
        if (is_blank(line(above))) continue;
        block_->line_before = line(above);
        break;
      }
      blocks.push_back(std::move(*block_));
    }
    block_.reset();
  }

  std::vector<FencedBlock> blocks;
  std::exception_ptr failure;

 private:
  /// The place of a piece; nothing for text that md4c made itself, such as indentation.
  std::optional<size_t> offset_of(std::string_view piece) const {
    const std::less<const char*> before;
    const char* begin = plain_.data();
    if (piece.empty() || before(piece.data(), begin)) return std::nullopt;
    if (!before(piece.data(), begin + plain_.size())) return std::nullopt;
    return static_cast<size_t>(piece.data() - begin);
  }
  std::string_view original(std::string_view piece) const {
    const auto offset = offset_of(piece);
    return offset ? source_.substr(*offset, piece.size()) : piece;
  }
  size_t line_of(size_t offset) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return static_cast<size_t>(next - starts_.begin()) - 1;
  }
  /// A line with its end; empty behind the last.
  std::string_view line(size_t number) const {
    if (number + 1 >= starts_.size()) return {};
    return source_.substr(starts_[number], starts_[number + 1] - starts_[number]);
  }
  bool is_closing(std::string_view line) const {
    const size_t begin = line.find_first_not_of(" \t>");
    if (begin == line.npos) return false;
    const size_t end = line.find_first_not_of(fence_, begin);
    const size_t length = (end == line.npos ? line.size() : end) - begin;
    return length >= 3 && (end == line.npos || is_blank(line.substr(end)));
  }

  std::string_view source_;
  std::vector<size_t> starts_;
  std::string plain_;
  std::optional<FencedBlock> block_;
  char fence_ = 0;
  std::optional<size_t> first_line_;  ///< of the text, counted from 0
  size_t lines_ = 0;                  ///< of the text, so far
};

/// Runs f and keeps its exception, which must not pass through md4c, a C library.
template <class F>
int guarded(void* user, F f) {
  auto& gatherer = *static_cast<Gatherer*>(user);
  try {
    f(gatherer);
    return 0;
  } catch (...) {
    gatherer.failure = std::current_exception();
    return 1;
  }
}

int enter_block(MD_BLOCKTYPE type, void* detail, void* user) {
  if (type != MD_BLOCK_CODE) return 0;
  return guarded(user, [&](Gatherer& g) { g.open(*static_cast<MD_BLOCK_CODE_DETAIL*>(detail)); });
}
int leave_block(MD_BLOCKTYPE type, void*, void* user) {
  if (type != MD_BLOCK_CODE) return 0;
  return guarded(user, [](Gatherer& g) { g.close(); });
}
int pass_span(MD_SPANTYPE, void*, void*) { return 0; }
int take_text(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* user) {
  return guarded(user, [&](Gatherer& g) { g.text(type, {text, size}); });
}

/// Whether the text at that place is `what`, ignoring case.
bool stands_at(std::string_view text, size_t at, std::string_view what) {
  const std::string_view there = text.substr(at, what.size());
  return std::equal(there.begin(), there.end(), what.begin(), what.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

/// Whether only blanks precede a place in its line.
bool begins_line(std::string_view text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) --at;
  return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r';
}

/// Whether only a fence's mark precedes a place in its line: "``` </think>".
bool follows_a_fence(std::string_view text, size_t begin) {
  constexpr size_t kMark = 3;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  if (begin == 0) return false;
  const char mark = text[begin - 1];
  if (mark != '`' && mark != '~') return false;
  const size_t end = begin;
  while (begin > 0 && text[begin - 1] == mark) --begin;
  if (end - begin < kMark) return false;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t' || text[begin - 1] == '>'))
    --begin;
  return begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r';
}

}  // namespace

std::vector<FencedBlock> fenced_blocks(std::string_view source) {
  source = source.substr(0, std::numeric_limits<MD_SIZE>::max() / 2);
  Gatherer gatherer(source);
  MD_PARSER parser = {};
  parser.flags = MD_FLAG_NOINDENTEDCODEBLOCKS | MD_FLAG_NOHTML;
  parser.enter_block = enter_block;
  parser.leave_block = leave_block;
  parser.enter_span = pass_span;
  parser.leave_span = pass_span;
  parser.text = take_text;
  const int failed = md_parse(gatherer.plain().data(),
                              static_cast<MD_SIZE>(gatherer.plain().size()), &parser, &gatherer);
  if (gatherer.failure) std::rethrow_exception(gatherer.failure);
  if (failed != 0) throw std::bad_alloc();  // the one way in which md4c itself fails
  return std::move(gatherer.blocks);
}

Said without_thoughts(std::string_view text, const std::vector<std::string>& tags) {
  std::vector<std::pair<size_t, size_t>> ends;
  for (size_t at = 0; (at = text.find("</", at)) != text.npos; at += 2) {
    for (const std::string& tag : tags) {
      const std::string end = "</" + tag + ">";
      if (!stands_at(text, at, end)) continue;
      ends.emplace_back(at, at + end.size());
      break;
    }
  }
  if (ends.empty()) {
    const size_t front = text.find_first_not_of(" \t\r\n");
    const bool opened =
        front != text.npos && std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
          return stands_at(text, front, "<" + tag + ">");
        });
    return {text, opened};
  }
  // By CommonMark's rules such a line closes no fence, but models mean it to.
  const auto fenced_end = std::find_if(ends.rbegin(), ends.rend(), [&](const auto& each) {
    return follows_a_fence(text, each.first);
  });
  if (fenced_end != ends.rend()) {
    return without_thoughts(text.substr(fenced_end->second), tags);
  }
  const std::vector<FencedBlock> blocks = fenced_blocks(text);
  size_t cut = 0, in_front = 0;
  size_t next = 0;
  for (const auto& [begin, end] : ends) {
    while (next < blocks.size() && blocks[next].end <= begin) ++next;
    const bool fenced = next < blocks.size() && blocks[next].begin <= begin;
    if (!fenced) cut = end;
    if (begins_line(text, begin)) in_front = end;
  }
  return {text.substr(cut > 0 ? cut : in_front), false};
}

}  // namespace kbench
