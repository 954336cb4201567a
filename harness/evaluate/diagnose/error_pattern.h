// What the errors of an output have in common: where they are, and what stands there instead. Pure
// functions over a few ten thousand values.
#pragma once

#include <string>
#include <vector>

#include "kbench/tensor.h"

namespace kbench::diagnose {

/// One output of one run, in row-major order.
struct Compared {
  Shape shape;
  std::vector<double> got, expected;
  std::vector<double> again = {};  ///< of a second run on the same inputs; empty: there was none
  std::vector<char> written = {};  ///< 0 where the candidate never wrote; empty: everywhere
  double relative = 1e-4;  ///< of the tolerance: |got - expected| <= relative * (s + |expected|)
};

/// By element: 1 where it is outside the tolerance, or not finite where it should be.
std::vector<char> wrong_elements(const Compared& compared);

/// The smallest of a list of simple sets that holds every marked element, in words: "the last 3 of
/// 67 along axis 1", "where the flat index % 4 is 3". Empty where none is much smaller than the
/// whole, or where so few marks would fit by chance. Kinds of set are a box, unions of tails,
/// residues modulo powers of two, triangles, and (given the right values) signs and magnitudes.
std::string region_of(const Shape& shape, const std::vector<char>& marked,
                      const std::vector<double>& expected = {});

/// What the marked elements hold in terms of the right values: "the right value times 2", "the
/// right values transposed (axes 0 and 1)". Empty where none of the known relations fits.
std::string relation_of(const Compared& compared, const std::vector<char>& marked);

/// All of it as one line; empty where nothing was found, or nothing is wrong.
std::string error_pattern(const Compared& compared);

}  // namespace kbench::diagnose
