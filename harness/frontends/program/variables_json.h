// Shape variables as --json has them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kbench/variables.h"

namespace kbench::program {

/// An object of name to value, in the variables' order.
nlohmann::ordered_json to_json(const Variables& variables);

}  // namespace kbench::program
