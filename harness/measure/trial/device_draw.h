// Draws tensors on the device, with the same values as kbench::draw() on the host.
#pragma once

#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/random.h"

namespace kbench::trial {

/// False if a step of the draw exists on the host only, or needs float64 that the device lacks.
bool draws_on_device(const vulkan::DevicePlan& plan, const Distribution& distribution,
                     const TensorType& type);
/// The key of the pipeline that record_draw() uses.
vulkan::EmbeddedKey draw_key(const Distribution& distribution, DType dtype);
/// Records the launch that draws a tensor; draws_on_device() must hold.
void record_draw(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to);
/// Copies a tensor to the device, and waits.
void upload(vulkan::Device& device, const Tensor& tensor, const vulkan::Region& to);
/// Records the draw if the device can draw it; otherwise draws on the host and uploads at once.
void draw_tensor(vulkan::Device& device, vulkan::Commands& commands,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const vulkan::Region& to);

}  // namespace kbench::trial
