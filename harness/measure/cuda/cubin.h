// What an assembled module says of a kernel's needs: ELF, as NVIDIA's assembler writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kbench::cuda {

/// Registers of a thread of the kernel; nothing when the file does not say.
std::optional<uint32_t> cubin_registers(std::span<const std::byte> cubin, std::string_view entry);
/// Local memory of a thread of the kernel, bytes; nothing when the file does not say.
std::optional<uint32_t> cubin_stack_bytes(std::span<const std::byte> cubin, std::string_view entry);

}  // namespace kbench::cuda
