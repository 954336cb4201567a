// Overwrites a local array in every place where an invocation can run, so that what a kernel before
// left in its local memory is gone.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base;
  uvec2 key;
};

void main() {
  uint stack[STACK_WORDS];
  // From an index that no compiler knows, so that the array is not kept in registers; the same for
  // all invocations, whose words then lie side by side.
  const uint from = key.x;
  for (uint i = 0u; i < STACK_WORDS; ++i) stack[(from + i) % STACK_WORDS] = key.y ^ i;
  barrier();
  // A condition that no compiler knows to be false: without a use there would be no array.
  if (stack[key.y % STACK_WORDS] == key.x) Word(base).v = 0u;
}
