// Who goes first: random, but in balance.
#pragma once

#include "harness/measure/trial/secret.h"

namespace kbench::trial {

struct Roles {
  bool baseline_first = true;
};

/// Samples come in pairs: the first of a pair draws its roles, the second takes the opposite ones.
/// What going second costs then tells on both sides of a pair alike and cancels (see Sampling). A
/// plain coin would often leave ten samples with eight of one order.
class RoleSchedule {
 public:
  Roles next(SecretStream& secret);

 private:
  Roles last_;
  bool half_way_ = false;
};

}  // namespace kbench::trial
