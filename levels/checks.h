// What the originals ask of sizes beyond what their operators do.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kbench/error.h"
#include "kbench/graph.h"

namespace kbench::levels {

/// Throws kShape, naming what would be computed and from what, unless the condition holds.
inline void require(bool condition, const std::string& what, const Value& x,
                    const std::string& message) {
  if (condition) return;
  throw Error(ErrorCode::kShape, what + "(" + to_string(x.type()) + "): " + message);
}

/// Throws kInvalidArgument unless the condition on shape variables holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorCode::kInvalidArgument, message);
}

/// A list that follows from other variables where it is not given. It is not counted as read by the
/// task; those variables are.
inline const std::vector<int64_t>& followed_list(const Graph& g, const std::string& name) {
  const auto it = g.variables().find(name);
  require(it != g.variables().end(), "the task has no shape variable '" + name + "'");
  const auto* list = std::get_if<std::vector<int64_t>>(&it->second);
  require(list != nullptr, "shape variable '" + name + "' must be a list of integers");
  return *list;
}

}  // namespace kbench::levels
