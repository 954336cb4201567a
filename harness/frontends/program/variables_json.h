// Shape variables in the output of --json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kbench/variables.h"

namespace kbench::program {

/// An object of names and values, in the variables' order.
nlohmann::ordered_json to_json(const Variables& variables);

}  // namespace kbench::program
