// Shared memory of the judge's, with redzones.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/trial/kernels.h"
#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/device.h"

namespace kbench::judge {

/// Whose tensors lie in a slab. In a candidate's, everything beside its tensors is redzone, which
/// every sample reads.
enum class SlabUse { candidate, baseline };

/// One allocation that runners import, and the tensors in it. Empty where the layout is.
class Slab {
 public:
  Slab() = default;
  Slab(vulkan::Device& device, trial::SlabLayout layout);
  /// Takes the memory of `before` where it can_hold() the layout.
  Slab(vulkan::Device& device, trial::SlabLayout layout, Slab before,
       SlabUse use = SlabUse::candidate);

  /// Whether its memory is large enough; of a candidate's, also not much larger.
  bool can_hold(const trial::SlabLayout& layout, SlabUse use) const;
  /// Tells its memory from any other of this process, before or after.
  uint64_t memory() const { return memory_; }

  bool empty() const { return layout_.empty(); }
  const trial::SlabLayout& layout() const { return layout_; }
  const vulkan::Buffer& buffer() const { return buffer_; }
  vulkan::Region tensor(size_t item) const;
  /// The tensor's place, for a runner that knows this slab by `index`.
  runner::Place place(size_t item, int index) const;

 private:
  trial::SlabLayout layout_;
  vulkan::Buffer buffer_;
  uint64_t memory_ = 0;
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
  /// `kept`: the memory of slabs that the runner has imported already, in its order.
  explicit Attachment(std::vector<uint64_t> kept = {}) : memories_(std::move(kept)) {}
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
