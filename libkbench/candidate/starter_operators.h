// The operators that a starter's kernel can compute, each as the loops of its definition.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/graph.h"
#include "libkbench/candidate/starter_kernel.h"

namespace kbench {

/// What is left to do behind the kernel: operators from one tensor to the next, each of axis 0.
struct LossEnd {
  TensorType partial;                                        ///< what the kernel writes
  std::vector<std::pair<std::string, Attributes>> followed;  ///< by these, up to the output
};

/// Whether there is a kernel for the call.
bool has_starter_kernel(const OperatorCall& call);
/// Of a loss, whose kernel leaves the sum over everything to built-in operators; else nothing.
std::optional<LossEnd> loss_end(const OperatorCall& call);
/// Writes the kernel's body, `buffers` being those of the call's inputs and of the output. Returns
/// the constant with the number of its invocations.
std::string write_operator(KernelText& kernel, const OperatorCall& call,
                           const std::vector<std::string>& buffers);
/// The kernel that copies: for a task whose own operators have none.
std::string write_copy(KernelText& kernel, const TensorType& type,
                       const std::vector<std::string>& buffers);

}  // namespace kbench
