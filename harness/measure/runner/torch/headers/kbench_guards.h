// What holds for a scope: whether gradients are recorded, and the current device.
#pragma once

#include "kbench_tensor.h"

namespace c10::kbench {

struct AutoGradMode {
  AutoGradMode(bool enabled) : before_(kb_grad_mode(enabled)) {}
  ~AutoGradMode() { kb_grad_mode(before_); }
  AutoGradMode(const AutoGradMode&) = delete;

 private:
  int64_t before_;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
class DeviceGuard {  // Of CUDA's devices; of the CPU there is one.
 public:
  explicit DeviceGuard(Device device) { set_device(device); }
  DeviceGuard(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (before_ >= 0) kb_device(before_);
  }
  void set_device(Device device) {
    if (!device.is_cuda()) return;
    const int64_t now = kb_device(device.index());
    if (before_ < 0) before_ = now;
  }
  void set_index(DeviceIndex index) { set_device(Device(kCUDA, index)); }

 protected:
  DeviceGuard() = default;
  int64_t before_ = -1;
};
class OptionalDeviceGuard : public DeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(optional<Device> device) {
    if (device) set_device(*device);
  }
  void reset_device(Device device) { set_device(device); }
};
inline optional<Device> device_of(const Tensor& tensor) {
  return tensor.defined() ? make_optional(tensor.device()) : nullopt;
}

}  // namespace c10::kbench
