#include "harness/measure/runner/self_test.h"

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/error.h"

namespace kbench::runner {

bool computes(vulkan::Device& device, double seconds) {
  const vulkan::Pipeline& nothing = device.pipelines().get_embedded({"void.comp", {}});
  vulkan::Commands commands(device, /*timestamps=*/2);
  commands.begin();
  commands.timestamp(0);  // lavapipe writes timestamps on other threads than it runs kernels on.
  commands.dispatch(nothing, {}, {}, {1, 1, 1});
  commands.timestamp(1);
  try {
    commands.submit_and_wait(seconds);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kTimeout) throw;
    return false;
  }
  return true;
}

}  // namespace kbench::runner
