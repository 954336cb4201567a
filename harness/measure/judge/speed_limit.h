// Whether a candidate took less time than its device needs for what no kernel can leave undone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kbench/baseline.h"
#include "kbench/tensor.h"
#include "libkbench/core/least_work.h"

namespace kbench::judge {

/// The least time for that work, by rates that no kernel reaches: bytes a quarter faster than the
/// device's copy, beyond those that `cached_bytes` may hold; operations at 16 times the rate of
/// float32 multiply-adds, 32 times in halves, as matrix units may have.
struct SpeedLimit {
  double memory_ms = 0, compute_ms = 0;
  double least_ms() const;
};
SpeedLimit speed_limit(const LeastWork& work, const Roofline& roofline, DType dtype,
                       uint64_t cached_bytes);

/// Says why a candidate whose time is at most `ms` is impossibly fast; nothing where it is not.
std::optional<std::string> too_fast(double ms, const LeastWork& work, const SpeedLimit& limit);

}  // namespace kbench::judge
