#include "kbench/model.h"

#include "libkbench/base/enum_names.h"

namespace kbench {

std::string_view name_of(Role role) {
  return name_in<Role::assistant>({"system", "user", "assistant"}, role);
}

}  // namespace kbench
