// A starter's kernels of operators with windows: pools and convolutions in 1, 2 and 3 dimensions.
#pragma once

#include <string>
#include <vector>

#include "kbench/graph.h"
#include "libkbench/candidate/starter_kernel.h"

namespace kbench {

std::string write_pool(KernelText& kernel, const OperatorCall& call,
                       const std::vector<std::string>& buffers);
std::string write_convolution(KernelText& kernel, const OperatorCall& call,
                              const std::vector<std::string>& buffers);

}  // namespace kbench
