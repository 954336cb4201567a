#include "libkbench/import/source.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kbench/error.h"
#include "libkbench/import/headers.h"

namespace kbench::importing {
namespace {

bool host_word(const Token& t) {
  if (t.kind == Token::Kind::sign) return t.text == "<<<";
  if (t.kind != Token::Kind::name) return false;
  static const std::set<std::string, std::less<>> kWords = {"torch",
                                                            "at",
                                                            "c10",
                                                            "Tensor",
                                                            "TORCH_CHECK",
                                                            "vector",
                                                            "tuple",
                                                            "string",
                                                            "pybind11",
                                                            "py",
                                                            "cudaStream_t",
                                                            "cudaError_t",
                                                            "cublasHandle_t",
                                                            "AT_DISPATCH_FLOATING_TYPES",
                                                            "iostream"};
  return kWords.contains(t.text) ||
         (t.text.starts_with("cuda") && t.text.size() > 4 && t.text[4] >= 'A' && t.text[4] <= 'Z');
}

class Splitter {
 public:
  Splitter(const std::string& source, int line, bool is_device)
      : source_(source), tokens_(cpp_tokens(source, line)), is_device_(is_device) {}

  CudaSource split() {
    items("");
    if (is_device_) result_.device = stand_in(used_) + device_;
    return std::move(result_);
  }

 private:
  /// The token behind an item at the top level, and those within it; 0 where there is none.
  struct Item {
    size_t to = 0;
    size_t name = 0, open = 0;  ///< what stands before the first parenthesis, and that
    size_t body = 0;            ///< a function's brace
    bool type = false, equals = false, global = false, device = false;
  };

  const Token& now() const { return tokens_[i_]; }
  bool done() const { return now().kind == Token::Kind::end; }
  std::vector<Token> between(size_t from, size_t to) const {
    return {tokens_.begin() + static_cast<std::ptrdiff_t>(from),
            tokens_.begin() + static_cast<std::ptrdiff_t>(to)};
  }
  /// The token behind the bracket that closes the one at k.
  size_t behind(size_t k) const {
    int open = 0;
    for (; tokens_[k].kind != Token::Kind::end; ++k) {
      const Token& t = tokens_[k];
      open += t.is("{") || t.is("(") || t.is("[");
      open -= t.is("}") || t.is(")") || t.is("]");
      if (open == 0) return k + 1;
    }
    stop(ImportObstacle::syntax, tokens_[k].line, "a bracket that is not closed in the C++");
  }
  void keep(size_t to) {
    device_ += source_.substr(kept_, tokens_[to - 1].end - kept_) + "\n";
    for (size_t k = i_; k < to; ++k) {
      if (tokens_[k].kind == Token::Kind::name) used_.words.insert(tokens_[k].text);
    }
    for (size_t k = i_; k + 1 < to; ++k) {
      used_.standard = used_.standard || (tokens_[k].is("std") && tokens_[k + 1].is("::"));
    }
    drop(to);
  }
  void drop(size_t to) {
    i_ = to;
    kept_ = to > 0 ? tokens_[to - 1].end : 0;
  }

  void items(const std::string& scope);
  void directive();
  Item item_here() const;
  bool names_a_function(size_t k) const;
  void item(const std::string& scope);
  void device_item(const Item& item, const std::string& scope);
  void host_function(const Item& item);
  void bindings(size_t from, size_t to);
  void kernel(size_t to, size_t name, size_t open, const std::string& scope);
  std::vector<TemplateParameter> templates(size_t from, size_t to) const;

  const std::string& source_;
  std::vector<Token> tokens_;
  bool is_device_;
  size_t i_ = 0;
  size_t kept_ = 0;  ///< the byte that the next kept item begins at
  int depth_ = 0;
  std::string device_;
  UsedWords used_;
  CudaSource result_;
};

void Splitter::items(const std::string& scope) {
  if (++depth_ > kDeepest) stop(ImportObstacle::limits, now().line, "too deeply nested");
  while (!done() && !now().is("}")) {
    if (now().kind == Token::Kind::directive) {
      directive();
    } else if (now().is(";")) {
      drop(i_ + 1);
    } else if (now().is("namespace") ||
               (now().is("extern") && tokens_[i_ + 1].kind == Token::Kind::text &&
                tokens_[i_ + 2].is("{"))) {
      // The names of an unnamed namespace and of extern "C" are the surrounding one's.
      size_t k = i_ + 1;
      std::string name;
      while (!tokens_[k].is("{") && !tokens_[k].is("=") && tokens_[k].kind != Token::Kind::end) {
        if (tokens_[k].kind != Token::Kind::text) name += tokens_[k].text;
        ++k;
      }
      if (tokens_[k].is("=") || tokens_[k].kind == Token::Kind::end) {  // an alias
        while (!tokens_[k].is(";") && tokens_[k].kind != Token::Kind::end) ++k;
        keep(std::min(k + 1, tokens_.size() - 1));
        continue;
      }
      if (!name.empty()) device_ += "namespace " + name + " {\n";
      drop(k + 1);
      items(name.empty() ? scope : scope + name + "::");
      if (now().is("}")) drop(i_ + 1);
      if (!name.empty()) device_ += "}\n";
    } else {
      item(scope);
    }
  }
  if (depth_ == 1 && !done()) {
    stop(ImportObstacle::syntax, now().line, "a '}' too many in the C++");
  }
  --depth_;
}

void Splitter::directive() {
  const std::string& text = now().text;
  const size_t hash = text.find_first_not_of("# \t");
  const std::string rest = hash == std::string::npos ? "" : text.substr(hash);
  if (rest.starts_with("include")) {
    const size_t open = rest.find_first_of("<\""), close = rest.find_first_of(">\"", open + 1);
    const std::string name = open == std::string::npos || close == std::string::npos
                                 ? ""
                                 : rest.substr(open + 1, close - open - 1);
    used_.cub = used_.cub || name == "cub/cub.cuh";
    if (!is_device_header(name)) return drop(i_ + 1);
  } else if (rest.starts_with("define")) {
    std::vector<Token> tokens = cpp_tokens(rest.substr(6), now().line);
    if (tokens.size() > 2 && tokens[0].kind == Token::Kind::name &&
        !(tokens[1].is("(") && tokens[1].begin == tokens[0].end)) {
      result_.macros[tokens[0].text] = {tokens.begin() + 1, tokens.end()};
    }
    if (!tokens.empty()) used_.defined.insert(tokens[0].text);
    const bool host = std::any_of(tokens.begin(), tokens.end(), host_word);
    for (const Token& t : tokens) {
      if (!host && t.kind == Token::Kind::name) used_.words.insert(t.text);
    }
    if (host) return drop(i_ + 1);
  }
  const std::string line = source_.substr(now().begin, now().end - now().begin);
  device_ += line + "\n";
  drop(i_ + 1);
}

/// m.def("forward", &relu_forward, "doc")
void Splitter::bindings(size_t from, size_t to) {
  for (size_t k = from; k + 5 < to; ++k) {
    if (!tokens_[k].is("def") || !tokens_[k + 1].is("(") ||
        tokens_[k + 2].kind != Token::Kind::text || !tokens_[k + 3].is(",")) {
      continue;
    }
    size_t name = k + 4;
    while (tokens_[name].is("&") || tokens_[name].is("::") || tokens_[name + 1].is("::")) ++name;
    if (tokens_[name].kind == Token::Kind::name) {
      result_.bound[tokens_[k + 2].text] = tokens_[name].text;
    }
  }
}

std::vector<TemplateParameter> Splitter::templates(size_t from, size_t to) const {
  std::vector<TemplateParameter> found;
  TemplateParameter part;
  bool fallback = false, any = false;
  int open = 0;
  const auto finish = [&] {
    if (any) found.push_back(part);
    part = {};
    fallback = any = false;
  };
  for (size_t k = from; k < to; ++k) {
    const Token& t = tokens_[k];
    open += t.is("<") || t.is("(");
    open -= t.is(">") || t.is(")");
    if (t.is(",") && open == 0) {
      finish();
    } else if (t.is("=")) {
      fallback = true;
    } else if (fallback) {
      part.fallback += t.text;
    } else if (t.is("typename") || t.is("class")) {
      part.is_type = any = true;
    } else if (t.kind == Token::Kind::name) {
      part.name = t.text;
      any = true;
    }
  }
  finish();
  return found;
}

void Splitter::kernel(size_t to, size_t name, size_t open, const std::string& scope) {
  KernelSignature k;
  k.name = scope + tokens_[name].text;
  k.line = tokens_[name].line;
  if (tokens_[i_].is("template")) {
    size_t close = i_ + 1;
    int depth = 0;
    for (; close < to; ++close) {
      depth += tokens_[close].is("<");
      depth -= tokens_[close].is(">");
      if (depth == 0) break;
    }
    k.templates = templates(i_ + 2, close);
  }
  k.parameters = parse_cpp_parameters(between(open + 1, behind(open) - 1));
  result_.kernels[tokens_[name].text] = std::move(k);
}

/// Where the item at i_ ends, and what it is.
Splitter::Item Splitter::item_here() const {
  Item item;
  size_t k = i_;
  if (tokens_[k].is("template") && tokens_[k + 1].is("<")) {  // its "=" and "class" are its own
    int depth = 0;
    for (++k; tokens_[k].kind != Token::Kind::end; ++k) {
      depth += tokens_[k].is("<");
      depth -= tokens_[k].is(">");
      if (depth == 0) break;
    }
    if (tokens_[k].kind != Token::Kind::end) ++k;
  }
  while (tokens_[k].kind != Token::Kind::end && !tokens_[k].is("}")) {
    const Token& t = tokens_[k];
    if (t.kind == Token::Kind::directive) {
      ++k;
      continue;
    }
    item.type = item.type ||
                ((t.is("struct") || t.is("class") || t.is("enum") || t.is("union")) &&
                 item.open == 0 && !(k > 0 && (tokens_[k - 1].is("<") || tokens_[k - 1].is(","))));
    item.equals = item.equals || t.is("=");
    item.global = item.global || t.is("__global__");
    item.device = item.device || t.is("__device__") || t.is("__constant__");
    if (t.is("(") || t.is("[")) {
      if (t.is("(") && item.open == 0 && !item.equals && names_a_function(k)) {
        item.open = k;
        item.name = k - 1;
      }
      k = behind(k);
      continue;
    }
    if (t.is("{")) {
      const size_t open = std::exchange(k, behind(k));
      if (item.open > 0 && !item.equals && !item.type) {
        item.body = open;
        break;
      }
      continue;
    }
    ++k;
    if (t.is(";")) break;
  }
  item.to = k;
  return item;
}

/// Whether the parenthesis at k is behind a name that is not an attribute's.
bool Splitter::names_a_function(size_t k) const {
  if (k <= i_) return false;
  const Token& before = tokens_[k - 1];
  const bool attribute = before.is("__launch_bounds__") || before.is("__align__") ||
                         before.is("alignas") || before.is("__attribute__") ||
                         before.is("__cluster_dims__");
  return before.kind == Token::Kind::name && !attribute;
}

void Splitter::item(const std::string& scope) {
  const Item item = item_here();
  if (item.to <= i_) return drop(i_ + 1);
  if (item.name > 0 && (tokens_[item.name].text.starts_with("PYBIND11_MODULE") ||
                        tokens_[item.name].text.starts_with("TORCH_LIBRARY"))) {
    if (item.body > 0) bindings(item.body, item.to);
    return drop(item.to);
  }
  if (item.global || item.device) return device_item(item, scope);
  const bool is_host =
      std::any_of(tokens_.begin() + static_cast<std::ptrdiff_t>(i_),
                  tokens_.begin() + static_cast<std::ptrdiff_t>(item.to), host_word);
  if (item.body > 0) {
    host_function(item);
    return is_host || !is_device_ ? drop(item.to) : keep(item.to);
  }
  const Token& first = now();
  if (first.is("using") && tokens_[i_ + 1].is("namespace")) {
    const bool ours = tokens_[i_ + 2].is("nvcuda") || tokens_[i_ + 2].is("cooperative_groups") ||
                      tokens_[i_ + 2].is("cg") || tokens_[i_ + 2].is("cub");
    return ours ? keep(item.to) : drop(item.to);
  }
  if (!item.type && !first.is("template") && !first.is("using") && !first.is("typedef") &&
      item.open == 0) {
    try {
      const Block read = parse_cpp_body(between(i_, item.to));
      result_.constants.insert(result_.constants.end(), read.begin(), read.end());
    } catch (const NotFollowed&) {  // a constant that may never be used
    }
  }
  const bool prototype = item.open > 0 && !item.type && !item.equals;
  return is_host || !is_device_ || prototype ? drop(item.to) : keep(item.to);
}

void Splitter::device_item(const Item& item, const std::string& scope) {
  if (item.global && item.name > 0) kernel(item.to, item.name, item.open, scope);
  if (!is_device_) return drop(item.to);
  for (size_t n = i_; n + 1 < item.to; ++n) {
    const std::string& word = tokens_[n].text;
    if (tokens_[n + 1].is("::") && (word == "torch" || word == "at" || word == "c10")) {
      stop(ImportObstacle::device_code, tokens_[n].line,
           "device code uses " + word + "::" + shown(tokens_[n + 2].text, 40));
    }
  }
  keep(item.to);
}

void Splitter::host_function(const Item& item) {
  auto f = std::make_shared<Function>();
  f->name = tokens_[item.name].text;
  f->cpp = true;
  f->line = tokens_[item.name].line;
  try {
    if (now().is("template")) {
      size_t close = i_ + 1;
      while (close < item.name && !tokens_[close].is(">")) ++close;
      for (const auto& t : templates(i_ + 2, close)) f->template_types.push_back(t.name);
    }
    for (size_t n = i_; n < item.name; ++n) f->result += tokens_[n].text;
    f->parameters = parse_cpp_parameters(between(item.open + 1, behind(item.open) - 1));
    f->body = parse_cpp_body(between(item.body + 1, item.to - 1));
    result_.functions[f->name].push_back(f);
  } catch (const NotFollowed& why) {
    result_.unread.emplace(f->name, why);
  }
}

}  // namespace

CudaSource take_apart(const std::string& source, int line, bool is_device) {
  return Splitter(source, line, is_device).split();
}

}  // namespace kbench::importing
