// In which type the operands of a call are stored, and how kernels are told.
#pragma once

#include "harness/measure/eager/eager.h"

namespace kbench::eager {

/// The call with operands of the types in which they lie in memory: what plans are made from.
OperatorCall stored_call(const OperatorCall& call, DType real);

/// The plan of such a call, its launches told which of their addresses are operands that are not
/// stored in words of 32 bits (STORED_<position>, see shaders/tensor.glsl). Throws kUnsupported
/// where the device cannot store them.
CallPlan with_storage(CallPlan plan, const OperatorCall& stored, const DeviceTraits& traits);

}  // namespace kbench::eager
