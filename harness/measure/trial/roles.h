// Which of baseline and candidate runs first in a sample: random, but balanced.
#pragma once

#include "harness/measure/trial/secret.h"

namespace kbench::trial {

struct Roles {
  bool baseline_first = true;
};

/// Samples come in pairs: the first draws its order, the second has the opposite one. The cost of
/// running second then cancels within the pair (see Sampling). Independent draws would often give
/// ten samples with eight of one order.
class RoleSchedule {
 public:
  Roles next(SecretStream& secret) {
    last_.baseline_first = half_way_ ? !last_.baseline_first : (secret.next() & 1) != 0;
    half_way_ = !half_way_;
    return last_;
  }

 private:
  Roles last_;
  bool half_way_ = false;
};

}  // namespace kbench::trial
