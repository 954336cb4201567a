// A device for tests of the trial's own kernels.
#pragma once

#include <utility>
#include <vector>

#include "harness/measure/trial/kernels.h"
#include "kbench/random.h"
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
  /// The device's findings and the truth's scale.
  template <class T, class R>
  std::pair<CompareSummary, ScaleFinding> compare_on_device(const std::vector<T>& got,
                                                            const std::vector<R>& truth,
                                                            const Fill& fill, CompareRule rule) {
    const vulkan::Buffer c = upload(got), r = upload(truth);
    const vulkan::Buffer work = device().allocate(reduction_bytes(whole(r)));
    const vulkan::Buffer scale = device().allocate(sizeof(ScaleFinding));
    const vulkan::Buffer summary = device().allocate(sizeof(CompareSummary));
    Kernels kernels(device());
    run([&](vulkan::Commands& commands) {
      kernels.scale(commands, whole(r), dtype_of<R>(), work.address(), scale.address());
      commands.barrier();
      kernels.compare(commands, whole(c), whole(r), fill, rule, scale.address(), work.address(),
                      summary.address(), true);
    });
    return {download<CompareSummary>(summary)[0], download<ScaleFinding>(scale)[0]};
  }
  static std::vector<float> drawn(size_t n, uint64_t seed = 7) {
    const Tensor tensor = draw(normal(0, 3), {seed, 1, "t"}, {DType::f32, {int64_t(n)}});
    const auto data = tensor.data<float>();
    return {data.begin(), data.end()};
  }
};

}  // namespace kbench::trial
