#include "harness/trial/roles.h"

namespace kbench::trial {

Roles RoleSchedule::next(SecretStream& secret) {
  if (half_way_) {
    last_ = {!last_.baseline_first, 1 - last_.baseline_copy};
  } else {
    const uint64_t random = secret.next();
    last_ = {(random & 1) != 0, static_cast<int>(random >> 1 & 1)};
  }
  half_way_ = !half_way_;
  return last_;
}

}  // namespace kbench::trial
