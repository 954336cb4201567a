#include "harness/measure/runner/shader_interface.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "harness/measure/trial/slab_layout.h"
#include "harness/measure/vulkan/texels.h"
#include "kbench/error.h"
#include "kbench/text.h"
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

/// Direct3D's classes of registers: b for constants, t for reading, u for writing.
char register_class(const Resource& resource) {
  if (resource.kind == Kind::uniform_buffer) return 'b';
  return resource.writable ? 'u' : 't';
}

/// A place in `bindings`: "3", "1.3", "t0", or a name in the shader.
struct BindingPlace {
  uint32_t set = 0;
  std::optional<uint32_t> binding;
  char register_class = 0;
  std::string name;

  explicit BindingPlace(const std::string& text) {
    const size_t dot = text.find('.');
    if (const auto plain = number_in(text)) {
      binding = plain;
    } else if (dot != std::string::npos && number_in(text.substr(0, dot)) &&
               number_in(text.substr(dot + 1))) {
      set = *number_in(text.substr(0, dot));
      binding = number_in(text.substr(dot + 1));
    } else if (std::string_view("btu").find(text[0]) != std::string_view::npos &&
               number_in(text.substr(1))) {
      register_class = text[0];
      binding = number_in(text.substr(1));
    } else {
      name = text;
    }
  }
  bool is(const Resource& resource) const {
    if (!binding) return !name.empty() && (name == resource.block || name == resource.name);
    if (register_class != 0 && register_class != runner::register_class(resource)) return false;
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

std::string place_of(const Resource& resource, bool registers) {
  if (registers) return register_class(resource) + std::to_string(resource.binding);
  const std::string binding = std::to_string(resource.binding);
  return resource.set == 0 ? binding : std::to_string(resource.set) + "." + binding;
}

/// Implements connect() for one step.
class Connection {
 public:
  Connection(const vulkan::ShaderInterface& interface, const ResolvedCandidate& candidate,
             const ResolvedStep& step, const vulkan::DeviceSnapshot& limits, UniformPool& uniforms,
             ShaderLaunch& launch)
      : interface_(interface),
        candidate_(candidate),
        step_(step),
        kernel_(*candidate.kernels[static_cast<size_t>(step.kernel)].kernel),
        limits_(limits),
        uniforms_(uniforms),
        launch_(launch) {}

  std::optional<Refusal> connect();

 private:
  std::optional<Refusal> choose_places();
  std::optional<Refusal> check_registers() const;
  std::optional<Refusal> fill_slot(size_t index);
  std::optional<Refusal> fill_buffer(size_t index, size_t bind);
  std::optional<Refusal> fill_texels(const Resource& resource, const BufferSlot& buffer,
                                     vulkan::Binding& binding);
  void note_too_large(std::string message);
  std::optional<Refusal> fill_uniform(size_t index);
  Refusal unbound(const Resource& resource) const;
  using PlaceOf = std::vector<BindingPlace>::const_iterator;
  Refusal bound_twice(const Resource& resource, PlaceOf first, PlaceOf second) const;
  std::string suggested_places() const;

  const vulkan::ShaderInterface& interface_;
  const ResolvedCandidate& candidate_;
  const ResolvedStep& step_;
  const Kernel& kernel_;
  const vulkan::DeviceSnapshot& limits_;
  UniformPool& uniforms_;
  ShaderLaunch& launch_;
  std::vector<BindingPlace> places_;  ///< of the step's `bind`
  std::optional<Refusal> too_large_;  ///< about the first buffer that is too large; returned last
};

std::optional<Refusal> Connection::connect() {
  if (auto refusal = choose_places()) return refusal;
  launch_.slots.resize(interface_.resources.size());
  launch_.bindings.resize(interface_.resources.size());
  for (size_t i = 0; i < interface_.resources.size(); ++i) {
    if (auto refusal = fill_slot(i)) return refusal;
  }
  if (auto refusal = lay_push(interface_.push, step_, launch_)) return refusal;
  return too_large_;
}

/// Without `bindings` the buffers of `bind` go to 0, 1, 2, ..., past the numbers of set 0 that
/// uniform blocks have.
std::optional<Refusal> Connection::choose_places() {
  if (!kernel_.bindings.empty()) {
    if (kernel_.bindings.size() != step_.bind.size()) {
      return invalid("says in its `bindings` where " + std::to_string(kernel_.bindings.size()) +
                     " buffers go, but this step binds " + std::to_string(step_.bind.size()));
    }
    for (const Sourced& place : kernel_.bindings) places_.emplace_back(place.text);
    return std::nullopt;
  }
  std::set<uint32_t> taken;
  for (const ResolvedUniform& uniform : step_.uniforms) {
    const BindingPlace place(uniform.place.text);
    for (const Resource& resource : interface_.resources) {
      const bool here = resource.kind == Kind::uniform_buffer && place.is(resource);
      if (here && resource.set == 0 && place.register_class == 0) taken.insert(resource.binding);
    }
  }
  uint32_t next = 0;
  for (size_t i = 0; i < step_.bind.size(); ++i) {
    while (taken.contains(next)) ++next;
    places_.emplace_back(std::to_string(next++));
  }
  return check_registers();
}

/// In HLSL t0 and u0 are two registers; in Vulkan they would be one binding.
std::optional<Refusal> Connection::check_registers() const {
  if (kernel_.language != Kernel::Language::hlsl) return std::nullopt;
  for (const Resource& a : interface_.resources) {
    for (const Resource& b : interface_.resources) {
      const bool both = register_class(a) == 't' && register_class(b) == 'u' && a.set == b.set &&
                        a.binding == b.binding;
      if (!both) continue;
      return invalid("has " + place_of(a, true) + name_suffix(a) + " and " + place_of(b, true) +
                     name_suffix(b) + ", which are both binding " + std::to_string(a.binding) +
                     ": say in the kernel where the buffers of `bind` go, as in bindings: " +
                     suggested_places());
    }
  }
  return std::nullopt;
}

std::string Connection::suggested_places() const {
  const bool registers = kernel_.language == Kernel::Language::hlsl;
  std::vector<const Resource*> buffers;
  for (const Resource& each : interface_.resources) {
    if (each.kind != Kind::uniform_buffer) buffers.push_back(&each);
  }
  std::stable_sort(buffers.begin(), buffers.end(), [&](const Resource* a, const Resource* b) {
    const auto order = [&](const Resource& each) {
      return std::tuple(each.set, registers ? register_class(each) : ' ', each.binding);
    };
    return order(*a) < order(*b);
  });
  std::string text;
  std::set<std::string> listed;
  for (const Resource* each : buffers) {
    const std::string place = place_of(*each, registers);
    if (listed.insert(place).second) text += (text.empty() ? "" : ", ") + place;
  }
  return "[" + text + "]";
}

Refusal Connection::unbound(const Resource& resource) const {
  if (resource.kind == Kind::uniform_buffer) {
    const bool registers = kernel_.language == Kernel::Language::hlsl;
    return invalid("declares a uniform block" + name_suffix(resource) + " at binding " +
                   place_of(resource, false) + ", and this step gives it no values: uniforms: {" +
                   place_of(resource, registers) + ": {" +
                   (resource.leaves.empty() ? "" : shown(top_name(resource.leaves.front()), 60)) +
                   ": ...}}");
  }
  if (!kernel_.bindings.empty()) {
    return invalid("declares " + std::string(resource.set == 0 ? "binding " : "set and binding ") +
                   place_of(resource, false) + name_suffix(resource) +
                   ", which its `bindings` do not name");
  }
  if (resource.set != 0) {
    return invalid("declares a buffer outside descriptor set 0, " + place_of(resource, false) +
                   name_suffix(resource) +
                   ": say in the kernel where the buffers of `bind` go, as in bindings: " +
                   suggested_places());
  }
  return invalid("declares binding " + std::to_string(resource.binding) + name_suffix(resource) +
                 ", but this step binds " + std::to_string(step_.bind.size()) + " buffers (0 to " +
                 std::to_string(step_.bind.size()) + " exclusive)");
}

/// Two buffers of `bind` have one place.
Refusal Connection::bound_twice(const Resource& resource, PlaceOf first, PlaceOf second) const {
  const auto said = [&](PlaceOf place) {
    const auto bind = static_cast<size_t>(place - places_.begin());
    const auto buffer = static_cast<size_t>(step_.bind[bind]);
    return shown(kernel_.bindings[bind].text, 60) + " (" + candidate_.buffers[buffer].name + ")";
  };
  return invalid("is given two buffers for binding " + place_of(resource, false) +
                 name_suffix(resource) + " by its `bindings`, " + said(first) + " and " +
                 said(second) + ": name another place for one of them");
}

std::optional<Refusal> Connection::fill_slot(size_t index) {
  const Resource& resource = interface_.resources[index];
  if (resource.kind == Kind::uniform_buffer) return fill_uniform(index);
  const auto is_here = [&](const BindingPlace& place) { return place.is(resource); };
  const auto found = std::find_if(places_.begin(), places_.end(), is_here);
  if (found == places_.end()) return unbound(resource);
  const auto again = std::find_if(found + 1, places_.end(), is_here);
  if (again != places_.end()) return bound_twice(resource, found, again);
  return fill_buffer(index, static_cast<size_t>(found - places_.begin()));
}

std::optional<Refusal> Connection::fill_uniform(size_t index) {
  const Resource& resource = interface_.resources[index];
  const ResolvedUniform* given = nullptr;
  for (const ResolvedUniform& each : step_.uniforms) {
    if (!BindingPlace(each.place.text).is(resource)) continue;
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
  UniformPool::Addresses addresses;
  if (auto refusal = write_uniform(resource, *given, block, addresses)) return refusal;
  const auto bytes = block.size();
  const auto offset = uniforms_.add(std::move(block), std::move(addresses));
  if (!offset) {
    return unsupported("has uniform blocks that are larger together than the " +
                       std::to_string(UniformPool::kMostBytes) +
                       " bytes kbench keeps for them: use a buffer");
  }
  launch_.bindings[index] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, VK_FORMAT_UNDEFINED};
  launch_.slots[index] = {-1, *offset, bytes};
  return std::nullopt;
}

std::optional<Refusal> Connection::fill_buffer(size_t index, size_t bind) {
  const Resource& resource = interface_.resources[index];
  const auto number = static_cast<size_t>(step_.bind[bind]);
  const BufferSlot& buffer = candidate_.buffers[number];
  const ByteRange& part = step_.ranges[bind];
  const auto whole = static_cast<uint64_t>(buffer.type.bytes());
  const bool to_the_end = part.offset + part.bytes == whole;
  uint64_t bytes = part.bytes;
  if (to_the_end && resource.kind == Kind::storage_buffer && resource.element_bytes % kWord == 0) {
    bytes = std::min(whole_words(bytes), limits_.max_storage_buffer_range);
  }
  launch_.slots[index] = {static_cast<int>(bind), 0, bytes, part.offset, to_the_end};
  if (resource.kind != Kind::storage_buffer) {
    if (part.bytes == whole) return fill_texels(resource, buffer, launch_.bindings[index]);
    return invalid("has a typed buffer" + name_suffix(resource) +
                   ", and this step binds a part of " + buffer.name +
                   ": typed buffers take whole ones");
  }
  if (part.bytes > limits_.max_storage_buffer_range) {
    note_too_large(buffer.name + " has " + std::to_string(part.bytes) +
                   " bytes, over the device's " + std::to_string(limits_.max_storage_buffer_range) +
                   " for one binding: push {address: " + buffer.name + "} instead");
  }
  const uint64_t alignment = std::max<uint64_t>(limits_.storage_offset_alignment, 1);
  if (part.offset % alignment == 0) return std::nullopt;
  return unsupported(buffer.name + " is bound from byte " + std::to_string(part.offset) +
                     " on, and the device binds at multiples of " + std::to_string(alignment) +
                     " bytes only (minStorageBufferOffsetAlignment): push {address: " +
                     buffer.name + ", offset: ...} instead");
}

void Connection::note_too_large(std::string message) {
  if (!too_large_) too_large_ = Refusal{Verdict::unsupported, std::move(message), /*size=*/true};
}

std::optional<Refusal> Connection::fill_texels(const Resource& resource, const BufferSlot& buffer,
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

std::optional<uint64_t> UniformPool::add(std::vector<std::byte> block, Addresses addresses) {
  for (const Block& known : blocks_) {
    const auto at = bytes_.begin() + static_cast<std::ptrdiff_t>(known.offset);
    if (known.bytes == block.size() && known.addresses == addresses &&
        std::equal(block.begin(), block.end(), at)) {
      return known.offset;
    }
  }
  const uint64_t offset = (bytes_.size() + kAlignment - 1) / kAlignment * kAlignment;
  if (offset + block.size() > kMostBytes) return std::nullopt;
  bytes_.resize(offset + block.size());
  std::copy(block.begin(), block.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  for (const auto& [at, buffer] : addresses) addresses_.emplace_back(offset + at, buffer);
  blocks_.push_back({offset, block.size(), std::move(addresses)});
  return offset;
}

std::vector<uint64_t> ShaderLaunch::lengths() const {
  std::vector<uint64_t> bytes;
  for (const Slot& slot : slots) bytes.push_back(slot.bytes);
  return bytes;
}

std::optional<Refusal> connect(const vulkan::ShaderInterface& interface,
                               const ResolvedCandidate& candidate, const ResolvedStep& step,
                               const vulkan::DeviceSnapshot& limits, UniformPool& uniforms,
                               ShaderLaunch& launch) {
  return Connection(interface, candidate, step, limits, uniforms, launch).connect();
}

vulkan::Region bound_region(const vulkan::Region& tensor, const vulkan::Resource& resource,
                            const ShaderLaunch::Slot& slot, const vulkan::Binding& binding,
                            const vulkan::DeviceSnapshot& limits, bool exact) {
  const bool typed = resource.kind != Kind::storage_buffer;
  uint64_t bytes = slot.bytes;
  if (slot.to_the_end && !exact) bytes = whole_words(bytes) + trial::kRedzoneBytes;
  const uint64_t texel = vulkan::texel_bytes(binding.format);
  const uint64_t most =
      typed ? limits.max_texel_buffer_elements * texel : limits.max_storage_buffer_range;
  bytes = std::min(bytes, most);
  if (typed) bytes -= bytes % texel;
  return {tensor.buffer, tensor.offset + slot.offset, bytes};
}

}  // namespace kbench::runner
