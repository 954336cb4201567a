// An attempt's line straight into its fields, for files of a million.
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/attempt_json.h"

namespace kbench {
namespace {

using Element = simdjson::dom::element;

// Each reads a value of JSON; false where it is of another kind or out of range.

bool read_text(Element element, std::string& into) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return false;
  into = text;
  return true;
}

bool read_texts(Element element, std::vector<std::string>& into) {
  simdjson::dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return false;
  into.clear();
  for (const Element item : list) {
    if (!read_text(item, into.emplace_back())) return false;
  }
  return true;
}

bool read_count(Element element, int64_t least, int& into) {
  int64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS) return false;
  into = static_cast<int>(value);
  return value >= least && value <= std::numeric_limits<int>::max();
}

/// JSON has no infinity: null stands for it.
bool read_time(Element element, double& into) {
  into = std::numeric_limits<double>::infinity();
  return element.is_null() || element.get(into) == simdjson::SUCCESS;
}

/// A number that is not negative; null is none where it may be missing.
template <class T>
bool read_amount(Element element, T& into) {
  return element.get(into) == simdjson::SUCCESS && into >= 0;
}
template <class T>
bool read_amount(Element element, std::optional<T>& into) {
  into.reset();
  return element.is_null() || read_amount(element, into.emplace());
}

struct Member {
  std::string_view name;
  bool (*read)(Element, Attempt&);
};

/// A member that need not be there.
bool read_other(std::string_view name, Element element, Attempt& attempt) {
  if (name != "general") return true;
  bool general = false;
  if (element.get(general) != simdjson::SUCCESS) return false;
  attempt.general = general;
  return true;
}

/// Reads an object that has all of these members, each once. Others, of a later version, are passed
/// over.
template <size_t n>
bool read_members(Element element, const std::array<Member, n>& members, Attempt& attempt) {
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return false;
  uint32_t seen = 0;
  size_t next = 0;
  for (const auto [name, value] : object) {
    size_t i = next;  // mostly they come in this order
    if (i >= n || members[i].name != name) {
      for (i = 0; i < n && members[i].name != name;) ++i;
    }
    if (i == n) {
      if (!read_other(name, value, attempt)) return false;
      continue;
    }
    if ((seen >> i & 1) != 0 || !members[i].read(value, attempt)) return false;
    seen |= uint32_t{1} << i;
    next = i + 1;
  }
  return seen == (uint32_t{1} << n) - 1;
}

constexpr std::array<Member, 3> kSpeedup = {
    {{"low", [](Element e, Attempt& a) { return read_time(e, a.speedup.low); }},
     {"point", [](Element e, Attempt& a) { return read_time(e, a.speedup.point); }},
     {"high", [](Element e, Attempt& a) { return read_time(e, a.speedup.high); }}}};

constexpr std::array<Member, 4> kUsage = {
    {{"input", [](Element e, Attempt& a) { return read_amount(e, a.usage.input); }},
     {"cached", [](Element e, Attempt& a) { return read_amount(e, a.usage.cached); }},
     {"output", [](Element e, Attempt& a) { return read_amount(e, a.usage.output); }},
     {"reasoning", [](Element e, Attempt& a) { return read_amount(e, a.usage.reasoning); }}}};

bool read_task(Element element, Attempt& attempt) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return false;
  attempt.task = parse_task_id(text);
  return true;
}

bool read_outcome(Element element, Attempt& attempt) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return false;
  attempt.outcome = outcome_from_name(text);
  return true;
}

bool read_verdict(Element element, Attempt& attempt) {
  attempt.verdict.reset();
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return element.is_null();
  attempt.verdict = verdict_from_name(text);
  return true;
}

/// Whether a text of JSON escapes half of a surrogate pair.
bool has_half_pair(std::string_view text) {
  // The four digits of an escape at `at`, "d83d" in small letters; empty where none is.
  const auto digits = [text](size_t at) {
    return text.substr(std::min(at, text.size()), 2) == "\\u" ? lowered(text.substr(at + 2, 4))
                                                              : std::string();
  };
  const auto half = [](const std::string& code, std::string_view second) {
    return code.size() == 4 && code[0] == 'd' && second.find(code[1]) != second.npos;
  };
  for (size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
    const std::string code = digits(at);
    if (half(code, "89ab") && half(digits(at + 6), "cdef")) {
      at += 12;
    } else if (half(code, "89abcdef")) {
      return true;
    } else {
      at += 2;  // an escaped backslash begins no escape
    }
  }
  return false;
}

/// In the order in which to_json writes them.
constexpr std::array<Member, 20> kAttempt = {
    {{"model", [](Element e, Attempt& a) { return read_text(e, a.model); }},
     {"answered_by", [](Element e, Attempt& a) { return read_text(e, a.answered_by); }},
     {"task", read_task},
     {"sample", [](Element e, Attempt& a) { return read_count(e, 1, a.sample); }},
     {"attempt", [](Element e, Attempt& a) { return read_count(e, 1, a.attempt); }},
     {"parent", [](Element e, Attempt& a) { return read_count(e, 0, a.parent); }},
     {"outcome", read_outcome},
     {"leniencies", [](Element e, Attempt& a) { return read_texts(e, a.leniencies); }},
     {"candidate", [](Element e, Attempt& a) { return read_text(e, a.candidate); }},
     {"candidate_hash", [](Element e, Attempt& a) { return read_text(e, a.candidate_hash); }},
     {"verdict", read_verdict},
     {"preset", [](Element e, Attempt& a) { return read_text(e, a.preset); }},
     {"device", [](Element e, Attempt& a) { return read_text(e, a.device); }},
     {"speedup", [](Element e, Attempt& a) { return read_members(e, kSpeedup, a); }},
     {"feedback_hash", [](Element e, Attempt& a) { return read_text(e, a.feedback_hash); }},
     {"prompt_hash", [](Element e, Attempt& a) { return read_text(e, a.prompt_hash); }},
     {"usage", [](Element e, Attempt& a) { return read_members(e, kUsage, a); }},
     {"cost", [](Element e, Attempt& a) { return read_amount(e, a.cost); }},
     {"seconds", [](Element e, Attempt& a) { return read_amount(e, a.seconds); }},
     {"operator_steps",
      [](Element e, Attempt& a) { return e.get(a.operator_steps) == simdjson::SUCCESS; }}}};

}  // namespace

bool read_plain_attempt(std::string_view line, Attempt& attempt) {
  // simdjson takes half of a surrogate pair for a character.
  if (has_half_pair(line)) return false;
  thread_local simdjson::dom::parser parser;
  Element root;
  if (parser.parse(line.data(), line.size()).get(root) != simdjson::SUCCESS) return false;
  attempt.general.reset();
  try {
    return read_members(root, kAttempt, attempt) && is_possible(attempt);
  } catch (const Error&) {  // an unknown task, outcome or verdict
    return false;
  }
}

}  // namespace kbench
