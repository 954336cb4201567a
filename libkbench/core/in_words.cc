#include "libkbench/core/in_words.h"

#include <algorithm>
#include <sstream>

#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

std::string counted(size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string rule_in_words(const Task& task, DType dtype) {
  const Bounds bounds = bounds_of(task, dtype);
  const std::string text = "|c - r| <= " + digits_text(bounds.relative, 3) +
                           " * (s + |r|) for every element, s the RMS of the output";
  if (!is_half(dtype)) return text;
  return text + ";\n  the RMS of |c - r| / (s + |r|) over all elements at most " +
         digits_text(bounds.rms, 3) + "; r is not rounded to " + std::string(long_name_of(dtype));
}

std::string sizes_of(const Task& task, const Variables& variables, std::string_view given) {
  std::string nearest;
  size_t fewest = variables.size() + 1;
  for (Preset preset : {Preset::v0_1, Preset::v0, Preset::train, Preset::smoke}) {
    if (!given.empty() && given != name_of(preset)) continue;
    std::string text = "preset " + std::string(name_of(preset));
    size_t differ = 0;
    for (const auto& [name, value] : variables_of(task, preset)) {
      const auto it = variables.find(name);
      if (it == variables.end() || it->second == value) continue;
      text += (differ++ ? ", " : " with ") + name + "=" + to_string(it->second);
    }
    if (differ < fewest) nearest = text;
    fewest = std::min(fewest, differ);
  }
  return nearest;
}

std::string sizes_read(const Graph& graph) {
  return listed(graph.variables_read(), [&](const std::string& name) {
    return name + "=" + to_string(graph.variables().find(name)->second);
  });
}

std::string preset_in_words(std::string_view preset, DType dtype) {
  return preset_in_words(preset, name_of(dtype));
}

std::string preset_in_words(std::string_view preset, std::string_view dtype) {
  std::string text(preset);
  if (!dtype.empty() && dtype != name_of(DType::f32)) text += " in " + std::string(dtype);
  return text;
}

std::map<std::string, std::string> meanings_of(const Distribution& distribution) {
  using Then = Distribution::Then;
  std::map<std::string, std::string> meanings;
  switch (distribution.kind) {
    case Distribution::Kind::uniform:
      meanings["uniform(lo, hi)"] = "lo <= x < hi";
      break;
    case Distribution::Kind::normal:
      meanings["normal"] = "mean 0 and standard deviation 1, or normal(mean, deviation)";
      break;
    case Distribution::Kind::randint:
      meanings["randint(lo, hi)"] = "an integer, lo <= n < hi; as bool, n is 0 or 1";
      break;
  }
  switch (distribution.then) {
    case Then::nothing:
      break;
    case Then::symmetrize:
      meanings["symmetrize"] = "then (X + its transpose) / 2: the matrix is symmetric";
      break;
    case Then::triu:
      meanings["triu"] = "then zero below the diagonal: the matrix is upper triangular";
      break;
    case Then::tril:
      meanings["tril"] = "then zero above the diagonal: the matrix is lower triangular";
      break;
    case Then::softmax_last:
      meanings["softmax_last"] = "then softmax over the last dimension: rows are probabilities";
      break;
    case Then::plus_minus_one:
      meanings["plus_minus_one"] = "then 2 x - 1: from 0 or 1 to -1 or 1, as f32";
      break;
    case Then::offset:
      meanings["offset"] =
          "plus a number for each index of the first two dimensions (of the first, where there are "
          "two), drawn alike: means differ from sample to sample and channel to channel";
      break;
  }
  return meanings;
}

std::string contents_of(const Tensor& data) {
  std::map<double, int64_t> counts;
  for (int64_t i = 0; i < data.elements(); ++i) ++counts[data.at(i)];
  const Shape& shape = data.shape();
  if (counts.size() == 2 && shape.size() == 2 && shape[0] == shape[1] && shape[0] > 1) {
    const int64_t n = shape[0];
    const double below = data.at(0), above = data.at(1);
    bool triangle = below != above;
    for (int64_t i = 0; triangle && i < n * n; ++i) {
      triangle = data.at(i) == (i % n > i / n ? above : below);
    }
    if (triangle) return number(below) + " on and below the diagonal, " + number(above) + " above";
  }
  if (counts.size() > 3) {
    return "values from " + number(counts.begin()->first) + " to " + number(counts.rbegin()->first);
  }
  return listed(counts, [](const auto& entry) {
    return number(entry.first) + " at " + counted(static_cast<size_t>(entry.second), "place");
  });
}

}  // namespace kbench
