// A SPIR-V module read once: instructions, definitions, decorations, types and constants by id.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kbench::vulkan {

/// Names of the extensions with cooperative matrices.
inline constexpr char kKhrMatrixExtension[] = "SPV_KHR_cooperative_matrix";
inline constexpr char kNvMatrixExtension[] = "SPV_NV_cooperative_matrix";
/// Instructions of KHR's, newer than the headers kbench may be built with.
inline constexpr uint32_t kOpTypeCooperativeMatrixKhr = 4456;
inline constexpr uint32_t kOpCooperativeMatrixLoadKhr = 4457;
inline constexpr uint32_t kOpCooperativeMatrixStoreKhr = 4458;
inline constexpr uint32_t kOpCooperativeMatrixMulAddKhr = 4459;
inline constexpr uint32_t kOpCooperativeMatrixLengthKhr = 4460;

inline constexpr size_t kSpirvHeaderWords = 5;

/// Stands for the id itself where the number of a member is asked for.
inline constexpr uint32_t kWhole = ~uint32_t{0};

/// Throws Error(kCompile).
[[noreturn]] void refuse(const std::string& why);
/// Throws Error(kCompile) saying that the words are no module, and why.
[[noreturn]] void malformed(const std::string& why);

/// One instruction: its opcode and the words after the first.
class Instruction {
 public:
  Instruction(uint32_t op, std::span<const uint32_t> words) : op_(op), words_(words) {}

  uint32_t op() const { return op_; }
  size_t size() const { return words_.size(); }
  std::span<const uint32_t> words() const { return words_; }
  /// Throws Error(kCompile) when the instruction has no such word.
  uint32_t operator[](size_t i) const;
  /// The words from i on, none when there are fewer.
  std::span<const uint32_t> from(size_t i) const;
  /// The string that begins at word i.
  std::string text(size_t i) const;
  /// The id it defines and the type of that; 0 without one.
  uint32_t result() const;
  uint32_t result_type() const;

 private:
  uint32_t op_;
  std::span<const uint32_t> words_;
};

/// The constructor checks what readers rely on: instructions end where the module does, every id is
/// below the bound and defined once, types are made of types before them and are nested no deeper
/// than SPIR-V allows, no decoration is given twice with two values. Decoration groups, which no
/// compiler writes any more, are refused. Throws Error(kCompile).
class SpirvModule {
 public:
  /// The words must outlive it.
  explicit SpirvModule(std::span<const uint32_t> words);

  uint32_t bound() const { return header_[3]; }
  const std::vector<uint32_t>& header() const { return header_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// The instruction that defines the id, or null.
  const Instruction* definition(uint32_t id) const;
  /// As definition(), when that is a type of the given kind.
  const Instruction* type(uint32_t id, uint32_t op) const;
  /// An id that OpTypeForwardPointer announces.
  bool forward_pointer(uint32_t id) const { return forward_pointers_.contains(id); }

  /// The decoration's literal (0 for one without); nothing when it is not there.
  std::optional<uint32_t> decoration(uint32_t id, uint32_t decoration) const;
  std::optional<uint32_t> member_decoration(uint32_t id, uint32_t member,
                                            uint32_t decoration) const;
  /// The value of a plain constant: an integer's bits, or 0 and 1 of a bool.
  std::optional<uint64_t> constant(uint32_t id) const;
  /// The storage class of a value that is a pointer.
  std::optional<uint32_t> storage_class(uint32_t pointer) const;

 private:
  void add(const Instruction& instruction);
  void define(const Instruction& instruction);
  void add_type(const Instruction& type);
  void decorate(uint32_t target, uint32_t member, const Instruction& instruction, size_t at);
  uint32_t nesting(uint32_t part) const;

  std::vector<uint32_t> header_;
  std::vector<Instruction> instructions_;
  std::unordered_map<uint32_t, size_t> definitions_;   ///< id -> index
  std::unordered_map<uint32_t, uint32_t> type_depth_;  ///< type -> how deeply it is nested
  std::unordered_set<uint32_t> forward_pointers_;
  /// ((id, member or kWhole), decoration) -> literal
  std::map<std::pair<std::pair<uint32_t, uint32_t>, uint32_t>, uint32_t> decorations_;
};

/// The instruction's words with those from `skip` to `rest` replaced by `put`. Throws
/// Error(kCompile) when it has fewer than `rest`.
std::vector<uint32_t> spliced(const Instruction& from, size_t skip, size_t rest,
                              std::initializer_list<uint32_t> put);

/// Appends an instruction to a module's words.
void append_instruction(std::vector<uint32_t>& spirv, uint32_t op, std::span<const uint32_t> words);
void append_extension(std::vector<uint32_t>& spirv, const std::string& name);
/// The module's words, each instruction copied unless replace(instruction, changed) has appended
/// something in its place to `changed` and returns true.
template <class Replace>
std::vector<uint32_t> rewritten(const SpirvModule& module, const Replace& replace) {
  std::vector<uint32_t> changed = module.header();
  for (const Instruction& each : module.instructions()) {
    if (!replace(each, changed)) append_instruction(changed, each.op(), each.words());
  }
  return changed;
}

/// How many bytes types take, 2^64 - 1 at most, which a type without a size (a runtime array, an
/// image) has. Throws Error(kCompile) at an array whose length is not a plain constant.
class TypeSizes {
 public:
  explicit TypeSizes(const SpirvModule& module) : module_(module) {}
  /// Without padding: the least that a variable takes.
  uint64_t packed(uint32_t type);

 private:
  uint64_t compute(const Instruction& type);

  const SpirvModule& module_;
  std::map<uint32_t, uint64_t> known_;
};

uint64_t saturating_add(uint64_t a, uint64_t b);

}  // namespace kbench::vulkan
