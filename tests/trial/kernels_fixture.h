// A device for tests of the trial's own kernels.
#pragma once

#include "harness/measure/trial/kernels.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::trial {

class KernelsTest : public vulkan::DeviceTest {
 protected:
  template <class Record>
  void run(Record record) {
    vulkan::Commands commands(device());
    commands.begin();
    record(commands);
    commands.submit_and_wait(60);
  }
};

}  // namespace kbench::trial
