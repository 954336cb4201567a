// The judge's shared memory in a runner: imported slabs, and the tensors in them.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/graph.h"
#include "libkbench/base/files.h"

namespace kbench::runner {

UniqueFd duplicate(const UniqueFd& descriptor);  ///< throws kInternal if none is left

/// Owns the imported slabs; the device must outlive it.
class ImportedMemory {
 public:
  explicit ImportedMemory(vulkan::Device& device) : device_(device) {}
  /// Adds the message's slabs, and its places, which may lie in earlier slabs too. Throws
  /// kInvalidArgument if descriptors and slabs differ in number or a place lies outside its slab,
  /// and what Device::import_shared() throws.
  void add(const Attach& attach, std::vector<UniqueFd> descriptors);
  /// Keeps only these slabs, renumbered in this order, and no places: all regions become invalid.
  /// Throws kInvalidArgument for an unknown slab or one that is named twice.
  void keep(const std::vector<int>& slabs);
  /// Keeps all slabs and no places.
  void forget_places();

  /// Throws kInvalidArgument, naming the tensor, where a place is missing or has not the bytes of
  /// the program's own tensor. Memory without any places passes: it is how all memory is released.
  void check_types(const Graph& graph, const std::vector<Wanted>& wanted) const;

  /// By value id, output index and index in Built::wanted; empty regions for intermediates.
  const std::vector<vulkan::Region>& given() const { return given_; }
  const std::vector<vulkan::Region>& outputs() const { return outputs_; }
  const std::vector<vulkan::Region>& wanted() const { return wanted_; }

  /// Keeps a descriptor of every slab added from now on, for CUDA's driver or PyTorch to import.
  void keep_descriptors() { keep_descriptors_ = true; }
  struct Slab {
    vulkan::Buffer buffer;  ///< of the regions in it
    UniqueFd descriptor;    ///< of the whole allocation, if it was kept
    bool read_only = false;
  };
  const std::deque<Slab>& slabs() const { return slabs_; }
  /// The index of the slab that a region lies in; nothing for an empty one.
  std::optional<size_t> slab_of(const vulkan::Region& region) const;

 private:
  void add(const std::vector<Place>& places, std::vector<vulkan::Region>& regions) const;

  vulkan::Device& device_;
  std::deque<Slab> slabs_;  ///< a deque, as regions point to its elements
  std::vector<vulkan::Region> given_, outputs_, wanted_;
  bool keep_descriptors_ = false;
};

}  // namespace kbench::runner
