#include "kbench/opponent.h"

#include <string>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"

namespace kbench {

std::string_view name_of(Opponent opponent) {
  return name_in<Opponent::best>({"eager", "torch", "torch.compile", "best"}, opponent);
}

Opponent opponent_from_name(std::string_view name) {
  if (const auto found = value_named(name, Opponent::best)) return *found;
  throw Error(ErrorCode::kInvalidArgument, "there is no opponent '" + std::string(name) +
                                               "': eager, torch, torch.compile, best");
}

}  // namespace kbench
