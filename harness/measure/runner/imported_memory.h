// The judge's memory as a runner sees it: slabs imported, tensors at their places.
#pragma once

#include <deque>
#include <vector>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/vulkan/device.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::runner {

/// Owns the imported slabs; the device must outlive it.
class ImportedMemory {
 public:
  explicit ImportedMemory(vulkan::Device& device) : device_(device) {}
  /// Adds the message's slabs to those there are, which its places may lie in too. Throws
  /// kInvalidArgument where descriptors and message do not agree or a place lies outside its slab,
  /// and what Device::import_shared() throws.
  void add(const Attach& attach, std::vector<UniqueFd> descriptors);
  /// Only these slabs, renumbered in this order, and no places. Throws kInvalidArgument where there
  /// is none such, or one is named twice.
  void keep(const std::vector<int>& slabs);

  /// By value id, output index and index in Built::wanted; empty where there is none.
  const std::vector<vulkan::Region>& given() const { return given_; }
  const std::vector<vulkan::Region>& outputs() const { return outputs_; }
  const std::vector<vulkan::Region>& wanted() const { return wanted_; }

  /// Keeps a descriptor of every slab that is added from now on, for another driver to import.
  void keep_descriptors() { keeps_ = true; }
  struct Slab {
    UniqueFd descriptor;
    uint64_t bytes = 0;
    const vulkan::Buffer* buffer = nullptr;  ///< what regions of it name
  };
  /// Those that were kept. Importing takes a descriptor: duplicate it.
  const std::vector<Slab>& kept() const { return kept_; }

 private:
  void add(const std::vector<Place>& places, std::vector<vulkan::Region>& regions) const;

  vulkan::Device& device_;
  std::deque<vulkan::Buffer> slabs_;  ///< regions point to them
  std::vector<vulkan::Region> given_, outputs_, wanted_;
  bool keeps_ = false;
  std::vector<Slab> kept_;
};

}  // namespace kbench::runner
