// Compute pipelines, cached by content.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/vulkan/compiler.h"

namespace kbench::vulkan {

class Device;

/// The kind of resource at one binding.
struct Binding {
  VkDescriptorType type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< of a texel buffer
  auto operator<=>(const Binding&) const = default;
};
/// Bindings 0, 1, 2, ... of set 0. Made from a number n: n storage buffers.
struct Bindings : std::vector<Binding> {
  Bindings(uint32_t storage_buffers = 0) : vector(storage_buffers) {}
  explicit Bindings(std::vector<Binding> list) : vector(std::move(list)) {}
};

/// Everything a pipeline depends on.
struct PipelineKey {
  Spirv spirv;  ///< without specialization constants: see freeze_spirv()
  Bindings bindings = {};
  uint32_t push_bytes = 0;
  uint32_t subgroup_size = 0;  ///< 0: the driver's choice
  /// kbench's own: may use DeviceSnapshot::float16_conversions, and matrices as spirv_matrix.h has
  /// it.
  bool built_in = false;
  bool operator==(const PipelineKey&) const = default;
};

struct Pipeline {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;  ///< null without bindings
  Bindings bindings = {};
  uint32_t push_bytes = 0;
};

/// A built-in shader's pipeline by name: for shaders that take buffer addresses by push constant,
/// without bindings.
struct EmbeddedKey {
  std::string file;
  Macros macros;
  uint32_t push_bytes = 0;
  uint32_t subgroup_size = 0;
};

/// What drivers compiled of built-in shaders, kept for other processes with the same device and
/// driver. Both are called on several threads at once, and do not throw.
struct KeptPipelines {
  std::function<std::string(const std::string& name)> find;  ///< empty: not kept
  /// Null: they are only read. Called once for each that was not found, with nothing where the
  /// driver refuses it or has nothing to keep.
  std::function<void(const std::string& name, const std::string& bytes)> keep;
};

/// Owns pipelines; a reference stays valid until the cache goes. Not thread-safe.
class PipelineCache {
 public:
  explicit PipelineCache(Device& device);
  ~PipelineCache();
  PipelineCache(const PipelineCache&) = delete;

  /// Throws Error: kUnsupported where the device cannot take the subgroup size or push size.
  const Pipeline& get(const PipelineKey& key);
  /// Makes those that are missing, several at a time: drivers take up to seconds for a large
  /// kernel. One that fails is left out; get() then tries it again and throws its error. `stop` is
  /// called before each, on any thread; once it returns true the rest is left out too.
  void prepare(std::vector<PipelineKey> keys, const std::vector<EmbeddedKey>& embedded = {},
               const std::function<bool()>& stop = {});
  /// Compiles an embedded shader with its macros and makes its pipeline; both cached by key.
  const Pipeline& get_embedded(const EmbeddedKey& key);
  size_t size() const;

  /// Built-in shaders are looked for there before they are compiled, and kept there. Drivers check
  /// the bytes and compile where they are not theirs.
  void use(KeptPipelines kept);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kbench::vulkan
