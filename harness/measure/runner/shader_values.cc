// Writes a step's values into a shader's uniform blocks and push constants.
#include <algorithm>
#include <cstring>
#include <string>

#include "harness/measure/runner/shader_interface.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

using vulkan::Leaf;
using ScalarKind = vulkan::Scalar::Kind;

/// Blocks are padded to the largest alignment that a member may have.
constexpr uint64_t kBlockAlignment = 64;

std::string member(const Leaf& leaf) { return "member '" + shown(leaf.name, 100) + "'"; }

/// "(uint at byte 8)".
std::string typed(const Leaf& leaf) {
  return "(" + vulkan::name_of(leaf.type) + " at byte " + std::to_string(leaf.offset) + ")";
}

vulkan::GivenConstant as_given(const ResolvedNumber& number) {
  return {.text = shown(number.given.text, 60),
          .real = number.real,
          .has_integer = number.integer.has_value(),
          .integer = number.integer.value_or(0)};
}

/// Whether the leaf is the member `name` or lies inside it.
bool belongs(const Leaf& leaf, const std::string& name) {
  if (!leaf.name.starts_with(name)) return false;
  return leaf.name.size() == name.size() || leaf.name[name.size()] == '.' ||
         leaf.name[name.size()] == '[';
}

std::string names_of(const std::vector<Leaf>& leaves) {
  std::string text, last;
  for (const Leaf& leaf : leaves) {
    const std::string top = leaf.name.substr(0, leaf.name.find_first_of(".["));
    if (top == last || text.size() > 300) continue;
    text += (text.empty() ? "" : ", ") + shown(top, 60);
    last = top;
  }
  return text;
}

bool is_word(const Leaf& leaf) {
  return leaf.type.bits == 32 &&
         (leaf.type.kind == ScalarKind::uint || leaf.type.kind == ScalarKind::sint);
}

/// How many leaves from `at` on the item fills; 0 if their type is another.
size_t filled(const std::vector<Leaf>& leaves, size_t at, PushItem::Kind kind) {
  const Leaf& leaf = leaves[at];
  switch (kind) {
    case PushItem::Kind::u32:
    case PushItem::Kind::i32:
      return is_word(leaf) ? 1 : 0;
    case PushItem::Kind::f32:
      return leaf.type == vulkan::Scalar{ScalarKind::floating, 32} ? 1 : 0;
    default: {
      const bool wide = leaf.type.bits == 64 && leaf.type.kind != ScalarKind::floating;
      if (wide && (leaf.type.kind != ScalarKind::address || kind == PushItem::Kind::address)) {
        return 1;
      }
      // A uvec2, which GL_EXT_buffer_reference_uvec2 uses for addresses.
      const bool pair = at + 1 < leaves.size() && is_word(leaf) && is_word(leaves[at + 1]) &&
                        leaves[at + 1].offset == leaf.offset + 4;
      return pair ? 2 : 0;
    }
  }
}

/// Assigns values to the leaves of a uniform block.
class Uniform {
 public:
  Uniform(const vulkan::Resource& resource, const ResolvedUniform& given)
      : leaves_(resource.leaves), given_(given), values_(leaves_.size(), nullptr) {
    const std::string& name = resource.block.empty() ? resource.name : resource.block;
    block_ = "the uniform block " + shown(name.empty() ? given.place.text : name, 60);
  }

  std::optional<Refused> assign() {
    for (const ResolvedUniform::Field& field : given_.fields) {
      if (auto refusal = field.name.empty() ? assign_next(field) : assign_named(field)) {
        return refusal;
      }
    }
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (values_[i]) continue;
      return invalid("has " + block_ + ", whose " + member(leaves_[i]) + " " + typed(leaves_[i]) +
                     " is given no value");
    }
    return std::nullopt;
  }

  std::optional<Refused> write(std::vector<std::byte>& block) const {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      uint64_t bits = 0;
      try {
        bits = vulkan::bits_as(leaf.type, as_given(*values_[i]), member(leaf) + " of " + block_);
      } catch (const Error& error) {
        return invalid(error.message());
      }
      const size_t bytes = leaf.type.bits / 8;
      if (block.size() < leaf.offset + bytes) return invalid("has " + block_ + " without an end");
      std::memcpy(block.data() + leaf.offset, &bits, bytes);
    }
    return std::nullopt;
  }

 private:
  std::optional<Refused> assign_next(const ResolvedUniform::Field& field) {
    for (const ResolvedNumber& value : field.values) {
      if (next_ == leaves_.size()) {
        return invalid("has " + block_ + " of " + std::to_string(leaves_.size()) +
                       " numbers, and is given more");
      }
      if (auto refusal = set(next_++, value)) return refusal;
    }
    return std::nullopt;
  }

  std::optional<Refused> set(size_t at, const ResolvedNumber& value) {
    if (values_[at]) {
      return invalid("is given " + member(leaves_[at]) + " of " + block_ + " twice");
    }
    values_[at] = &value;
    return std::nullopt;
  }

  std::optional<Refused> assign_named(const ResolvedUniform::Field& field) {
    const auto is_here = [&](const Leaf& leaf) { return belongs(leaf, field.name); };
    const auto first = std::find_if(leaves_.begin(), leaves_.end(), is_here);
    if (first == leaves_.end()) {
      return invalid("has " + block_ + " without a member '" + shown(field.name, 100) +
                     "' (it has " + names_of(leaves_) + ")");
    }
    const auto count = static_cast<size_t>(std::count_if(first, leaves_.end(), is_here));
    if (count != field.values.size()) {
      return invalid("has " + block_ + ", whose member '" + shown(field.name, 100) + "' takes " +
                     std::to_string(count) + " numbers and is given " +
                     std::to_string(field.values.size()));
    }
    const auto at = static_cast<size_t>(first - leaves_.begin());
    for (size_t i = 0; i < count; ++i) {
      if (auto refusal = set(at + i, field.values[i])) return refusal;
    }
    return std::nullopt;
  }

  const std::vector<Leaf>& leaves_;
  const ResolvedUniform& given_;
  std::string block_;
  std::vector<const ResolvedNumber*> values_;  ///< by leaf
  size_t next_ = 0;                            ///< the next leaf of a list of values
};

}  // namespace

std::vector<vulkan::GivenConstant> given_constants(const ResolvedKernel& kernel) {
  std::vector<vulkan::GivenConstant> given;
  for (const auto& [id, number] : kernel.specialization) {
    given.push_back(as_given(number));
    given.back().id = id;
  }
  return given;
}

std::optional<Refused> write_uniform(const vulkan::Resource& resource, const ResolvedUniform& given,
                                     std::vector<std::byte>& block) {
  const uint64_t bytes = std::max<uint64_t>(resource.bytes, 1);
  block.assign((bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment, std::byte{});
  Uniform uniform(resource, given);
  if (auto refusal = uniform.assign()) return refusal;
  return uniform.write(block);
}

std::optional<Refused> lay_push(const std::vector<Leaf>& members, const ResolvedStep& step,
                                ShaderLaunch& launch) {
  if (members.empty()) {
    launch.push = step.push;
    launch.addresses = step.addresses;
    return std::nullopt;
  }
  uint64_t bytes = 0;
  for (const Leaf& leaf : members) bytes = std::max(bytes, leaf.offset + leaf.type.bits / 8);
  bytes = (bytes + 3) / 4 * 4;
  const std::string block = "declares a push block of " + std::to_string(bytes) + " bytes";
  constexpr uint64_t kMost = 1 << 16;
  if (bytes > kMost) return invalid(block + ", more than any device has");
  launch.push.assign(bytes, std::byte{});
  size_t at = 0;
  for (const ResolvedArgument& item : step.arguments) {
    if (at == members.size()) {
      return invalid("is pushed " + std::to_string(step.arguments.size()) +
                     " values, and its push block ends with " + member(members.back()) + " " +
                     typed(members.back()));
    }
    const Leaf& leaf = members[at];
    const size_t count = filled(members, at, item.kind);
    if (count == 0) {
      return invalid("has a push block whose " + member(leaf) + " " + typed(leaf) +
                     " is pushed as " + std::string(name_of(item.kind)));
    }
    std::memcpy(launch.push.data() + leaf.offset, step.push.data() + item.offset, item.size);
    if (item.kind == PushItem::Kind::address) {
      launch.addresses.emplace_back(leaf.offset, item.buffer);
    }
    at += count;
  }
  if (at < members.size()) {
    return invalid(block + ", but this step pushes " + std::to_string(step.push.size()) + ": " +
                   member(members[at]) + " " + typed(members[at]) + " is given no value");
  }
  return std::nullopt;
}

}  // namespace kbench::runner
