// Memory that the judge shares with runners, with redzones.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// All that can be given back.
inline constexpr uint64_t kAllBytes = ~uint64_t{0};
/// One part in so many of a device's memory is left to candidates and drivers.
inline constexpr uint64_t kReserve = 8;

/// What lies in a slab. Everything beside a candidate's tensors is redzone, which every sample
/// writes and reads; the baseline's slabs are in no candidate's reach.
enum class SlabUse { given, outputs, temporaries, wide, truth, intermediates, opponent };

/// Shared memory that stays allocated from task to task, so that each runner imports it once in its
/// life: drivers take 10 ms a gigabyte, and a lock of the whole host. Several tasks may be laid out
/// in the same memory; the judge works with one of them at a time. Must outlive its slabs.
/// Thread-safe.
class SlabStore {
 public:
  struct Memory {
    vulkan::Buffer buffer;
    uint64_t id = 0;  ///< unlike any other's of this process, before or after
    /// The task memory whose constants it holds (TaskMemory::serial); 0: none.
    uint64_t constants_of = 0;
  };

  explicit SlabStore(vulkan::Device& device) : device_(device) {}
  /// Whether more tasks will follow, for which memory is made with room to spare.
  void expect_more(bool more) { spare_ = more; }
  /// Memory of at least so many bytes: what is there if it is not much too large, else new memory,
  /// on a GPU with room to spare while that is plenty. What no slab uses is given back first: all
  /// of it on a software device, whose memory is the host's; on a GPU as much as keeps a quarter of
  /// its memory free. Throws kOutOfMemory.
  std::shared_ptr<Memory> get(SlabUse use, uint64_t bytes);
  /// Whether memory of that id is still there.
  bool holds(uint64_t id) const;
  uint64_t bytes() const;         ///< of all memory here
  uint64_t unused_bytes() const;  ///< of what no slab uses at present
  /// Gives back memory that no slab uses, the largest first, until that is so much. Runners that
  /// have imported it hold it until their next Attach.
  void drop_unused(uint64_t bytes = kAllBytes);

 private:
  struct Kept {
    SlabUse use;
    std::shared_ptr<Memory> memory;
  };
  static bool unused(const Kept& kept) { return kept.memory.use_count() == 1; }
  void drop(uint64_t bytes);
  std::shared_ptr<Memory> find(SlabUse use, uint64_t bytes) const;

  vulkan::Device& device_;
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;
  std::atomic<bool> spare_ = true;
};

/// The tensors of one use, laid out in memory that runners import. Empty where the layout is.
class Slab {
 public:
  Slab() = default;
  Slab(SlabStore& store, trial::SlabLayout layout, SlabUse use);

  /// Of its memory.
  uint64_t memory() const { return memory_ ? memory_->id : 0; }
  uint64_t& constants_of() const { return memory_->constants_of; }

  bool empty() const { return layout_.empty(); }
  const trial::SlabLayout& layout() const { return layout_; }
  const vulkan::Buffer& buffer() const { return memory_->buffer; }
  vulkan::Region tensor(size_t item) const;
  /// The tensor's place, for a runner that knows this slab by `index`.
  runner::Place place(size_t item, int index) const;

 private:
  trial::SlabLayout layout_;
  std::shared_ptr<SlabStore::Memory> memory_;
};

/// All redzones of several slabs, in the pieces that the device checks.
class Redzones {
 public:
  explicit Redzones(const std::vector<const Slab*>& slabs);

  const std::vector<trial::Zone>& pieces() const { return pieces_; }
  /// What a finding in a piece says: "wrote 3 words outside x, the first 0 bytes past its end".
  std::string describe(uint32_t piece, const trial::ZoneFinding& finding) const;

 private:
  /// A redzone: the names of the tensors before and behind it, its address and its bytes.
  struct Stretch {
    const std::string* before;
    const std::string* behind;
    uint64_t address, bytes;
  };
  std::vector<Stretch> stretches_;
  std::vector<trial::Zone> pieces_;
  std::vector<size_t> stretch_of_;  ///< by piece
};

/// How long a runner may take to import memory or to give it back.
inline constexpr double kAttachSeconds = 120;

/// Collects slabs for one runner: the message and the descriptors that go with it.
class Attachment {
 public:
  Attachment() = default;
  /// `imported`: the memory that the runner has imported, in its order. It keeps what the store
  /// still holds.
  Attachment(const std::vector<uint64_t>& imported, const SlabStore& store);
  /// For the second part of a message whose first part left this imported.
  static Attachment second_part(std::vector<uint64_t> imported) {
    Attachment part;
    part.memories_ = std::move(imported);
    return part;
  }
  /// Returns the index by which the runner will know the slab; -1 for an empty one.
  int add(const Slab& slab, bool read_only);
  /// What it will have imported, in its order.
  const std::vector<uint64_t>& memories() const { return memories_; }
  runner::Attach message;
  std::vector<UniqueFd> descriptors;

 private:
  std::vector<uint64_t> memories_;
};

}  // namespace kbench::judge
