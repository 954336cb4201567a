// Drawing tensors on the device, with the values kbench::draw gives on the host.
#pragma once

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/random.h"

namespace kbench::trial {

/// False where a step of the draw is done on the host only, or needs float64 and there is none.
bool draws_on_device(const vulkan::DevicePlan& plan, const Distribution& distribution,
                     const TensorType& type);
/// The pipeline of that launch.
vulkan::EmbeddedKey draw_key(const Distribution& distribution, DType dtype);
/// Records the launch that draws a tensor; draws_on_device() must hold.
void record_draw(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to);
/// Draws on the host and copies; waits.
void upload_draw(vulkan::Device& device, const Distribution& distribution, const DrawKey& key,
                 const TensorType& type, const vulkan::Region& to);
/// One or the other: recorded where the device can draw it, else drawn on the host and uploaded at
/// once.
void draw_tensor(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to);

}  // namespace kbench::trial
