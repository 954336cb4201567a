#include "harness/measure/eager/eager.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

DType operand_dtype(const LaunchOperand& operand, const OperatorCall& stored) {
  switch (operand.kind) {
    case LaunchOperand::Kind::input:
      return stored.inputs.at(operand.index).dtype;
    case LaunchOperand::Kind::output:
      return stored.outputs.at(operand.index).dtype;
    case LaunchOperand::Kind::scratch:
      break;
  }
  return operand.scratch_dtype;
}

}  // namespace

DType stored_dtype(DType dtype, DType real) {
  if (real != DType::f32 && !is_half(real)) {
    throw Error(ErrorCode::kInvalidArgument,
                "floats are stored as f32, f16 or bf16, not " + std::string(name_of(real)));
  }
  return dtype == DType::f32 ? real : dtype;
}

TensorType stored_type(const TensorType& type, DType real) {
  return {stored_dtype(type.dtype, real), type.shape};
}

OperatorCall stored_call(const OperatorCall& call, DType real) {
  OperatorCall stored = call;
  for (auto* types : {&stored.inputs, &stored.outputs}) {
    for (TensorType& type : *types) type.dtype = stored_dtype(type.dtype, real);
  }
  return stored;
}

CallPlan with_storage(CallPlan plan, const OperatorCall& stored, const DeviceTraits& traits) {
  for (Launch& launch : plan.launches) {
    bool halves = false;
    for (size_t i = 0; i < launch.addresses.size(); ++i) {
      LaunchOperand& operand = launch.addresses[i];
      const DType dtype = operand_dtype(operand, stored);
      if (!is_half(dtype)) continue;
      if (!traits.storage_16bit) {
        throw Error(ErrorCode::kUnsupported, "operator " + stored.op->name +
                                                 ": the device lacks storage of 16 bits " +
                                                 "(storageBuffer16BitAccess), which " +
                                                 std::string(name_of(dtype)) + " takes");
      }
      operand.unit = static_cast<int64_t>(size_of(dtype));
      launch.macros.emplace_back("STORED_" + std::to_string(i), name_of(dtype));
      halves = halves || dtype == DType::f16;
    }
    if (halves && traits.float16_conversions) launch.macros.emplace_back("F16_CONVERTS", "1");
  }
  return plan;
}

}  // namespace kbench::eager
