#include "kbench/model.h"

namespace kbench {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
  }
  return "user";
}

}  // namespace kbench
