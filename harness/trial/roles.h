// Who goes first, and who writes which physical output: random, but in balance.
#pragma once

#include "harness/trial/secret.h"

namespace kbench::trial {

struct Roles {
  bool baseline_first = true;
  int baseline_copy = 0;  ///< the physical output the baseline writes; the candidate the other
};

/// Samples come in pairs: the first of a pair draws its roles, the second takes the opposite ones.
/// What going second costs, or one output's address, then tells on both sides of a pair alike and
/// cancels (see Sampling). A plain coin would often leave ten samples with eight of one order.
class RoleSchedule {
 public:
  Roles next(SecretStream& secret);

 private:
  Roles last_;
  bool half_way_ = false;
};

}  // namespace kbench::trial
