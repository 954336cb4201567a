// Parts of tasks that no output depends on, each with its proof. `kbench audit` finds such parts
// and checks the proofs in float64.
#pragma once

#include <string>

#include "kbench/task.h"

namespace kbench::levels {

/// A bias that is added to all that one mean is taken of, which the norm then takes away.
inline Dead bias_before_norm(const std::string& op) {
  return {{"without the bias of *" + op + "*"},
          "the norm behind it takes the mean away, and the bias, the same for all the elements of "
          "that mean, with it"};
}

/// A norm's bias that convolutions of one tap alone read, other terms added to it or not. `norms`:
/// a pattern of their names.
inline Dead bias_before_one_tap(const std::string& norms) {
  return {{"without the bias of batch_norm '" + norms + "'"},
          "a convolution of one tap makes of it one number a channel, which the norm behind takes "
          "away"};
}

/// An operator whose result is its input, for all inputs.
inline Dead identity(const std::string& op, const std::string& proof) {
  return {{"without " + op}, proof};
}

}  // namespace kbench::levels
