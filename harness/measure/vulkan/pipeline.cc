#include "harness/measure/vulkan/pipeline.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/functions.h"
#include "harness/measure/vulkan/spirv_matrix.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/start_thread.h"
#include "libkbench/base/trace.h"

namespace kbench::vulkan {
namespace {

[[noreturn]] void unsupported(const std::string& message) {
  throw Error(ErrorCode::kUnsupported, message);
}

void require_at_most(uint64_t value, uint64_t limit, const std::string& what) {
  if (value <= limit) return;
  unsupported("the kernel has " + std::to_string(value) + " " + what + ", the device takes " +
              std::to_string(limit));
}

/// What only kbench's own shaders may ask for, where the device has it.
bool built_in_may_use(uint32_t capability, const Device& device) {
  switch (capability) {
    // Rounding to the nearest and kept subnormal numbers in conversions. The capability does not
    // say for which width of floats; kbench's own shaders ask for 16 bits only (tensor.glsl), which
    // is what float16_conversions says.
    case spv::CapabilityRoundingModeRTE:
    case spv::CapabilityDenormPreserve:
      return device.snapshot().float16_conversions;
    case kBfloat16Type:
    case kBfloat16Matrix:
      return device.plan().bfloat16_matrices;
    default:
      return false;
  }
}

void require_limits(const PipelineKey& key, const SpirvFacts& facts, const Device& device) {
  const DeviceSnapshot& limits = device.snapshot();
  require_at_most(key.push_bytes, limits.max_push_constants, "push-constant bytes");
  const auto count = [&](VkDescriptorType type) {
    return static_cast<uint64_t>(
        std::count_if(key.bindings.begin(), key.bindings.end(),
                      [type](const Binding& each) { return each.type == type; }));
  };
  require_at_most(count(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER), limits.max_storage_buffers_per_stage,
                  "bindings");
  require_at_most(count(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER), limits.max_uniform_buffers_per_stage,
                  "uniform buffers");
  require_at_most(count(VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER),
                  limits.max_sampled_images_per_stage, "typed buffers that are read");
  require_at_most(count(VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER),
                  limits.max_storage_images_per_stage, "typed buffers that are written");
  require_at_most(facts.shared_bytes, limits.max_shared_memory, "bytes of shared memory");
  for (int axis = 0; axis < 3; ++axis) {
    require_at_most(facts.local_size[axis], limits.max_group_size[axis],
                    std::string("invocations of a group in ") + "xyz"[axis]);
  }
  const uint64_t invocations =
      uint64_t{facts.local_size[0]} * facts.local_size[1] * facts.local_size[2];
  require_at_most(invocations, limits.max_invocations, "invocations a group");
  const auto refuse = [](const std::optional<MissingCapability>& missing) {
    if (!missing) return;
    unsupported("the kernel needs " + missing->name + ", which " +
                (missing->by_device ? "the device does not offer" : "kbench does not enable"));
  };
  refuse(missing_float_atomic(facts, device.plan()));
  for (const uint32_t capability : facts.capabilities) {
    if (key.built_in && built_in_may_use(capability, device)) continue;
    refuse(missing_capability(capability, device.plan(), limits));
  }
}

/// Whether the pipeline has to ask for its subgroup size; not where the device has just that one.
/// Throws kUnsupported where the device cannot have it.
bool must_request_subgroup_size(const PipelineKey& key, const SpirvFacts& facts,
                                const Device& device) {
  const uint32_t size = key.subgroup_size;
  const DeviceSnapshot& limits = device.snapshot();
  if (size == 0) return false;
  if (limits.min_subgroup_size == size && limits.max_subgroup_size == size) return false;
  if (!device.plan().subgroup_size_control ||
      !(limits.required_subgroup_stages & VK_SHADER_STAGE_COMPUTE_BIT) ||
      !std::has_single_bit(size) || size < limits.min_subgroup_size ||
      size > limits.max_subgroup_size) {
    unsupported(
        "the kernel requires subgroups of " + std::to_string(size) +
        ", which the device cannot give (its sizes: " + std::to_string(limits.min_subgroup_size) +
        " to " + std::to_string(limits.max_subgroup_size) + ")");
  }
  if (limits.max_subgroups_per_group > 0) {
    const uint64_t invocations =
        uint64_t{facts.local_size[0]} * facts.local_size[1] * facts.local_size[2];
    require_at_most((invocations + size - 1) / size, limits.max_subgroups_per_group,
                    "subgroups a group");
  }
  return true;
}

std::string source_name(const EmbeddedKey& key) {
  std::string name = key.file;
  for (const auto& [macro, value] : key.macros) name += "\n" + macro + "=" + value;
  return name;
}

/// Names what the driver compiles: two keys with one name give the same pipeline.
std::string name_of(const PipelineKey& key) {
  const std::string_view code(reinterpret_cast<const char*>(key.spirv.data()),
                              key.spirv.size() * sizeof key.spirv.front());
  const std::string rest = std::to_string(key.push_bytes) + " " + std::to_string(key.subgroup_size);
  return Sha256().add(code).add(rest).hex();
}

/// The driver's cache with one pipeline, found among those that are kept or empty.
class DriverCache {
 public:
  DriverCache(VkDevice device, const KeptPipelines& kept, std::string name)
      : device_(device), kept_(kept), name_(std::move(name)), found_(kept.find(name_)) {
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = found_.size();
    info.pInitialData = found_.data();
    KBENCH_VK(vkCreatePipelineCache(device_, &info, nullptr, &cache_));
  }
  ~DriverCache() {
    if (kept_.keep && (made_ || found_.empty())) kept_.keep(name_, made_ ? bytes() : "");
    vkDestroyPipelineCache(device_, cache_, nullptr);
  }
  DriverCache(const DriverCache&) = delete;

  VkPipelineCache handle() const { return cache_; }

  /// The pipeline is made: it is kept unless it was found.
  void keep() { made_ = size() > found_.size(); }

 private:
  /// 0 where the driver has nothing to keep.
  size_t size() const {
    size_t size = 0;
    const bool any = vkGetPipelineCacheData(device_, cache_, &size, nullptr) == VK_SUCCESS;
    return any && size > sizeof(VkPipelineCacheHeaderVersionOne) ? size : 0;
  }
  std::string bytes() const {
    std::string bytes(size(), '\0');
    size_t written = bytes.size();
    const VkResult got = vkGetPipelineCacheData(device_, cache_, &written, bytes.data());
    return got == VK_SUCCESS ? bytes.substr(0, written) : "";
  }

  VkDevice device_;
  const KeptPipelines& kept_;
  std::string name_, found_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  bool made_ = false;  ///< and not found
};

std::string whole_name(const EmbeddedKey& key) {
  return source_name(key) + "\n" + std::to_string(key.push_bytes) + " " +
         std::to_string(key.subgroup_size);
}

}  // namespace

struct PipelineCache::State {
  struct KeyHash {
    size_t operator()(const PipelineKey& key) const {
      uint64_t hash = 14695981039346656037u;  // FNV-1a, a word at a time
      const auto mix = [&hash](uint64_t word) { hash = (hash ^ word) * 1099511628211u; };
      for (const uint32_t word : key.spirv) mix(word);
      for (const Binding& each : key.bindings) mix(uint64_t{each.type} << 32 | each.format);
      mix(uint64_t{key.push_bytes} << 32 | key.subgroup_size);
      mix(key.built_in);
      return hash;
    }
  };
  Device& device;
  std::unordered_map<PipelineKey, std::unique_ptr<Pipeline>, KeyHash> pipelines;
  std::map<std::string, Spirv> compiled;               ///< built-in shaders
  std::map<std::string, const Pipeline*> by_embedded;  ///< by the whole EmbeddedKey
  KeptPipelines kept;                                  ///< empty until use()

  explicit State(Device& device_in) : device(device_in) {}
  ~State();
  void destroy(const Pipeline& pipeline);
  void make_layouts(const PipelineKey& key, Pipeline& pipeline);
  void make_pipeline(const PipelineKey& key, Pipeline& pipeline);
  /// The finished pipeline. May run on any thread.
  std::unique_ptr<Pipeline> make(const PipelineKey& key);
  PipelineKey compile_embedded(const EmbeddedKey& key);
};

PipelineCache::State::~State() {
  if (device.hung()) return;  // a run may still be using them
  for (const auto& [key, pipeline] : pipelines) destroy(*pipeline);
}

void PipelineCache::State::destroy(const Pipeline& pipeline) {
  const VkDevice handle = device.handle();
  if (pipeline.pipeline) vkDestroyPipeline(handle, pipeline.pipeline, nullptr);
  if (pipeline.layout) vkDestroyPipelineLayout(handle, pipeline.layout, nullptr);
  if (pipeline.set_layout) vkDestroyDescriptorSetLayout(handle, pipeline.set_layout, nullptr);
}

void PipelineCache::State::make_layouts(const PipelineKey& key, Pipeline& pipeline) {
  const auto size = static_cast<uint32_t>(key.bindings.size());
  if (size > 0) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(size);
    for (uint32_t i = 0; i < size; ++i) {
      bindings[i].binding = i;
      bindings[i].descriptorType = key.bindings[i].type;
      bindings[i].descriptorCount = 1;
      bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    info.bindingCount = size;
    info.pBindings = bindings.data();
    KBENCH_VK(vkCreateDescriptorSetLayout(device.handle(), &info, nullptr, &pipeline.set_layout));
  }
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, key.push_bytes};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.setLayoutCount = size > 0 ? 1 : 0;
  info.pSetLayouts = &pipeline.set_layout;
  info.pushConstantRangeCount = key.push_bytes > 0 ? 1 : 0;
  info.pPushConstantRanges = &push;
  KBENCH_VK(vkCreatePipelineLayout(device.handle(), &info, nullptr, &pipeline.layout));
}

void PipelineCache::State::make_pipeline(const PipelineKey& key, Pipeline& pipeline) {
  Spirv spirv = key.spirv;
  if (key.built_in && has_nv_matrices(spirv)) spirv = to_khr_matrices(spirv);
  const SpirvFacts facts = inspect_spirv(spirv);
  require_limits(key, facts, device);
  const bool request_subgroup_size = must_request_subgroup_size(key, facts, device);
  make_layouts(key, pipeline);

  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = spirv.size() * sizeof(uint32_t);
  module_info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  KBENCH_VK(vkCreateShaderModule(device.handle(), &module_info, nullptr, &module));

  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroup.requiredSubgroupSize = key.subgroup_size;
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = facts.entry.c_str();
  info.layout = pipeline.layout;
  if (request_subgroup_size) info.stage.pNext = &subgroup;
  if (key.subgroup_size > 0 && device.plan().full_subgroups &&
      facts.local_size[0] % key.subgroup_size == 0) {
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  std::optional<DriverCache> cache;
  if (key.built_in && kept.find) cache.emplace(device.handle(), kept, name_of(key));
  const VkResult made = vkCreateComputePipelines(device.handle(), cache ? cache->handle() : nullptr,
                                                 1, &info, nullptr, &pipeline.pipeline);
  vkDestroyShaderModule(device.handle(), module, nullptr);
  if (cache && made == VK_SUCCESS) cache->keep();
  try {
    check(made, "vkCreateComputePipelines", __FILE__, __LINE__);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal) throw;
    throw Error(ErrorCode::kCompile, std::string("the driver refuses the shader: ") + error.what());
  }
}

PipelineCache::PipelineCache(Device& device) : state_(std::make_unique<State>(device)) {}
PipelineCache::~PipelineCache() = default;

std::unique_ptr<Pipeline> PipelineCache::State::make(const PipelineKey& key) {
  const trace::Span span("compile a pipeline");
  auto pipeline = std::make_unique<Pipeline>();
  pipeline->bindings = key.bindings;
  pipeline->push_bytes = key.push_bytes;
  try {
    make_pipeline(key, *pipeline);
  } catch (...) {
    destroy(*pipeline);
    throw;
  }
  return pipeline;
}

const Pipeline& PipelineCache::get(const PipelineKey& key) {
  const auto known = state_->pipelines.find(key);
  if (known != state_->pipelines.end()) return *known->second;
  return *state_->pipelines.emplace(key, state_->make(key)).first->second;
}

void PipelineCache::prepare(std::vector<PipelineKey> keys, const std::vector<EmbeddedKey>& embedded,
                            const std::function<bool()>& stop) {
  std::set<std::string> names;  // a network launches one kernel many times
  for (const EmbeddedKey& key : embedded) {
    if (names.insert(whole_name(key)).second) keys.push_back(state_->compile_embedded(key));
  }
  std::unordered_set<PipelineKey, State::KeyHash> listed;
  for (PipelineKey& key : keys) {
    if (!state_->pipelines.contains(key)) listed.insert(std::move(key));
  }
  if (listed.size() < 2) return;  // get() makes a single one
  std::vector<const PipelineKey*> missing;
  for (const PipelineKey& key : listed) missing.push_back(&key);
  std::vector<std::unique_ptr<Pipeline>> made(missing.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < missing.size() && !(stop && stop()); i = next++) {
      try {
        made[i] = state_->make(*missing[i]);
      } catch (const std::exception&) {  // get() throws it
        made[i] = nullptr;
      }
    }
  };
  std::vector<std::jthread> threads;
  const size_t wanted = std::min<size_t>(missing.size(), std::thread::hardware_concurrency());
  try {
    while (threads.size() + 1 < wanted) threads.push_back(start_thread<std::jthread>(work));
  } catch (const Error&) {  // fewer threads take longer
  }
  work();
  threads.clear();
  for (size_t i = 0; i < missing.size(); ++i) {
    if (made[i]) state_->pipelines.emplace(*missing[i], std::move(made[i]));
  }
}

PipelineKey PipelineCache::State::compile_embedded(const EmbeddedKey& key) {
  std::string name = source_name(key);
  auto known = compiled.find(name);
  if (known == compiled.end()) {
    ShaderSource source;
    std::optional<std::string> text = embedded_shader(key.file);
    if (!text) throw Error(ErrorCode::kInternal, "there is no embedded shader '" + key.file + "'");
    source.text = std::move(*text);
    source.file = key.file;
    source.macros = key.macros;
    source.include = embedded_include;
    source.optimize = false;  // The driver does; SPIRV-Tools takes longer over it than that.
    CompileOutcome outcome = device.compiler().compile(source);
    if (!outcome.ok()) {
      const Diagnostic& first = outcome.diagnostics.front();
      throw Error(ErrorCode::kInternal, Location{first.file, first.line, first.column},
                  "an embedded shader does not compile: " + first.message);
    }
    known = compiled.emplace(std::move(name), std::move(outcome.spirv)).first;
  }
  return {.spirv = known->second,
          .push_bytes = key.push_bytes,
          .subgroup_size = key.subgroup_size,
          .built_in = true};
}

const Pipeline& PipelineCache::get_embedded(const EmbeddedKey& key) {
  const Pipeline*& pipeline = state_->by_embedded[whole_name(key)];
  if (pipeline == nullptr) pipeline = &get(state_->compile_embedded(key));
  return *pipeline;
}

void PipelineCache::use(KeptPipelines kept) { state_->kept = std::move(kept); }

size_t PipelineCache::size() const { return state_->pipelines.size(); }

}  // namespace kbench::vulkan
