// Draws tensors on the device, with the same values as kbench::draw() on the host.
#pragma once

#include "harness/measure/trial/kernels.h"
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

/// Where draw_halves() draws to.
struct HalvesAt {
  DType half = DType::f16;
  vulkan::Region wide;    ///< gets the rounded values as float32
  vulkan::Region narrow;  ///< gets the halves
};
/// As draw_tensor(), of a tensor that is stored as halves; `type`: as operators know it, of
/// float32. Records barriers behind both steps, so that the next tensor may be drawn to the same
/// `wide`.
void draw_halves(vulkan::Device& device, vulkan::Commands& commands, Kernels& kernels,
                 const Distribution& distribution, const DrawKey& key, const TensorType& type,
                 const HalvesAt& to);

}  // namespace kbench::trial
