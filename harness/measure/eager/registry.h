// Which operators have an eager kernel, and the function that plans each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/eager/eager.h"

namespace kbench::eager {

/// Pure: from a call, its operands of the types they are stored in, and the device's traits to
/// launches.
using PlanFunction = CallPlan (*)(const OperatorCall& call, const DeviceTraits& traits);

struct EagerKernel {
  std::string name;  ///< the operator's
  PlanFunction plan;
};

// One table a family, in ops/<family>.cc.
const std::vector<EagerKernel>& elementwise_kernels();
const std::vector<EagerKernel>& reduction_kernels();
const std::vector<EagerKernel>& matmul_kernels();
const std::vector<EagerKernel>& convolution_kernels();
const std::vector<EagerKernel>& pooling_kernels();
const std::vector<EagerKernel>& norm_kernels();
const std::vector<EagerKernel>& loss_kernels();
const std::vector<EagerKernel>& shape_kernels();
const std::vector<EagerKernel>& recurrent_kernels();

/// The planning function of the operator of that name; null when there is none.
PlanFunction find_plan(std::string_view name);

}  // namespace kbench::eager
