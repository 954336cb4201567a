// The operators that a starter's kernel can compute, each written as loops.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"
#include "libkbench/candidate/starter_kernel.h"

namespace kbench {

/// The operators that follow the kernel of a loss, one after another, each along axis 0.
struct LossEnd {
  TensorType partial;                                        ///< what the kernel writes
  std::vector<std::pair<std::string, Attributes>> followed;  ///< operators and attributes
};

/// Whether there is a kernel for the call.
bool has_starter_kernel(const OperatorCall& call);
/// Set for a loss: its kernel leaves the sum over all elements to built-in operators.
std::optional<LossEnd> loss_end(const OperatorCall& call);
/// Writes the kernel's body, `buffers` being those of the call's inputs and of the output. Returns
/// the constant with the number of its invocations.
std::string write_operator(KernelText& kernel, const OperatorCall& call,
                           const std::vector<std::string>& buffers);
/// Writes a kernel that copies: for a task none of whose operators has a kernel.
std::string write_copy(KernelText& kernel, const TensorType& type,
                       const std::vector<std::string>& buffers);

}  // namespace kbench
