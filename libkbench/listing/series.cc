#include "libkbench/listing/series.h"

#include <algorithm>
#include <optional>

#include "libkbench/base/text.h"

namespace kbench::listing {
namespace {

template <class T>
bool all_same(const std::vector<T>& values) {
  return std::ranges::count(values, values[0]) == std::ssize(values);
}

/// A value for each pass; one that lacks the line has that of the nearest pass before, or after.
template <class T>
std::vector<T> filled(const std::vector<int>& at, const std::vector<T>& values, int times) {
  std::vector<T> all;
  size_t run = 0;
  for (int pass = 0; pass < times; ++pass) {
    while (run + 1 < at.size() && at[run + 1] <= pass) ++run;
    all.push_back(values[run]);
  }
  return all;
}

std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return '"' + value + '"'; }

/// "[1, 2, 3]", or "([1]*5 + [2, 3]*4)" where that is shorter.
template <class T>
std::string list_of(const std::vector<T>& values) {
  const std::string plain =
      "[" + listed(values, [](const T& value) { return text_of(value); }) + "]";
  std::string runs, open;
  const auto close = [&] {
    if (!open.empty()) runs += (runs.empty() ? "" : " + ") + open + "]";
    open.clear();
  };
  for (size_t from = 0, to = 0; from < values.size(); from = to) {
    while (to < values.size() && values[to] == values[from]) ++to;
    if (to - from > 2) {
      close();
      runs +=
          (runs.empty() ? "[" : " + [") + text_of(values[from]) + "]*" + std::to_string(to - from);
    } else {
      for (size_t i = from; i < to; ++i) open += (open.empty() ? "[" : ", ") + text_of(values[i]);
    }
  }
  close();
  return runs.size() + 2 < plain.size() ? "(" + runs + ")" : plain;
}

/// "64 + 32*i"; nothing if the values are no such progression, or only two that do not count up.
std::optional<std::string> progression(const std::string& index,
                                       const std::vector<int64_t>& values) {
  const int64_t first = values[0], step = values[1] - values[0];
  bool linear = values.size() > 2 || step == 1, doubling = values.size() > 2 && first != 0;
  for (size_t i = 1; i < values.size(); ++i) {
    linear = linear && values[i] - values[i - 1] == step;
    doubling = doubling && values[i] == 2 * values[i - 1];
  }
  if (doubling) return std::to_string(first) + " * 2**" + index;
  if (!linear) return std::nullopt;
  const int64_t size = step < 0 ? -step : step;
  const std::string steps = size == 1 ? index : std::to_string(size) + "*" + index;
  if (first == 0 && step > 0) return steps;
  const std::string sign = step < 0 ? "-" : "+";
  return std::to_string(first) + (size == 1 ? sign : " " + sign + " ") + steps;
}

/// k if the values of these passes are k times those of `other` (with `inverse`, the reverse) and k
/// is at most 64.
std::optional<int64_t> multiple(const std::vector<int>& at, const std::vector<int64_t>& values,
                                const std::vector<int64_t>& other, bool inverse) {
  if (other.empty()) return std::nullopt;
  std::optional<int64_t> factor;
  for (size_t run = 0; run < at.size(); ++run) {
    const int64_t its = other[static_cast<size_t>(at[run])];
    const int64_t large = inverse ? its : values[run], small = inverse ? values[run] : its;
    if (small == 0 || large % small != 0) return std::nullopt;
    if (!factor) factor = large / small;
    if (large / small != *factor) return std::nullopt;
  }
  return *factor >= 1 && *factor <= 64 ? factor : std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string Series::fresh(const char* letters) {
  for (int round = 0;; ++round) {
    for (const char* letter = letters; *letter; ++letter) {
      std::string name(1, *letter);
      if (round > 0) name += std::to_string(round);
      if (taken_.insert(name).second) return name;
    }
  }
}

std::string Series::open(int times) {
  times_ = times;
  if (index_.empty()) index_ = fresh("ijklmn");
  return index_;
}

std::vector<std::string> Series::close() {
  std::vector<std::string> texts;
  for (const Definition& definition : definitions_) {
    texts.push_back(definition.letter + " = " + definition.text);
  }
  definitions_.clear();
  return texts;
}

std::string Series::define(const std::string& text, const std::vector<int64_t>& values) {
  const auto known = std::ranges::find(definitions_, text, &Definition::text);
  if (known != definitions_.end()) return known->letter;
  definitions_.push_back({fresh("ABCDEGHJKLMNPQRSTUVWXYZ"), text, values});
  return definitions_.back().letter;
}

std::string Series::number(const std::vector<int>& at, const std::vector<int64_t>& values) {
  if (all_same(values)) return std::to_string(values[0]);
  // The pass number, or the pass number plus an offset.
  const int64_t offset = values[0] - at[0];
  bool counts = offset >= 0;
  for (size_t run = 0; run < at.size(); ++run) counts = counts && values[run] - at[run] == offset;
  if (counts) return (offset != 0 ? std::to_string(offset) + "+" : "") + index_;
  for (const bool inverse : {false, true}) {
    for (const Definition& known : definitions_) {
      const auto factor = multiple(at, values, known.values, inverse);
      if (!factor) continue;
      if (*factor == 1) return known.letter;
      return inverse ? known.letter + "//" + std::to_string(*factor)
                     : std::to_string(*factor) + "*" + known.letter;
    }
  }
  const std::vector<int64_t> all = filled(at, values, times_);
  const auto text = progression(index_, all);
  return define(text ? *text : list_of(all) + "[" + index_ + "]", all);
}

/// The part of the texts that varies, in braces between what they share.
std::string Series::part(const std::vector<int>& at, const std::vector<std::string>& parts) {
  const std::string& first = parts[0];
  if (all_same(parts)) return first;
  size_t before = first.size(), after = first.size();
  for (const std::string& part : parts) {
    const auto front = std::ranges::mismatch(first, part);
    before = std::min(before, static_cast<size_t>(front.in1 - first.begin()));
  }
  for (const std::string& part : parts) {
    const size_t most = std::min(first.size(), part.size()) - before;
    size_t same = 0;
    while (same < most && first[first.size() - 1 - same] == part[part.size() - 1 - same]) ++same;
    after = std::min(after, same);
  }
  // Do not split a number.
  while (before > 0 && is_digit(first[before - 1])) --before;
  while (after > 0 && is_digit(first[first.size() - after])) --after;
  std::vector<std::string> middles;
  std::vector<int64_t> numbers;
  for (const std::string& part : parts) {
    const std::string& middle =
        middles.emplace_back(part.substr(before, part.size() - before - after));
    int64_t number = 0;
    const bool plain = middle.size() < 10 && read_number(middle, number) && number >= 0;
    if (plain && std::to_string(number) == middle) numbers.push_back(number);
  }
  const std::string middle =
      numbers.size() == parts.size()
          ? number(at, numbers)
          : define(list_of(filled(at, middles, times_)) + "[" + index_ + "]");
  return first.substr(0, before) + "{" + middle + "}" + first.substr(first.size() - after);
}

std::string Series::name(const std::vector<int>& at, const std::vector<std::string>& names) {
  if (all_same(names)) return names[0];
  // Part by part, if all have equally many parts.
  std::vector<std::vector<std::string>> columns;
  for (const std::string& name : names) {
    size_t i = 0;
    for (size_t from = 0; from <= name.size(); ++i) {
      const size_t to = std::min(name.find('.', from), name.size());
      if (columns.size() <= i) columns.emplace_back();
      columns[i].push_back(name.substr(from, to - from));
      from = to + 1;
    }
  }
  std::string text;
  for (const std::vector<std::string>& column : columns) {
    if (column.size() != names.size()) return part(at, names);
    text += (text.empty() ? "" : ".") + part(at, column);
  }
  return text;
}

}  // namespace kbench::listing
