// ModelNew files: a PyTorch module that is a candidate by itself, as KernelBench has them.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "kbench/candidate_limits.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"

namespace kbench {
namespace {

constexpr std::string_view kTaskKey = "# task:";
constexpr const char* kManifest = "candidate.yaml";
constexpr const char* kModel = "model_new.py";

/// What stands before and behind the task in the manifest of model_candidate().
constexpr std::string_view kHead = "kbench: 1\ntask: ", kTail = "\ntorch: {file: model_new.py}\n";

/// The number behind `word` in a name such as "level_1_problem_19_sample_0"; nothing if there is
/// none.
std::optional<int> number_behind(std::string_view name, std::string_view word) {
  const size_t at = name.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  size_t digit = at + word.size();
  if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
  int number = 0;
  size_t digits = 0;
  for (; digit + digits < name.size() && digits < 4; ++digits) {
    const char c = name[digit + digits];
    if (!std::isdigit(static_cast<unsigned char>(c))) break;
    number = number * 10 + (c - '0');
  }
  return digits > 0 ? std::optional(number) : std::nullopt;
}

/// The text and the line of the comment that names the task, if there is one.
std::optional<Sourced> task_comment(std::string_view text, const std::string& file) {
  text = without_byte_order_mark(text);
  int line = 1;
  for (size_t begin = 0; begin <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    if (whole.starts_with(kTaskKey)) {
      return Sourced{std::string(trimmed(whole.substr(kTaskKey.size()))), {file, line, 1}};
    }
    begin = end + 1;
  }
  return std::nullopt;
}

/// Goes through a text token by token.
class PythonTokens {
 public:
  struct Token {
    enum class Kind { name, sign, line, end };  ///< line: of a logical line, its end
    Kind kind = Kind::end;
    std::string_view text = {};
  };

  explicit PythonTokens(std::string_view text) : text_(text) { begin_line(); }

  /// Strings are signs of their first character, and numbers are names: neither matters here.
  Token next() {
    for (;;) {
      const char c = at(0);
      if (i_ >= text_.size()) return {};
      if (c == '#') {
        while (i_ < text_.size() && !ends_line(at(0))) ++i_;
      } else if (ends_line(c)) {
        ++i_;
        begin_line();
        if (depth_ > 0 && !begins_definition()) continue;
        depth_ = 0;
        return {Token::Kind::line};
      } else if (c == '\\' && ends_line(at(1))) {
        i_ += at(1) == '\r' && at(2) == '\n' ? 3 : 2;
      } else if (c == '"' || c == '\'') {
        const size_t begin = i_;
        skip_string();
        return {Token::Kind::sign, text_.substr(begin, 1)};
      } else if (goes_on(c)) {
        const size_t begin = i_;
        while (goes_on(at(0))) ++i_;
        const std::string_view name = text_.substr(begin, i_ - begin);
        if ((at(0) == '"' || at(0) == '\'') && is_prefix(name)) continue;  // Of a string.
        return {Token::Kind::name, name};
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
        ++i_;
      } else {
        return {Token::Kind::sign, sign()};
      }
    }
  }

  /// The column in which the present logical line begins.
  size_t indent() const { return indent_; }
  /// How many brackets are open.
  size_t depth() const { return depth_; }

 private:
  static bool ends_line(char c) { return c == '\n' || c == '\r'; }
  static bool goes_on(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
  }
  static bool is_prefix(std::string_view name) {
    return name.size() <= 2 && name.find_first_not_of("rRbBuUfFtT") == name.npos;
  }
  char at(size_t ahead) const { return i_ + ahead < text_.size() ? text_[i_ + ahead] : '\0'; }

  /// A backslash keeps a quote from ending a string, in raw ones, too.
  void skip_string() {
    const char quote = at(0);
    const bool triple = at(1) == quote && at(2) == quote;
    const size_t begin = i_ += triple ? 3 : 1;
    while (i_ < text_.size()) {
      if (at(0) == '\\') {
        i_ += at(1) == '\r' && at(2) == '\n' ? 3 : 2;
      } else if (triple ? at(0) == quote && at(1) == quote && at(2) == quote : at(0) == quote) {
        i_ += triple ? 3 : 1;
        return;
      } else if (!triple && ends_line(at(0))) {
        return;
      } else {
        ++i_;
      }
    }
    i_ = std::min(begin, text_.size());  // It is not closed, which Python will say.
  }

  std::string_view sign() {
    const char c = text_[i_];
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    const size_t begin = i_++;
    const bool compound =
        at(0) == '=' && std::string_view("=!<>+-*/%@&|^:").find(c) != std::string_view::npos;
    if (compound) ++i_;
    return text_.substr(begin, i_ - begin);
  }

  /// No bracket holds a definition: one that is open here is never closed, which Python will say.
  bool begins_definition() const {
    for (const std::string_view word : {"class", "def"}) {
      if (text_.substr(i_).starts_with(word) && !goes_on(at(word.size()))) return true;
    }
    return false;
  }

  /// Blank lines and lines of a comment alone have no indentation of their own.
  void begin_line() {
    for (;;) {
      size_t column = 0;
      for (; at(0) == ' ' || at(0) == '\t' || at(0) == '\f'; ++i_) {
        column = at(0) == '\t' ? (column / 8 + 1) * 8 : at(0) == '\f' ? 0 : column + 1;
      }
      if (at(0) == '#') {
        while (i_ < text_.size() && !ends_line(at(0))) ++i_;
      }
      if (i_ >= text_.size() || !ends_line(at(0))) {
        indent_ = column;
        return;
      }
      ++i_;
    }
  }

  std::string_view text_;
  size_t i_ = 0, indent_ = 0, depth_ = 0;
};

using Token = PythonTokens::Token;

bool opens_scope(std::string_view word) { return word == "class" || word == "def"; }

/// `if`, `try` and the others whose colon is followed by statements of the same scope.
bool opens_block(std::string_view word) {
  constexpr std::string_view kWords[] = {"if",  "elif",   "else",    "for",  "while",
                                         "try", "except", "finally", "with", "async"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

/// A class or a function.
bool heads_scope(const std::vector<Token>& words) {
  const size_t at = !words.empty() && words[0].text == "async" ? 1 : 0;
  return words.size() > at && opens_scope(words[at].text);
}

/// Whether a statement binds the name.
bool statement_binds(const std::vector<Token>& words, std::string_view name) {
  if (words.empty()) return false;
  const auto is = [&](size_t i, std::string_view text) {
    return i < words.size() && words[i].text == text;
  };
  const std::string_view first = words[0].text;
  if (heads_scope(words)) return is(first == "async" ? 2 : 1, name);
  if (first == "import" || first == "from") {
    // What stands before `as` gets no name of its own.
    for (size_t i = 1; i < words.size(); ++i) {
      if (is(i, name) && !is(i + 1, "as") && !is(i - 1, ".") && !is(i + 1, ".") &&
          !is(i - 1, "from"))
        return true;
    }
    return false;
  }
  // Targets stand before a "=", with an annotation perhaps.
  for (size_t i = 0; i < words.size(); ++i) {
    if (is(i, name) && !is(i - 1, ".") && (is(i + 1, "=") || (i == 0 && is(1, ":")))) return true;
  }
  return false;
}

}  // namespace

bool is_model_file(const std::string& name) { return name.ends_with(".py"); }

bool defines_model(const std::string& text) { return binds_name(text, "ModelNew"); }

std::optional<TaskId> stated_task(const std::string& text, const std::string& name, Location* at) {
  if (const auto comment = task_comment(text, name)) {
    if (at != nullptr) *at = comment->at;
    try {
      return parse_task_id(comment->text);
    } catch (const Error& error) {
      throw Error(error.code(), comment->at, error.message());
    }
  }
  const std::filesystem::path path(name);
  const std::string stem = path.filename().string();
  const auto level = number_behind(stem, "level"), problem = number_behind(stem, "problem");
  if (level && problem) return TaskId{*level, *problem};
  const auto level_of_folder = number_behind(path.parent_path().filename().string(), "level");
  const auto first = number_behind(stem, "");
  if (level_of_folder && first) return TaskId{*level_of_folder, *first};
  return std::nullopt;
}

Candidate load_model(const std::string& text, const std::string& file) {
  Candidate candidate;
  candidate.path = file;
  const auto task = stated_task(text, file, &candidate.task_at);
  if (!task) {
    throw Error(ErrorCode::kParse, Location{file, 1, 0},
                "neither its name nor a comment says which task it is for; write a line '# task: "
                "level1/19' into it");
  }
  candidate.task = *task;
  if (!defines_model(text)) {
    throw Error(ErrorCode::kParse, Location{file, 1, 0},
                "no ModelNew: a Python file is a candidate only if it defines one (a class, or an "
                "assignment, outside of other classes and functions)");
  }
  candidate.torch = TorchModule{file, text, Location{file, 1, 1}};
  candidate.hash = Sha256().add(text).hex();
  return candidate;
}

std::map<std::string, std::string> model_candidate(TaskId task, const std::string& text) {
  return {{kManifest, std::string(kHead) + to_string(task) + std::string(kTail)}, {kModel, text}};
}

std::optional<std::string> model_of(const std::map<std::string, std::string>& files) {
  const auto manifest = files.find(kManifest), model = files.find(kModel);
  if (files.size() != 2 || manifest == files.end() || model == files.end()) return std::nullopt;
  const std::string_view text = manifest->second;
  const bool is_made_here =
      text.size() > kHead.size() + kTail.size() && text.starts_with(kHead) &&
      text.ends_with(kTail) &&
      text.substr(kHead.size(), text.size() - kHead.size() - kTail.size()).find('\n') ==
          std::string_view::npos;
  return is_made_here ? std::optional(model->second) : std::nullopt;
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool binds_name(std::string_view python, std::string_view name) {
  PythonTokens tokens(without_byte_order_mark(python));
  std::vector<size_t> scopes;  // indentation of the classes and functions that are open
  for (bool more = true; more;) {
    const size_t indent = tokens.indent();
    std::erase_if(scopes, [&](size_t each) { return each >= indent; });
    bool of_module = scopes.empty();
    std::vector<Token> words;  // of a statement, without those in brackets
    for (bool line = true; line;) {
      const bool outside = tokens.depth() == 0;
      const Token token = tokens.next();
      more = token.kind != Token::Kind::end;
      line = more && token.kind != Token::Kind::line;
      const bool block = outside && token.text == ":" && !words.empty() &&
                         opens_block(words.front().text) && !heads_scope(words);
      if (!line || block || (outside && token.text == ";")) {
        if (of_module && statement_binds(words, name)) return true;
        if (heads_scope(words)) {
          scopes.push_back(indent);
          of_module = false;
        }
        words.clear();
        continue;
      }
      // An import's names may stand in brackets.
      const bool imports = !words.empty() && words.front().text == "from";
      if (outside || imports) words.push_back(token);
    }
  }
  return false;
}

}  // namespace kbench
