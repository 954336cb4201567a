#include "harness/measure/cuda/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace kbench::cuda {
namespace {

template <class T>
std::optional<T> read(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The file's sections and symbols, every offset checked.
class Elf {
 public:
  explicit Elf(std::span<const std::byte> bytes) : bytes_(bytes) {
    const auto header = read<Elf64_Ehdr>(bytes, 0);
    good_ = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
            header->e_ident[EI_CLASS] == ELFCLASS64;
    if (good_) header_ = *header;
  }

  std::optional<Elf64_Shdr> section(uint64_t index) const {
    if (!good_ || index >= header_.e_shnum) return std::nullopt;
    return read<Elf64_Shdr>(bytes_, header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::optional<Elf64_Shdr> section(std::string_view name) const {
    const auto names = section(uint64_t{header_.e_shstrndx});
    for (uint64_t i = 0; names && i < header_.e_shnum; ++i) {
      const auto found = section(i);
      if (found && text(names->sh_offset + found->sh_name) == name) return found;
    }
    return std::nullopt;
  }
  /// The symbol's name.
  std::string_view symbol(uint64_t index) const {
    const auto table = section(".symtab");
    const auto names = table ? section(uint64_t{table->sh_link}) : std::nullopt;
    if (!names || index >= table->sh_size / sizeof(Elf64_Sym)) return {};
    const auto found = read<Elf64_Sym>(bytes_, table->sh_offset + index * sizeof(Elf64_Sym));
    return found ? text(names->sh_offset + found->st_name) : std::string_view();
  }
  std::span<const std::byte> bytes_of(const Elf64_Shdr& section) const {
    if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) {
      return {};
    }
    return bytes_.subspan(section.sh_offset, section.sh_size);
  }

 private:
  std::string_view text(uint64_t at) const {
    if (at >= bytes_.size()) return {};
    const char* begin = reinterpret_cast<const char*>(bytes_.data() + at);
    return {begin, strnlen(begin, bytes_.size() - at)};
  }

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  bool good_ = false;
};

/// ".nv.info" is a list of (format, attribute, size or value, data); the data of these attributes
/// is a kernel's symbol and a number.
std::optional<uint32_t> number_of(std::span<const std::byte> cubin, std::string_view entry,
                                  uint8_t attribute) {
  constexpr uint8_t kSized = 4;
  const Elf elf(cubin);
  const auto section = elf.section(".nv.info");
  if (!section) return std::nullopt;
  const std::span<const std::byte> info = elf.bytes_of(*section);
  for (uint64_t at = 0; at + 4 <= info.size();) {
    const auto format = read<uint8_t>(info, at), found = read<uint8_t>(info, at + 1);
    const uint64_t size = *format == kSized ? *read<uint16_t>(info, at + 2) : 0;
    const auto symbol = read<uint32_t>(info, at + 4), number = read<uint32_t>(info, at + 8);
    if (*format == kSized && *found == attribute && size >= 8 && symbol && number &&
        elf.symbol(*symbol) == entry) {
      return number;
    }
    at += 4 + size;
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> cubin_registers(std::span<const std::byte> cubin, std::string_view entry) {
  constexpr uint8_t kRegisters = 0x2f;  // EIATTR_REGCOUNT
  return number_of(cubin, entry, kRegisters);
}

std::optional<uint32_t> cubin_stack_bytes(std::span<const std::byte> cubin,
                                          std::string_view entry) {
  constexpr uint8_t kFrame = 0x11, kStack = 0x12;  // EIATTR_FRAME_SIZE, EIATTR_MIN_STACK_SIZE
  const auto frame = number_of(cubin, entry, kFrame), stack = number_of(cubin, entry, kStack);
  if (!frame && !stack) return std::nullopt;
  return std::max(frame.value_or(0), stack.value_or(0));
}

}  // namespace kbench::cuda
