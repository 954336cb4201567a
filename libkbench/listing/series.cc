#include "libkbench/listing/series.h"

#include <algorithm>
#include <map>
#include <optional>

namespace kbench::listing {
namespace {

/// The values by the pass of one loop; nothing if they depend on other loops too.
template <class T>
std::optional<std::map<int, T>> function_of(size_t depth, const std::vector<Passes>& at,
                                            const std::vector<T>& values) {
  std::map<int, T> by_pass;
  for (size_t run = 0; run < at.size(); ++run) {
    const auto [it, fresh] = by_pass.try_emplace(at[run][depth], values[run]);
    if (!fresh && it->second != values[run]) return std::nullopt;
  }
  return by_pass;
}

/// A value for each of `most` passes; an unknown one is that of the nearest pass before, or after.
template <class T>
std::vector<T> filled(const std::map<int, T>& values, int64_t most) {
  std::vector<T> all;
  for (int64_t pass = 0; pass < most; ++pass) {
    auto next = values.upper_bound(int(pass));
    if (next != values.begin()) --next;
    all.push_back(next->second);
  }
  return all;
}

std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return '"' + value + '"'; }

/// "[1, 2, 3]", or "([1]*5 + [2, 3]*4)" where that is shorter.
template <class T>
std::string list_of(const std::vector<T>& values) {
  std::string plain, runs, open;
  const auto close = [&] {
    if (!open.empty()) runs += (runs.empty() ? "" : " + ") + open + "]";
    open.clear();
  };
  for (size_t from = 0; from < values.size();) {
    size_t to = from;
    while (to < values.size() && values[to] == values[from]) ++to;
    for (size_t i = from; i < to; ++i) plain += (plain.empty() ? "[" : ", ") + text_of(values[i]);
    if (to - from > 2) {
      close();
      runs += (runs.empty() ? "" : " + ") + ("[" + text_of(values[from])) + "]*" +
              std::to_string(to - from);
    } else {
      for (size_t i = from; i < to; ++i) open += (open.empty() ? "[" : ", ") + text_of(values[i]);
    }
    from = to;
  }
  close();
  return runs.size() + 2 < plain.size() + 1 ? "(" + runs + ")" : plain + "]";
}

/// "[[1, 2], [3]]": the runs from begin to end, nested by the loops from `depth` inwards.
template <class T>
std::string table(const std::vector<Passes>& at, const std::vector<T>& values, size_t begin,
                  size_t end, size_t depth) {
  if (depth == at[begin].size()) return text_of(values[begin]);
  std::string text;
  for (size_t from = begin; from < end;) {
    size_t to = from;
    while (to < end && at[to][depth] == at[from][depth]) ++to;
    text += (text.empty() ? "[" : ", ") + table(at, values, from, to, depth + 1);
    from = to;
  }
  return text + "]";
}

/// "64 + 32*i"; nothing if the values are no such progression, or only two that do not count up.
std::optional<std::string> progression(const std::string& index,
                                       const std::vector<int64_t>& values) {
  const int64_t first = values[0], step = values[1] - values[0];
  bool linear = values.size() > 2 || step == 1;
  for (size_t i = 1; i < values.size(); ++i) linear &= values[i] - values[i - 1] == step;
  if (linear) {
    const std::string sign = step < 0 ? "-" : "+";
    const int64_t size = step < 0 ? -step : step;
    const std::string steps = size == 1 ? index : std::to_string(size) + "*" + index;
    if (first == 0 && step > 0) return steps;
    if (size == 1) return std::to_string(first) + sign + steps;
    return std::to_string(first) + " " + sign + " " + steps;
  }
  bool doubling = values.size() > 2 && first != 0;
  for (size_t i = 1; i < values.size(); ++i) doubling &= values[i] == 2 * values[i - 1];
  if (doubling) return std::to_string(first) + " * 2**" + index;
  return std::nullopt;
}

/// k if the values are k times those of `other` (with `inverse`, the reverse) and k is at most 64.
std::optional<int64_t> multiple(const std::map<int, int64_t>& values,
                                const std::vector<int64_t>& other, bool inverse) {
  std::optional<int64_t> factor;
  for (const auto& [pass, value] : values) {
    if (size_t(pass) >= other.size()) return std::nullopt;
    const int64_t large = inverse ? other[size_t(pass)] : value;
    const int64_t small = inverse ? value : other[size_t(pass)];
    if (small == 0 || large % small != 0) return std::nullopt;
    if (!factor) factor = large / small;
    if (large / small != *factor) return std::nullopt;
  }
  if (!factor || *factor < 1 || *factor > 64) return std::nullopt;
  return factor;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && (text == "0" || text[0] != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
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

std::string Series::open(int64_t most) {
  // Consecutive loops may share the name of their pass number, nested ones may not.
  std::set<std::string> open;
  for (const Scope& scope : scopes_) open.insert(scope.index);
  for (const char* name : {"i", "j", "k", "l", "m", "n"}) {
    if (taken_.contains(name) || open.contains(name)) continue;
    scopes_.push_back({name, most, {}});
    return name;
  }
  scopes_.push_back({fresh("ijkmn"), most, {}});
  return scopes_.back().index;
}

std::vector<std::string> Series::close() {
  std::vector<std::string> texts;
  for (const Definition& definition : scopes_.back().definitions) {
    texts.push_back(definition.letter + " = " + definition.text);
  }
  scopes_.pop_back();
  return texts;
}

std::string Series::define(size_t depth, const std::string& text,
                           const std::vector<int64_t>& values) {
  for (const Definition& known : scopes_[depth].definitions) {
    if (known.text == text) return known.letter;
  }
  scopes_[depth].definitions.push_back({fresh("ABCDEGHJKLMNPQRSTUVWXYZ"), values, text});
  return scopes_[depth].definitions.back().letter;
}

std::string Series::by_pass(size_t depth, const std::map<int, int64_t>& values) {
  Scope& scope = scopes_[depth];
  // The pass number, or the pass number plus an offset.
  const int64_t offset = values.begin()->second - values.begin()->first;
  if (offset >= 0 && std::all_of(values.begin(), values.end(), [&](const auto& one) {
        return one.second - one.first == offset;
      })) {
    return (offset ? std::to_string(offset) + "+" : "") + scope.index;
  }
  for (const bool inverse : {false, true}) {
    for (const Definition& known : scope.definitions) {
      const auto factor = multiple(values, known.values, inverse);
      if (!factor) continue;
      if (*factor == 1) return known.letter;
      return inverse ? known.letter + "//" + std::to_string(*factor)
                     : std::to_string(*factor) + "*" + known.letter;
    }
  }
  const std::vector<int64_t> all = filled(values, scope.most);
  if (const auto text = progression(scope.index, all)) return define(depth, *text, all);
  return define(depth, list_of(all) + "[" + scope.index + "]", all);
}

std::string Series::number(const std::vector<Passes>& at, const std::vector<int64_t>& values) {
  if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; })) {
    return std::to_string(values[0]);
  }
  const size_t depth = at[0].size();
  for (size_t level = 0; level < depth; ++level) {
    if (const auto one = function_of(level, at, values)) return by_pass(level, *one);
  }
  // A step of the innermost loop, added to an expression of the others.
  std::vector<Passes> outer;
  std::vector<int64_t> bases;
  std::optional<int64_t> step;
  bool linear = true;
  for (size_t run = 0; run < at.size() && linear; ++run) {
    const int pass = at[run].back();
    if (pass == 0) {
      outer.emplace_back(at[run].begin(), at[run].end() - 1);
      bases.push_back(values[run]);
    } else {
      if (!step) step = values[run] - values[run - 1];
      linear = values[run] - values[run - 1] == *step;
    }
  }
  if (linear && step && *step != 0 && depth > 1) {
    const std::string base = number(outer, bases);
    const int64_t size = *step < 0 ? -*step : *step;
    return define(depth - 1, base + (*step < 0 ? " - " : " + ") +
                                 (size == 1 ? "" : std::to_string(size) + "*") +
                                 scopes_[depth - 1].index);
  }
  return define(depth - 1, table(at, values, 0, at.size(), 0) + indices(depth));
}

std::string Series::indices(size_t depth) const {
  std::string text;
  for (size_t level = 0; level < depth; ++level) text += "[" + scopes_[level].index + "]";
  return text;
}

std::string Series::part(const std::vector<Passes>& at, const std::vector<std::string>& parts) {
  const std::string& first = parts[0];
  size_t before = first.size(), after = first.size();
  for (const std::string& part : parts) {
    const size_t most = std::min(first.size(), part.size());
    const auto front = std::mismatch(first.begin(), first.begin() + long(most), part.begin());
    before = std::min(before, size_t(front.first - first.begin()));
  }
  for (const std::string& part : parts) {
    size_t same = 0;
    while (same + before < std::min(first.size(), part.size()) &&
           first[first.size() - 1 - same] == part[part.size() - 1 - same]) {
      ++same;
    }
    after = std::min(after, same);
  }
  if (before == first.size() && after == 0) {
    if (std::all_of(parts.begin(), parts.end(), [&](const auto& p) { return p == first; })) {
      return first;
    }
  }
  // Do not split a number.
  while (before > 0 && is_digit(first[before - 1])) --before;
  while (after > 0 && is_digit(first[first.size() - after])) --after;
  std::vector<std::string> middles;
  std::vector<int64_t> numbers;
  for (const std::string& part : parts) {
    middles.push_back(part.substr(before, part.size() - before - after));
    if (is_number(middles.back())) numbers.push_back(std::stoll(middles.back()));
  }
  std::string middle;
  if (numbers.size() == parts.size()) {
    middle = number(at, numbers);
  } else {
    const size_t depth = at[0].size();
    for (size_t level = 0; level < depth && middle.empty(); ++level) {
      const auto one = function_of(level, at, middles);
      if (!one) continue;
      middle = define(
          level, list_of(filled(*one, scopes_[level].most)) + "[" + scopes_[level].index + "]");
    }
    if (middle.empty()) {
      middle = define(depth - 1, table(at, middles, 0, at.size(), 0) + indices(depth));
    }
  }
  return first.substr(0, before) + "{" + middle + "}" + first.substr(first.size() - after);
}

std::string Series::name(const std::vector<Passes>& at, const std::vector<std::string>& names) {
  if (std::all_of(names.begin(), names.end(), [&](const auto& n) { return n == names[0]; })) {
    return names[0];
  }
  // Part by part, if all have equally many parts.
  std::vector<std::vector<std::string>> parts(names.size());
  for (size_t run = 0; run < names.size(); ++run) {
    for (size_t from = 0; from <= names[run].size();) {
      const size_t to = std::min(names[run].find('.', from), names[run].size());
      parts[run].push_back(names[run].substr(from, to - from));
      from = to + 1;
    }
    if (parts[run].size() != parts[0].size()) return part(at, names);
  }
  std::string text;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<std::string> column;
    for (const auto& one : parts) column.push_back(one[i]);
    const bool same = std::all_of(column.begin(), column.end(),
                                  [&](const std::string& one) { return one == column[0]; });
    text += (i ? "." : "") + (same ? column[0] : part(at, column));
  }
  return text;
}

}  // namespace kbench::listing
