// What a shader's module has to be given: buffers, typed buffers, uniform blocks, push constants
// and specialization constants, with the types and places of their members.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/vulkan/spirv.h"

namespace kbench::vulkan {

/// The type of one number.
struct Scalar {
  enum class Kind { boolean, sint, uint, floating, address };
  Kind kind = Kind::uint;
  uint32_t bits = 32;
  bool operator==(const Scalar&) const = default;
};
/// As GLSL names it: "int", "uint64_t", "float16_t"; "buffer address".
std::string name_of(const Scalar& scalar);

/// One number of a block. Matrices are taken column by column as SPIR-V has them, which is the
/// order of a constructor's arguments in GLSL and in HLSL.
struct Leaf {
  std::string name;  ///< "size.y", "weights[3]", "m[1].x"; "member 2.y" where names are stripped
  Scalar type = {};
  uint64_t offset = 0;  ///< bytes
};

/// A buffer, typed buffer or uniform block that a shader declares.
struct Resource {
  enum class Kind { storage_buffer, uniform_buffer, texels, storage_texels };
  Kind kind = Kind::storage_buffer;
  uint32_t variable = 0;  ///< its id in the module
  uint32_t set = 0, binding = 0;
  bool writable = false;             ///< not declared as read only
  bool readable = true;              ///< not declared as write only
  bool asks_length = false;          ///< the shader asks how long it is
  uint32_t element_bytes = 0;        ///< of a storage buffer: stride of its runtime array, or 0
  uint32_t image_format = 0;         ///< of texels: SpvImageFormat; 0 where the shader names none
  Scalar texel = {};                 ///< of texels: what a component is read as
  std::string block, name;           ///< names of its type and of itself; empty where stripped
  std::vector<Leaf> leaves = {};     ///< of a uniform block
  uint64_t bytes = 0;                ///< of a uniform block
  std::vector<uint32_t> loads = {};  ///< ids of values loaded from it
};

struct SpecializationConstant {
  uint32_t id = 0;
  Scalar type = {};
  std::string name;  ///< empty where names are stripped
};

struct ShaderInterface {
  std::vector<Resource> resources = {};  ///< in the order of declaration
  std::vector<Leaf> push = {};
  std::vector<SpecializationConstant> constants = {};  ///< in the order of their numbers
  /// A length is asked of what cannot be followed to a variable.
  bool stray_length = false;
};

/// More numbers in one block than this are not told apart; a block that has them is refused.
inline constexpr size_t kMostLeaves = 16384;

/// Throws Error(kCompile) where the module is not sound or a block has more than kMostLeaves.
/// Images, samplers and arrays of buffers are not listed (SpirvFacts tells of them).
ShaderInterface reflect_spirv(const Spirv& spirv);

/// Gives `interface` the names that `named` has: what an optimizer leaves has none.
void adopt_names(ShaderInterface& interface, const ShaderInterface& named);

/// The module with resource i of its interface at binding i of set 0.
Spirv rebind_spirv(const Spirv& spirv, const ShaderInterface& interface);

/// The module with every question after the length of resource i answered as if it had bytes[i]
/// bytes, `texel_bytes` those of a texel; the buffers that are bound may have others.
Spirv with_lengths(const Spirv& spirv, const ShaderInterface& interface,
                   const std::vector<uint64_t>& bytes, const std::vector<uint32_t>& texel_bytes);

/// A number for a specialization constant: as an integer where it has that value, and as a real.
struct GivenConstant {
  uint32_t id = 0;
  std::string text;  ///< as messages quote it
  double real = 0;
  bool has_integer = false;
  int64_t integer = 0;
};
/// A constant that is given and that the module does not have, or does not use.
struct UnusedConstant {
  uint32_t id = 0;
  std::string why;  ///< with those that there are
};
/// The bits of each by the type of the module's constant; those that it lacks are left out and told
/// in `unused`. Throws Error(kInvalidArgument) where a number does not fit its type. `names` may
/// name them; else the module's own names are taken.
Specialization typed_specialization(const Spirv& spirv, const std::vector<GivenConstant>& given,
                                    const ShaderInterface& names,
                                    std::vector<UnusedConstant>& unused);

/// The bits of a number as the type has them; throws Error(kInvalidArgument), `what` named, where
/// it does not fit. Types of 8, 16 bits and addresses take none.
uint64_t bits_as(const Scalar& type, const GivenConstant& number, const std::string& what);

}  // namespace kbench::vulkan
