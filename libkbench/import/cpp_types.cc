// Types and parameters.
#include <algorithm>
#include <cctype>
#include <set>

#include "libkbench/import/cpp.h"

namespace kbench::importing {
namespace {

const std::set<std::string, std::less<>> kBasicTypes = {
    "int",      "float",       "double",       "bool",   "long",    "short",    "char",
    "unsigned", "signed",      "auto",         "void",   "size_t",  "int64_t",  "int32_t",
    "uint32_t", "uint64_t",    "uint8_t",      "int8_t", "int16_t", "uint16_t", "dim3",
    "scalar_t", "half",        "__half",       "float2", "float4",  "ssize_t",  "int4",
    "uint4",    "nv_bfloat16", "__nv_bfloat16"};
const std::set<std::string, std::less<>> kQualifiers = {
    "const", "constexpr", "static", "volatile", "inline", "typename", "register", "struct"};

}  // namespace

bool is_basic_type(const std::string& word) { return kBasicTypes.contains(word); }

/// At k stands "<": whether a list of template arguments ends before a sign that may follow one.
bool CppParser::template_list(size_t& k, std::vector<std::string>* parts) const {
  size_t j = k;
  int open = 0, round = 0;
  std::string part;
  std::vector<std::string> found;
  for (size_t most = j + 64; j < most; ++j) {
    const Token& t = ahead(j);
    if (t.kind == Token::Kind::end || t.is(";") || t.is("{") || t.is("<<<") || t.is("&&") ||
        t.is("||")) {
      return false;
    }
    if (t.is("(")) ++round;
    if (t.is(")") && --round < 0) return false;
    if (t.is("<") && ++open == 1) continue;
    if (t.is(">") && round == 0 && --open == 0) break;
    if (t.is(",") && open == 1 && round == 0) {
      found.push_back(part);
      part.clear();
    } else {
      const bool blank =
          !part.empty() && t.kind == Token::Kind::name &&
          (std::isalnum(static_cast<unsigned char>(part.back())) || part.back() == '_');
      part += (blank ? " " : "") + t.text;
    }
  }
  if (open != 0) return false;
  if (!part.empty()) found.push_back(part);
  const Token& next = ahead(j + 1);
  static const std::set<std::string, std::less<>> kFollow = {"(", "<<<", "::", "{", ">",
                                                             ")", ",",   "&",  "*", ";"};
  if (!(next.kind == Token::Kind::name || kFollow.contains(next.text))) return false;
  k = j + 1;
  if (parts) *parts = std::move(found);
  return true;
}

std::string CppParser::type(size_t& k, bool only_basic) const {
  size_t j = k;
  std::string text;
  bool basic = false, named = false;
  for (; ahead(j).kind == Token::Kind::name; ++j) {
    const std::string& word = ahead(j).text;
    if (kQualifiers.contains(word)) continue;
    if (kBasicTypes.contains(word)) {
      if (named) break;
      basic = true;
      text += (text.empty() ? "" : " ") + word;
      continue;
    }
    if (basic || named) break;
    named = true;
    text += word;
    size_t next = j + 1;
    if (ahead(next).is("<") && template_list(next, nullptr)) {
      for (size_t i = j + 1; i < next; ++i) text += ahead(i).text;
      j = next - 1;
    }
    while (ahead(j + 1).is("::") && ahead(j + 2).kind == Token::Kind::name) {
      text += "::" + ahead(j + 2).text;
      j += 2;
      next = j + 1;
      if (ahead(next).is("<") && template_list(next, nullptr)) {
        for (size_t i = j + 1; i < next; ++i) text += ahead(i).text;
        j = next - 1;
      }
    }
  }
  if (text.empty()) return "";
  for (; ahead(j).is("*") || ahead(j).is("&") || ahead(j).is("&&") || ahead(j).is("const") ||
         ahead(j).is("__restrict__");
       ++j) {
    if (ahead(j).is("*")) text += "*";
  }
  const std::string plain = text.substr(0, text.find('*'));
  const bool known = basic || plain.starts_with("std::") || plain.starts_with("torch::Tensor") ||
                     plain.starts_with("at::Tensor") || plain.starts_with("c10::") ||
                     plain.ends_with("_t") || plain.starts_with("cuda") || plain == "Tensor";
  if (only_basic && !known) return "";
  k = j;
  return text;
}

std::vector<Parameter> CppParser::parameters() {
  std::vector<Parameter> found;
  std::vector<Token> part;
  int open = 0;
  const auto finish = [&] {
    if (part.empty()) return;
    Parameter p;
    size_t equals = 0;
    while (equals < part.size() && !part[equals].is("=")) ++equals;
    if (equals < part.size()) {
      p.fallback =
          CppParser({part.begin() + static_cast<std::ptrdiff_t>(equals) + 1, part.end()}).whole();
      part.resize(equals);
    }
    size_t words = 0;
    for (const Token& t : part) {
      words += t.kind == Token::Kind::name && !kQualifiers.contains(t.text) &&
               t.text != "__restrict__" && t.text != "__restrict" && t.text != "__grid_constant__";
    }
    size_t last = part.size();
    while (last > 0 && part[last - 1].is("]")) {  // float x[]
      while (last > 0 && !part[last - 1].is("[")) --last;
      if (last > 0) --last;
      p.type += "*";
    }
    if (words > 1 && last > 0 && part[last - 1].kind == Token::Kind::name &&
        !kBasicTypes.contains(part[last - 1].text)) {
      p.name = part[--last].text;
    }
    std::string type;
    for (size_t i = 0; i < last; ++i) {
      const Token& t = part[i];
      if (kQualifiers.contains(t.text) || t.text == "__restrict__" || t.text == "__restrict" ||
          t.is("&") || t.text == "__grid_constant__") {
        continue;
      }
      const bool blank =
          !type.empty() && t.kind == Token::Kind::name &&
          (std::isalnum(static_cast<unsigned char>(type.back())) || type.back() == '_');
      type += (blank ? " " : "") + t.text;
    }
    p.type = type + p.type;
    if (p.type != "void" || !p.name.empty()) found.push_back(std::move(p));
    part.clear();
  };
  for (; !at_end(); advance()) {
    open += now().is("(") || now().is("<") || now().is("{") || now().is("[");
    open -= now().is(")") || now().is(">") || now().is("}") || now().is("]");
    if (now().is(",") && open <= 0) {
      finish();
    } else {
      part.push_back(now());
    }
  }
  finish();
  return found;
}

}  // namespace kbench::importing
