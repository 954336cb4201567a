// Patterns in an output's errors: where they are, and what values are there instead. Pure
// functions, for a few ten thousand values.
#pragma once

#include <string>
#include <vector>

#include "kbench/tensor.h"

namespace kbench::diagnose {

/// One output of one run, row-major.
struct Compared {
  Shape shape;
  std::vector<double> got, expected;
  std::vector<double> again = {};  ///< from a second run on the same inputs; empty: none
  std::vector<char> written =
      {};                  ///< 0 where the candidate did not write; empty: it wrote everywhere
  double relative = 1e-4;  ///< tolerance: |got - expected| <= relative * (s + |expected|)
};

/// By element: 1 if it is outside the tolerance, or not finite where it should be.
std::vector<char> wrong_elements(const Compared& compared);

/// The smallest of a number of simple sets that contains every marked element, in words: "the last
/// 3 of 67 along axis 1", "where the flat index % 4 is 3". Sets are boxes, unions of tails,
/// residues modulo powers of two, triangles, and, if the expected values are given, signs and
/// magnitudes. Empty if no set is much smaller than the whole, or the marks may lie in it by
/// chance.
std::string region_of(const Shape& shape, const std::vector<char>& marked,
                      const std::vector<double>& expected = {});

/// The marked elements in terms of the expected values: "the right value times 2", "the right
/// values transposed (axes 0 and 1)". Empty if no known relation fits.
std::string relation_of(const Compared& compared, const std::vector<char>& marked);

/// Everything found, as one line; empty if nothing was found or nothing is wrong.
std::string error_pattern(const Compared& compared);

}  // namespace kbench::diagnose
