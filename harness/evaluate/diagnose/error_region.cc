// Finds where the errors are.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "harness/evaluate/diagnose/error_pattern.h"
#include "libkbench/base/text.h"

namespace kbench::diagnose {
namespace {

/// Bits by which a set must beat chance: marks placed at random lie in it with probability
/// 2^-kBits. A few hundred sets are tried.
constexpr double kBits = 16;

struct Marks {
  const Shape& shape;
  std::vector<int64_t> strides;
  std::vector<int64_t> flat;  ///< marked elements
  int64_t elements;

  int64_t index(int64_t element, size_t axis) const {
    return element / strides[axis] % shape[axis];
  }
};

struct Region {
  int64_t size = 0;
  std::string text;
  int axes = 0;  ///< for a box
};

std::string number(int64_t n) { return std::to_string(n); }

/// A range of an axis in words; empty for all of it.
std::string stretch(int64_t first, int64_t last, int64_t extent, const std::string& axis) {
  if (first == 0 && last == extent - 1) return "";
  if (first == last) return "index " + number(first) + " of " + number(extent) + " along " + axis;
  if (last == extent - 1) {
    return "the last " + number(extent - first) + " of " + number(extent) + " along " + axis;
  }
  if (first == 0)
    return "the first " + number(last + 1) + " of " + number(extent) + " along " + axis;
  return "indices " + number(first) + " to " + number(last) + " of " + number(extent) + " along " +
         axis;
}

std::string axis_name(size_t axis) { return "axis " + std::to_string(axis); }

std::optional<Region> box(const Marks& marks) {
  Region region{1, "", 0};
  for (size_t axis = 0; axis < marks.shape.size(); ++axis) {
    int64_t first = marks.shape[axis], last = 0;
    for (const int64_t element : marks.flat) {
      const int64_t i = marks.index(element, axis);
      first = std::min(first, i);
      last = std::max(last, i);
    }
    region.size *= last - first + 1;
    const std::string text = stretch(first, last, marks.shape[axis], axis_name(axis));
    if (text.empty()) continue;
    region.text += (region.text.empty() ? "" : ", and ") + text;
    ++region.axes;
  }
  if (region.text.empty()) return std::nullopt;
  return region;
}

/// From one element on in memory, up to one, or between two.
std::optional<Region> flat_stretch(const Marks& marks) {
  const auto [first, last] = std::minmax_element(marks.flat.begin(), marks.flat.end());
  const std::string text = stretch(*first, *last, marks.elements, "the flat index");
  if (text.empty() || marks.shape.size() < 2) return std::nullopt;
  return Region{*last - *first + 1, text, 0};
}

/// Ends of axes in which every element is marked, taken together: the rests of tiles.
std::optional<Region> tails(const Marks& marks) {
  std::vector<int64_t> from;  // by axis: the index from which all is marked
  for (size_t axis = 0; axis < marks.shape.size(); ++axis) {
    std::vector<int64_t> count(static_cast<size_t>(marks.shape[axis]), 0);
    for (const int64_t element : marks.flat)
      ++count[static_cast<size_t>(marks.index(element, axis))];
    int64_t start = marks.shape[axis];
    while (start > 0 &&
           count[static_cast<size_t>(start - 1)] == marks.elements / marks.shape[axis]) {
      --start;
    }
    from.push_back(start);
  }
  int64_t inside = 1;
  std::string text;
  int axes = 0;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    inside *= from[axis];
    if (from[axis] == marks.shape[axis]) continue;
    ++axes;
    text += (text.empty() ? "" : ", and ") +
            stretch(from[axis], marks.shape[axis] - 1, marks.shape[axis], axis_name(axis));
  }
  if (axes < 2) return std::nullopt;
  for (const int64_t element : marks.flat) {
    bool outside = false;
    for (size_t axis = 0; axis < from.size(); ++axis) {
      outside |= marks.index(element, axis) >= from[axis];
    }
    if (!outside) return std::nullopt;
  }
  return Region{marks.elements - inside, text, 0};
}

std::string residues_text(const std::set<int64_t>& residues) {
  if (residues.size() == 1) return "is " + number(*residues.begin());
  if (*residues.rbegin() - *residues.begin() + 1 == static_cast<int64_t>(residues.size())) {
    return "is " + number(*residues.begin()) + " to " + number(*residues.rbegin());
  }
  std::string text = "is one of";
  for (const int64_t each : residues) text += " " + number(each);
  return text;
}

/// Residues modulo powers of two, the sizes of tiles, vectors and workgroups.
void add_residues(const Marks& marks, std::vector<Region>& regions) {
  constexpr size_t kMostListed = 8;
  const auto add = [&](const std::string& name, int64_t extent, auto index_of) {
    for (int64_t modulus = 2; modulus <= 1024 && 2 * modulus <= extent; modulus *= 2) {
      std::set<int64_t> residues;
      for (const int64_t element : marks.flat) residues.insert(index_of(element) % modulus);
      const auto kept = static_cast<int64_t>(residues.size());
      if (2 * kept > modulus) continue;
      const bool contiguous = *residues.rbegin() - *residues.begin() + 1 == kept;
      if (!contiguous && residues.size() > kMostListed) continue;
      int64_t indices = 0;
      for (int64_t i = 0; i < extent; ++i) indices += residues.count(i % modulus) ? 1 : 0;
      regions.push_back(
          {indices * (marks.elements / extent),
           "where the " + name + " % " + number(modulus) + " " + residues_text(residues)});
    }
  };
  for (size_t axis = 0; axis < marks.shape.size(); ++axis) {
    add("index along " + axis_name(axis), marks.shape[axis],
        [&](int64_t element) { return marks.index(element, axis); });
  }
  if (marks.shape.size() > 1) {
    add("flat index", marks.elements, [](int64_t element) { return element; });
  }
}

void add_triangles(const Marks& marks, std::vector<Region>& regions) {
  const size_t rank = marks.shape.size();
  if (rank < 2) return;
  const struct {
    const char* text;
    bool (*holds)(int64_t row, int64_t column);
  } kTriangles[] = {
      {"the diagonal of the last two axes", [](int64_t i, int64_t j) { return i == j; }},
      {"what lies above the diagonal of the last two axes",
       [](int64_t i, int64_t j) { return j > i; }},
      {"what lies below the diagonal of the last two axes",
       [](int64_t i, int64_t j) { return j < i; }},
  };
  const int64_t rows = marks.shape[rank - 2], columns = marks.shape[rank - 1];
  for (const auto& triangle : kTriangles) {
    const bool holds = std::all_of(marks.flat.begin(), marks.flat.end(), [&](int64_t element) {
      return triangle.holds(marks.index(element, rank - 2), marks.index(element, rank - 1));
    });
    if (!holds) continue;
    int64_t size = 0;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) size += triangle.holds(i, j) ? 1 : 0;
    }
    regions.push_back({size * (marks.elements / (rows * columns)), triangle.text});
  }
}

void add_values(const Marks& marks, const std::vector<double>& expected,
                std::vector<Region>& regions) {
  double least = INFINITY;
  for (const int64_t element : marks.flat) {
    least = std::min(least, std::abs(expected[static_cast<size_t>(element)]));
  }
  struct Kind {
    std::string text;
    std::function<bool(double)> holds;
    bool by_magnitude = false;
  };
  const Kind kinds[] = {
      {"where the right value is 0", [](double v) { return v == 0; }, false},
      {"where the right value is negative", [](double v) { return v < 0; }, false},
      {"where the right value is positive", [](double v) { return v > 0; }, false},
      {"where the right value is " + digits_text(least, 3) + " or more in magnitude",
       [least](double v) { return std::abs(v) >= least; }, true},
  };
  for (const auto& [text, holds, by_magnitude] : kinds) {
    const bool all =
        std::all_of(marks.flat.begin(), marks.flat.end(), [&, &holds = holds](int64_t element) {
          return holds(expected[static_cast<size_t>(element)]);
        });
    if (!all) continue;
    const auto size = static_cast<int64_t>(std::count_if(expected.begin(), expected.end(), holds));
    // Errors that grow with the value spare the smallest, so only the largest few mean something.
    if (by_magnitude && 4 * size > marks.elements) continue;
    regions.push_back({size, text});
  }
}

}  // namespace

std::string region_of(const Shape& shape, const std::vector<char>& marked,
                      const std::vector<double>& expected) {
  Marks marks{shape, strides_of(shape), {}, static_cast<int64_t>(marked.size())};
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) marks.flat.push_back(static_cast<int64_t>(i));
  }
  const auto count = static_cast<int64_t>(marks.flat.size());
  if (count == 0 || count == marks.elements) return "";
  std::vector<Region> regions;
  // Of equally small sets the first wins: one axis, then the flat index, then several axes.
  const auto boxed = box(marks);
  const bool one_axis = boxed && boxed->axes == 1;
  if (one_axis) regions.push_back(*boxed);
  if (auto region = flat_stretch(marks)) regions.push_back(*region);
  if (boxed && !one_axis) regions.push_back(*boxed);
  if (auto region = tails(marks)) regions.push_back(*region);
  add_residues(marks, regions);
  add_triangles(marks, regions);
  if (!expected.empty()) add_values(marks, expected, regions);
  const Region* best = nullptr;
  for (const Region& region : regions) {
    const double bits = static_cast<double>(count) *
                        std::log2(static_cast<double>(marks.elements) /
                                  static_cast<double>(std::max<int64_t>(region.size, 1)));
    if (bits >= kBits && (best == nullptr || region.size < best->size)) best = &region;
  }
  if (best == nullptr) return "";
  return best->text + (best->size == count ? " (all " + number(count) + " elements there)"
                                           : " (" + number(count) + " of the " +
                                                 number(best->size) + " elements there)");
}

}  // namespace kbench::diagnose
