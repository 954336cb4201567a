#include "harness/measure/runner/shader_interface.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/texels.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::runner {
namespace {

using vulkan::Resource;
using Kind = vulkan::Resource::Kind;

constexpr uint64_t kWord = 4;

uint64_t whole_words(uint64_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

std::optional<uint32_t> number_in(std::string_view text) {
  uint32_t value = 0;
  return read_number(text, value) ? std::optional(value) : std::nullopt;
}

/// Direct3D's name of it: b for constants, t for reading, u for writing.
std::string register_of(const Resource& resource) {
  const char letter = resource.kind == Kind::uniform_buffer ? 'b' : resource.writable ? 'u' : 't';
  return letter + std::to_string(resource.binding);
}

/// Where a uniform block is: "3", "1.3", "b0", or a name in the shader.
struct BlockPlace {
  uint32_t set = 0;
  std::optional<uint32_t> binding;
  bool is_register = false;
  std::string name;

  explicit BlockPlace(const std::string& text) {
    const size_t dot = text.find('.');
    if (const auto plain = number_in(text)) {
      binding = plain;
    } else if (dot != std::string::npos && number_in(text.substr(0, dot)) &&
               number_in(text.substr(dot + 1))) {
      set = *number_in(text.substr(0, dot));
      binding = number_in(text.substr(dot + 1));
    } else if (text[0] == 'b' && number_in(text.substr(1))) {
      is_register = true;
      binding = number_in(text.substr(1));
    } else {
      name = text;
    }
  }
  bool is(const Resource& resource) const {
    if (resource.kind != Kind::uniform_buffer) return false;
    if (!binding) return !name.empty() && (name == resource.block || name == resource.name);
    return set == resource.set && *binding == resource.binding;
  }
};

std::string name_suffix(const Resource& resource) {
  const std::string& name = resource.block.empty() ? resource.name : resource.block;
  return name.empty() ? "" : " (" + shown(name, 60) + ")";
}

std::string top_name(const vulkan::Leaf& leaf) {
  return leaf.name.substr(0, leaf.name.find_first_of(".["));
}

std::string place_of(const Resource& resource) {
  const std::string binding = std::to_string(resource.binding);
  return resource.set == 0 ? binding : std::to_string(resource.set) + "." + binding;
}

/// Implements connect() for one step.
class KernelConnection {
 public:
  KernelConnection(const vulkan::ShaderInterface& interface, const ResolvedCandidate& candidate,
                   const ResolvedStep& step, const vulkan::DeviceSnapshot& limits,
                   UniformPool& uniforms, ShaderLaunch& launch)
      : interface_(interface),
        candidate_(candidate),
        step_(step),
        kernel_(*candidate.kernels[static_cast<size_t>(step.kernel)].kernel),
        limits_(limits),
        uniforms_(uniforms),
        launch_(launch) {}

  std::optional<Refused> connect();

 private:
  void choose_numbers();
  std::optional<Refused> check_registers() const;
  std::optional<Refused> fill_slot(size_t index);
  std::optional<Refused> fill_buffer(size_t index, size_t bind);
  std::optional<Refused> fill_texels(const Resource& resource, const BufferSlot& buffer,
                                     vulkan::Binding& binding);
  void note_too_large(std::string message);
  std::optional<Refused> fill_uniform(size_t index);
  Refused unbound(const Resource& resource) const;

  const vulkan::ShaderInterface& interface_;
  const ResolvedCandidate& candidate_;
  const ResolvedStep& step_;
  const Kernel& kernel_;
  const vulkan::DeviceSnapshot& limits_;
  UniformPool& uniforms_;
  ShaderLaunch& launch_;
  std::vector<uint32_t> numbers_;     ///< bindings of the step's `bind`
  std::optional<Refused> too_large_;  ///< about the first buffer that is too large; returned last
};

std::optional<Refused> KernelConnection::connect() {
  choose_numbers();
  if (auto refusal = check_registers()) return refusal;
  launch_.slots.resize(interface_.resources.size());
  launch_.bindings.resize(interface_.resources.size());
  for (size_t i = 0; i < interface_.resources.size(); ++i) {
    if (auto refusal = fill_slot(i)) return refusal;
  }
  if (auto refusal = lay_push(interface_.push, step_, launch_)) return refusal;
  return too_large_;
}

/// The buffers of `bind` go to 0, 1, 2, ..., past the numbers of set 0 that uniform blocks have.
void KernelConnection::choose_numbers() {
  std::set<uint32_t> taken;
  for (const ResolvedUniform& uniform : step_.uniforms) {
    const BlockPlace place(uniform.place.text);
    for (const Resource& resource : interface_.resources) {
      const bool here = place.is(resource) && resource.set == 0 && !place.is_register;
      if (here) taken.insert(resource.binding);
    }
  }
  uint32_t next = 0;
  for (size_t i = 0; i < step_.bind.size(); ++i) {
    while (taken.contains(next)) ++next;
    numbers_.push_back(next++);
  }
}

/// In HLSL t0 and u0 are two registers; in Vulkan they would be one binding.
std::optional<Refused> KernelConnection::check_registers() const {
  if (kernel_.language != Kernel::Language::hlsl) return std::nullopt;
  for (const Resource& a : interface_.resources) {
    for (const Resource& b : interface_.resources) {
      const bool both = a.kind != Kind::uniform_buffer && b.kind != Kind::uniform_buffer &&
                        !a.writable && b.writable && a.set == b.set && a.binding == b.binding;
      if (!both) continue;
      return invalid("has " + register_of(a) + name_suffix(a) + " and " + register_of(b) +
                     name_suffix(b) + ", which are both binding " + std::to_string(a.binding) +
                     ": number t and u together, in the order of 'bind' (register(t0), "
                     "register(u1))");
    }
  }
  return std::nullopt;
}

Refused KernelConnection::unbound(const Resource& resource) const {
  if (resource.kind == Kind::uniform_buffer) {
    const bool hlsl = kernel_.language == Kernel::Language::hlsl;
    return invalid("declares a uniform block" + name_suffix(resource) + " at binding " +
                   place_of(resource) + ", and this step gives it no values: uniforms: {" +
                   (hlsl ? register_of(resource) : place_of(resource)) + ": {" +
                   (resource.leaves.empty() ? "" : shown(top_name(resource.leaves.front()), 60)) +
                   ": ...}}");
  }
  if (resource.set != 0) {
    return invalid("declares a buffer outside of descriptor set 0, " + place_of(resource) +
                   name_suffix(resource) + ": the buffers of `bind` are those of set 0");
  }
  return invalid("declares binding " + std::to_string(resource.binding) + name_suffix(resource) +
                 ", but this step binds " + std::to_string(step_.bind.size()) + " buffers (0 to " +
                 std::to_string(step_.bind.size()) + " exclusive)");
}

std::optional<Refused> KernelConnection::fill_slot(size_t index) {
  const Resource& resource = interface_.resources[index];
  if (resource.kind == Kind::uniform_buffer) return fill_uniform(index);
  const auto found = std::find(numbers_.begin(), numbers_.end(), resource.binding);
  if (found == numbers_.end() || resource.set != 0) return unbound(resource);
  return fill_buffer(index, static_cast<size_t>(found - numbers_.begin()));
}

std::optional<Refused> KernelConnection::fill_uniform(size_t index) {
  const Resource& resource = interface_.resources[index];
  const ResolvedUniform* given = nullptr;
  for (const ResolvedUniform& each : step_.uniforms) {
    if (!BlockPlace(each.place.text).is(resource)) continue;
    if (given)
      return invalid("is given values for the uniform block" + name_suffix(resource) +
                     " twice, as " + shown(given->place.text, 60) + " and as " +
                     shown(each.place.text, 60));
    given = &each;
  }
  if (!given) return unbound(resource);
  if (resource.bytes > limits_.max_uniform_buffer_range) {
    return unsupported("has a uniform block" + name_suffix(resource) + " of " +
                       std::to_string(resource.bytes) + " bytes, over the device's " +
                       std::to_string(limits_.max_uniform_buffer_range) + ": use a buffer");
  }
  std::vector<std::byte> block;
  if (auto refusal = write_uniform(resource, *given, block)) return refusal;
  const auto bytes = block.size();
  const auto offset = uniforms_.add(std::move(block));
  if (!offset) {
    return unsupported("has uniform blocks that are larger together than the " +
                       std::to_string(UniformPool::kMostBytes) +
                       " bytes kbench keeps for them: use a buffer");
  }
  launch_.bindings[index] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_FORMAT_UNDEFINED};
  launch_.slots[index] = {-1, *offset, bytes};
  return std::nullopt;
}

std::optional<Refused> KernelConnection::fill_buffer(size_t index, size_t bind) {
  const Resource& resource = interface_.resources[index];
  const auto number = static_cast<size_t>(step_.bind[bind]);
  const BufferSlot& buffer = candidate_.buffers[number];
  const auto whole = static_cast<uint64_t>(buffer.type.bytes());
  uint64_t bytes = whole;
  if (resource.kind == Kind::storage_buffer && resource.element_bytes % kWord == 0) {
    bytes = std::min(whole_words(bytes), limits_.max_storage_buffer_range);
  }
  launch_.slots[index] = {static_cast<int>(bind), 0, bytes};
  if (resource.kind != Kind::storage_buffer) {
    return fill_texels(resource, buffer, launch_.bindings[index]);
  }
  using Slot = BufferSlot::Kind;
  const bool given = buffer.kind == Slot::input || buffer.kind == Slot::parameter ||
                     buffer.kind == Slot::constant || buffer.kind == Slot::data;
  if (given && !resource.readable) {
    return invalid("declares the buffer at binding " + std::to_string(resource.binding) +
                   name_suffix(resource) + " as writeonly, and is given " + buffer.name +
                   " there, which can only be read");
  }
  if (whole > limits_.max_storage_buffer_range) {
    note_too_large(buffer.name + " has " + std::to_string(whole) + " bytes, over the device's " +
                   std::to_string(limits_.max_storage_buffer_range) +
                   " for one binding: push {address: " + buffer.name + "} instead");
  }
  return std::nullopt;
}

void KernelConnection::note_too_large(std::string message) {
  if (!too_large_)
    too_large_ = Refused{Verdict::unsupported, std::move(message), {}, /*size=*/true};
}

std::optional<Refused> KernelConnection::fill_texels(const Resource& resource,
                                                     const BufferSlot& buffer,
                                                     vulkan::Binding& binding) {
  const bool storage = resource.kind == Kind::storage_texels;
  binding.type =
      storage ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
  const auto element = static_cast<uint32_t>(size_of(buffer.type.dtype));
  binding.format = vulkan::texel_format(resource, element);
  const std::string typed = "has a typed buffer" + name_suffix(resource);
  if (binding.format == VK_FORMAT_UNDEFINED) {
    return invalid(typed + (resource.image_format != 0
                                ? " of a format that kbench does not bind"
                                : " of " + vulkan::name_of(resource.texel) + ", which " +
                                      buffer.name + ", of type " +
                                      std::string(name_of(buffer.type.dtype)) + ", cannot be"));
  }
  const std::string format = vulkan::texel_name(binding.format);
  const auto& formats = storage ? limits_.storage_texel_formats : limits_.texel_formats;
  if (std::find(formats.begin(), formats.end(), binding.format) == formats.end()) {
    return unsupported(typed + " of format " + format + ", which the device does not take");
  }
  const auto bytes = static_cast<uint64_t>(buffer.type.bytes());
  const uint32_t texel = vulkan::texel_bytes(binding.format);
  if (bytes % texel != 0) {
    return invalid(typed + " of format " + format + ", whose texels have " + std::to_string(texel) +
                   " bytes; " + buffer.name + " has " + std::to_string(bytes) +
                   ", which is no multiple");
  }
  if (bytes / texel > limits_.max_texel_buffer_elements) {
    note_too_large(typed + "; " + buffer.name + " has " + std::to_string(bytes / texel) +
                   " texels, over the device's limit of " +
                   std::to_string(limits_.max_texel_buffer_elements) +
                   " (maxTexelBufferElements): declare a storage buffer");
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> UniformPool::add(std::vector<std::byte> block) {
  if (const auto known = offsets_.find(block); known != offsets_.end()) return known->second;
  const uint64_t offset = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
  if (offset + block.size() > kMostBytes) return std::nullopt;
  bytes_.resize(offset);
  bytes_.insert(bytes_.end(), block.begin(), block.end());
  offsets_.emplace(std::move(block), offset);
  return offset;
}

std::vector<uint64_t> ShaderLaunch::lengths() const {
  std::vector<uint64_t> bytes;
  for (const Slot& slot : slots) bytes.push_back(slot.bytes);
  return bytes;
}

std::optional<Refused> connect(const vulkan::ShaderInterface& interface,
                               const ResolvedCandidate& candidate, const ResolvedStep& step,
                               const vulkan::DeviceSnapshot& limits, UniformPool& uniforms,
                               ShaderLaunch& launch) {
  return KernelConnection(interface, candidate, step, limits, uniforms, launch).connect();
}

vulkan::Region bound_region(const vulkan::Region& tensor, const vulkan::Resource& resource,
                            const ShaderLaunch::Slot& slot, const vulkan::Binding& binding,
                            const vulkan::DeviceSnapshot& limits, bool exact) {
  const bool typed = resource.kind != Kind::storage_buffer;
  uint64_t bytes = slot.bytes;
  if (!exact) bytes = whole_words(bytes) + trial::kRedzoneBytes;
  const uint64_t texel = vulkan::texel_bytes(binding.format);
  const uint64_t most =
      typed ? limits.max_texel_buffer_elements * texel : limits.max_storage_buffer_range;
  bytes = std::min(bytes, most);
  if (typed) bytes -= bytes % texel;
  return {tensor.buffer, tensor.offset, bytes};
}

}  // namespace kbench::runner
