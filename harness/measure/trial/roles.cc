#include "harness/measure/trial/roles.h"

namespace kbench::trial {

Roles RoleSchedule::next(SecretStream& secret) {
  if (half_way_) {
    last_ = {!last_.baseline_first};
  } else {
    last_ = {(secret.next() & 1) != 0};
  }
  half_way_ = !half_way_;
  return last_;
}

}  // namespace kbench::trial
