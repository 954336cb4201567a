#include "harness/measure/cuda/assembler.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "harness/measure/cuda/messages.h"
#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/toolkit.h"
#include "kbench/error.h"

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

// Declarations of nvJitLink.h, which is not there where kbench is built.
using Link = struct NvJitLink*;
constexpr int kInputPtx = 2;

struct LinkCalls {
  int (*create)(Link*, uint32_t, const char**) = nullptr;
  int (*destroy)(Link*) = nullptr;
  int (*add)(Link, int, const void*, size_t, const char*) = nullptr;
  int (*complete)(Link) = nullptr;
  int (*cubin_size)(Link, size_t*) = nullptr;
  int (*cubin)(Link, void*) = nullptr;
  int (*log_size)(Link, size_t*) = nullptr;
  int (*log)(Link, char*) = nullptr;

  bool fill(const Library& from) {
    return from.get("nvJitLinkCreate", create) && from.get("nvJitLinkDestroy", destroy) &&
           from.get("nvJitLinkAddData", add) && from.get("nvJitLinkComplete", complete) &&
           from.get("nvJitLinkGetLinkedCubinSize", cubin_size) &&
           from.get("nvJitLinkGetLinkedCubin", cubin) &&
           from.get("nvJitLinkGetErrorLogSize", log_size) && from.get("nvJitLinkGetErrorLog", log);
  }
};

struct Assembler::State {
  Library library;
  LinkCalls calls;

  explicit State(const std::vector<std::string>& names) : library(names) {}
};

Assembler::Assembler(const Toolkit& toolkit, const ToolkitPlaces& places)
    : state_(std::make_unique<State>(toolkit.nvjitlink.empty() ? nvjitlink_names()
                                                               : std::vector{toolkit.nvjitlink})) {
  if (!state_->library.there()) {
    throw Error(
        ErrorCode::kUnsupported,
        "CUDA kernels take NVIDIA's nvJitLink (libnvJitLink.so) of version 12 or later, which "
        "is not on this machine "
        "(looked beside NVRTC in: " +
            searched(places) + "; " + state_->library.reason() + ")");
  }
  if (!state_->calls.fill(state_->library)) {
    throw Error(ErrorCode::kUnsupported,
                "'" + state_->library.name() + "' is no nvJitLink of version 12 or later");
  }
}

Assembler::~Assembler() = default;

AssembleOutcome Assembler::assemble(const std::string& ptx, const ComputeCapability& device,
                                    const std::string& file, int first_line, bool line_info) const {
  const LinkCalls& calls = state_->calls;
  const std::string architecture = "-arch=" + device.architecture();
  const char* options[] = {architecture.c_str(), "-O3", "-lineinfo"};
  Link made = nullptr;
  if (calls.create(&made, line_info ? 3 : 2, options) != kSuccess) {
    throw Error(ErrorCode::kUnsupported, "nvJitLink ('" + state_->library.name() +
                                             "') does not assemble for " + device.architecture());
  }
  const auto destroy = [&calls](Link link) { calls.destroy(&link); };
  const std::unique_ptr<NvJitLink, decltype(destroy)> link(made, destroy);
  // The size counts the zero at the end.
  int result = calls.add(link.get(), kInputPtx, ptx.c_str(), ptx.size() + 1, "kernel.ptx");
  if (result == kSuccess) result = calls.complete(link.get());

  AssembleOutcome outcome;
  size_t size = 0;
  std::string log;
  if (calls.log_size(link.get(), &size) == kSuccess && size > 0) {
    log.resize(size);
    if (calls.log(link.get(), log.data()) != kSuccess) log.clear();
    log.resize(std::min(log.find('\0'), log.size()));
  }
  outcome.diagnostics = parse_ptxas_log(with_own_names(std::move(log)), file, first_line);
  if (first_line == 0) {
    for (Diagnostic& each : outcome.diagnostics) each.line = 0;
  }
  if (result == kSuccess && calls.cubin_size(link.get(), &size) == kSuccess && size > 0) {
    outcome.cubin.resize(size);
    if (calls.cubin(link.get(), outcome.cubin.data()) != kSuccess) outcome.cubin.clear();
  }
  if (!outcome.ok() && outcome.diagnostics.empty()) {
    outcome.diagnostics.push_back(
        {.severity = "error", .file = file, .message = "nvJitLink failed without a message"});
  }
  return outcome;
}

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
