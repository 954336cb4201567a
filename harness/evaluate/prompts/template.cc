#include "harness/evaluate/prompts/template.h"

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::prompts {
namespace {

constexpr int kDeepest = 16;  ///< of nested partials

namespace mustache = kainjow::mustache;

/// Checks the tags of a template and of the partials that it includes.
class Check {
 public:
  Check(const std::set<std::string>& known, const Template::Partial& partial,
        std::set<std::string>* used)
      : known_(known), partial_(partial), used_(used) {}

  /// The text with partials inserted.
  std::string run(const std::string& text, const std::string& file, int depth = 0) {
    std::string result;
    const size_t outside = sections_.size();
    size_t at = 0;
    for (;;) {
      const size_t open = text.find("{{", at);
      if (open == std::string::npos) break;
      const Location here{file, 1 + int(std::count(text.begin(), text.begin() + long(open), '\n')),
                          0};
      const bool triple = text.compare(open, 3, "{{{") == 0;
      const std::string closing = triple ? "}}}" : "}}";
      const size_t begin = open + closing.size(), close = text.find(closing, begin);
      const size_t newline = text.find('\n', begin);
      if (close == std::string::npos || newline < close) fail_parse(here, "a tag is not closed");
      std::string content = text.substr(begin, close - begin);
      const size_t end = close + closing.size();
      const char sigil = triple || content.empty() ? '\0' : content[0];
      if (sigil == '=') fail_parse(here, "delimiters cannot be changed");
      const bool plain = sigil == '\0' || std::string("#^/>!&").find(sigil) == std::string::npos;
      const std::string name = mustache::trim(plain ? content : content.substr(1));
      if (sigil == '>') {
        result += text.substr(at, open - at) + included(name, here, depth);
      } else {
        if (sigil != '!') tag(plain || sigil == '&' ? '\0' : sigil, name, here, outside);
        result += text.substr(at, end - at);
      }
      at = end;
    }
    if (sections_.size() > outside) {
      const auto& [section, where] = sections_.back();
      fail_parse(where, "the section " + kbench::quoted(section) + " is not closed");
    }
    return result + text.substr(at);
  }

 private:
  void tag(char sigil, const std::string& name, const Location& here, size_t outside) {
    if (name.empty()) fail_parse(here, "a tag without a name");
    if (sigil == '/') {
      if (sections_.size() == outside) {
        fail_parse(here, "the section " + kbench::quoted(name) + " is closed and was not opened");
      }
      if (sections_.back().first != name) {
        fail_parse(here, "the section " + kbench::quoted(sections_.back().first) +
                             " is open, and " + kbench::quoted(name) + " is closed");
      }
      sections_.pop_back();
      paths_.pop_back();
      return;
    }
    const std::string path = resolve(name, here);
    used_->insert(path);
    if (sigil == '\0') return;
    sections_.emplace_back(name, here);
    paths_.push_back(path);
  }

  std::string resolve(const std::string& name, const Location& here) const {
    for (size_t depth = paths_.size(); depth-- > 0;) {
      const std::string path = paths_[depth] + "." + name;
      if (known_.contains(path)) return path;
    }
    if (known_.contains(name)) return name;
    fail_parse(here, "unknown value " + kbench::quoted(name) +
                         suggestion(name, std::vector<std::string>(known_.begin(), known_.end())));
  }

  std::string included(const std::string& name, const Location& here, int depth) {
    const auto text = partial_(name);
    if (!text) fail_parse(here, "there is no partial " + kbench::quoted(name + ".mustache"));
    if (depth >= kDeepest) fail_parse(here, "partials include each other without end");
    const size_t slash = here.file.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : here.file.substr(0, slash + 1);
    return run(*text, folder + name + ".mustache", depth + 1);
  }

  const std::set<std::string>& known_;
  const Template::Partial& partial_;
  std::set<std::string>* used_;
  std::vector<std::pair<std::string, Location>> sections_;
  std::vector<std::string> paths_;  ///< of the open sections
};

mustache::data data_of(const nlohmann::json& value) {
  if (value.is_object()) {
    mustache::data data;
    for (const auto& [name, member] : value.items()) data.set(name, data_of(member));
    return data;
  }
  if (value.is_array()) {
    mustache::data data{mustache::data::type::list};
    for (const auto& item : value) data.push_back(data_of(item));
    return data;
  }
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) {
    return mustache::data{value.get<std::string>()};
  }
  if (value.is_number()) return mustache::data{value.dump()};
  return mustache::data{value.is_boolean() && value.get<bool>()};  // an empty string is false
}

}  // namespace

Template::Template(const std::string& text, const std::string& file,
                   const std::set<std::string>& known, const Partial& partial,
                   std::set<std::string>* used)
    : text_(Check(known, partial, used).run(text, file)) {
  mustache::mustache engine{text_};
  if (!engine.is_valid()) fail_parse(Location{file}, engine.error_message());
}

std::string Template::render(const nlohmann::json& values) const {
  mustache::mustache engine{text_};
  engine.set_custom_escape([](const std::string& text) { return text; });
  std::string result = engine.render(data_of(values));
  if (!engine.is_valid()) throw Error(ErrorCode::kInternal, engine.error_message());
  return result;
}

}  // namespace kbench::prompts
