#include "libkbench/src/suggest.h"

#include <algorithm>
#include <numeric>

namespace kbench {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string suggestion(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(1, wrong.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(wrong, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = &name;
    }
  }
  return best ? "; did you mean '" + *best + "'?" : "";
}

}  // namespace kbench
