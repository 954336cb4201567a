// What a candidate's speed is measured against.
#pragma once

#include <string_view>

namespace kbench {

/// What is timed beside a candidate in the same samples. The truth that its values are held to is
/// the eager baseline's in any case.
enum class Opponent {
  eager,          ///< kbench's own baseline: one kernel an operator
  torch,          ///< PyTorch, called operator by operator
  torch_compile,  ///< the same through torch.compile
  best,           ///< the faster of PyTorch's two, found once for each task
};

std::string_view name_of(Opponent opponent);         ///< "eager", "torch", "torch.compile", "best"
Opponent opponent_from_name(std::string_view name);  ///< throws kInvalidArgument

}  // namespace kbench
