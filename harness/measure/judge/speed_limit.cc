#include "harness/measure/judge/speed_limit.h"

#include <algorithm>

#include "kbench/text.h"
#include "libkbench/base/text.h"

namespace kbench::judge {
namespace {

/// Reading alone is faster than a copy by a tenth; the peak of a memory's interface is above the
/// copy by less than this.
constexpr double kOfCopy = 1.25;
/// Matrix units do 2.5 (float32 from three products of TF32, H200) to 28 times (B200, bfloat16) as
/// many operations as float32 units.
constexpr double kOfFma = 16, kOfFmaInHalves = 32;

}  // namespace

double SpeedLimit::least_ms() const { return std::max(memory_ms, compute_ms); }

SpeedLimit speed_limit(const LeastWork& work, const Roofline& roofline, DType dtype,
                       uint64_t cached_bytes) {
  SpeedLimit limit;
  if (roofline.copy_bytes_per_s > 0) {
    const double bytes = work.read_bytes + work.written_bytes - static_cast<double>(cached_bytes);
    limit.memory_ms = 1e3 * std::max(bytes, 0.0) / (kOfCopy * roofline.copy_bytes_per_s);
  }
  if (roofline.flops_per_s > 0) {
    const double rate = (is_half(dtype) ? kOfFmaInHalves : kOfFma) * roofline.flops_per_s;
    limit.compute_ms = 1e3 * work.flops / rate;
  }
  return limit;
}

std::optional<std::string> too_fast(double ms, const LeastWork& work, const SpeedLimit& limit) {
  if (!(ms < limit.least_ms())) return std::nullopt;
  const bool memory = limit.memory_ms >= limit.compute_ms;
  const std::string needs =
      memory ? digits_text(1e-9 * (work.read_bytes + work.written_bytes), 6) +
                   " GB that it has to read and write"
             : digits_text(1e-9 * work.flops, 6) + " GFLOP that it has to compute";
  return "took at most " + digits_text(ms, 4) + " ms; " + needs + " take this device " +
         digits_text(limit.least_ms(), 4) + " ms, at " +
         (memory ? digits_text(kOfCopy, 3) + " times the rate of its fastest copy"
                 : "the rate of matrix units");
}

}  // namespace kbench::judge
