#include "kbench/random.h"

#include <sstream>

#include "libkbench/base/enum_names.h"
#include "libkbench/core/draw_math.h"

namespace kbench {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  philox_rounds(counter[0], counter[1], counter[2], counter[3], key[0], key[1]);
  return counter;
}

uint32_t fnv1a32(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : text) hash = (hash ^ c) * 16777619u;
  return hash;
}

Distribution uniform(double lo, double hi) { return {Distribution::Kind::uniform, lo, hi}; }

Distribution normal(double mean, double deviation) {
  return {Distribution::Kind::normal, mean, deviation};
}

Distribution randint(int64_t lo, int64_t hi) {
  return {Distribution::Kind::randint, static_cast<double>(lo), static_cast<double>(hi)};
}

Distribution offset(Distribution distribution) {
  distribution.then = Distribution::Then::offset;
  return distribution;
}

int64_t offset_run(const Shape& shape) {
  if (shape.size() < 2) return 0;
  const auto kept = static_cast<std::ptrdiff_t>(shape.size() == 2 ? 1 : 2);
  return element_count(Shape(shape.begin() + kept, shape.end()));
}

std::string offsets_name(const std::string& name) { return name + ".offsets"; }

std::string_view name_of(Distribution::Kind kind) {
  return name_in<Distribution::Kind::randint>({"uniform", "normal", "randint"}, kind);
}

std::string_view name_of(Distribution::Then then) {
  return name_in<Distribution::Then::offset>(
      {"nothing", "symmetrize", "triu", "tril", "softmax_last", "plus_minus_one", "offset"}, then);
}

std::string to_string(const Distribution& distribution) {
  std::ostringstream text;
  text << name_of(distribution.kind);
  if (distribution.kind != Distribution::Kind::normal || distribution.lo != 0 ||
      distribution.hi != 1) {
    text << "(" << distribution.lo << ", " << distribution.hi << ")";
  }
  if (distribution.then != Distribution::Then::nothing) text << ", " << name_of(distribution.then);
  return text.str();
}

}  // namespace kbench
