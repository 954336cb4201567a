// An attempt's line straight into its fields, for files of a million.
#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/attempt_json.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {
namespace {

using Element = simdjson::dom::element;

// Each reads a value of JSON; false where it is of another kind or out of range. Numbers are not
// negative, but those of intervals.

bool read_plain(Element element, bool& into) { return element.get(into) == simdjson::SUCCESS; }
bool read_plain(Element element, int64_t& into) {
  return element.get(into) == simdjson::SUCCESS && into >= 0;
}
bool read_plain(Element element, double& into) {
  return element.get(into) == simdjson::SUCCESS && into >= 0;
}
bool read_plain(Element element, int& into) {
  int64_t value = 0;
  if (!read_plain(element, value)) return false;
  into = static_cast<int>(value);
  return value <= std::numeric_limits<int>::max();
}
bool read_plain(Element element, std::string& into) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return false;
  into = text;
  return true;
}
bool read_plain(Element element, std::vector<std::string>& into) {
  simdjson::dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return false;
  into.clear();
  for (const Element item : list) {
    if (!read_plain(item, into.emplace_back())) return false;
  }
  return true;
}

/// A name that `from` knows, or throws an Error.
template <class T, class From>
bool read_named(Element element, T& into, From from) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return false;
  into = from(text);
  return true;
}
bool read_plain(Element element, TaskId& into) { return read_named(element, into, parse_task_id); }
bool read_plain(Element element, Outcome& into) {
  return read_named(element, into, outcome_from_name);
}
bool read_plain(Element element, Verdict& into) {
  return read_named(element, into, verdict_from_name);
}

template <class T>
bool read_plain(Element element, std::optional<T>& into) {
  into.reset();
  return element.is_null() || read_plain(element, into.emplace());
}

/// Reads an object that has all fields that may not be left out, each once. Others, of a later
/// version, are passed over.
template <class T, class Read>
bool read_members(Element element, T& value, Read read) {
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return false;
  uint32_t seen = 0, needed = 0, bit = 1;
  each_field(
      [&](std::string_view field, auto&) {
        if (!is_optional_field(&value, field)) needed |= bit;
        bit <<= 1;
      },
      value);
  for (const simdjson::dom::key_value_pair member : object) {
    bool right = true;
    bit = 1;
    each_field(
        [&](std::string_view field, auto& into) {
          if (field == member.key) {
            right = (seen & bit) == 0 && read(member.value, into);
            seen |= bit;
          }
          bit <<= 1;
        },
        value);
    if (!right) return false;
  }
  return (seen & needed) == needed;
}

/// JSON has no infinity: null stands for it.
bool read_plain(Element element, Interval& into) {
  return read_members(element, into, [](Element end, double& value) {
    value = std::numeric_limits<double>::infinity();
    return end.is_null() || end.get(value) == simdjson::SUCCESS;
  });
}

bool read_plain(Element element, Usage& into) {
  return read_members(element, into, [](Element tokens, std::optional<int64_t>& count) {
    return read_plain(tokens, count);
  });
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

}  // namespace

bool read_plain_attempt(std::string_view line, Attempt& attempt) {
  // simdjson takes half of a surrogate pair for a character.
  if (has_half_pair(line)) return false;
  thread_local simdjson::dom::parser parser;
  Element root;
  if (parser.parse(line.data(), line.size()).get(root) != simdjson::SUCCESS) return false;
  attempt.general.reset();
  const auto read = [](Element element, auto& into) { return read_plain(element, into); };
  try {
    return read_members(root, attempt, read) && attempt.sample > 0 && attempt.attempt > 0 &&
           is_possible(attempt);
  } catch (const Error&) {  // an unknown task, outcome or verdict
    return false;
  }
}

}  // namespace kbench
