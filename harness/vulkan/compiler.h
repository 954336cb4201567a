// GLSL and HLSL to SPIR-V through shaderc, with diagnostics mapped to the author's file and line.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/result.h"

namespace kbench::vulkan {

using Spirv = std::vector<uint32_t>;
using Macros = std::vector<std::pair<std::string, std::string>>;

struct ShaderSource {
  enum class Language { glsl, hlsl };
  Language language = Language::glsl;
  std::string text;
  std::string file;    ///< as diagnostics should name it
  int first_line = 1;  ///< line of `file` that the text's first line stands on
  std::string entry = "main";
  Macros macros;
  bool optimize = true;
  /// Resolves #include "name" seen in `from`: (path, text), or nothing when there is no such file.
  std::function<std::optional<std::pair<std::string, std::string>>(const std::string& name,
                                                                   const std::string& from)>
      include;
};

struct CompileOutcome {
  Spirv spirv;  ///< empty when it failed
  std::vector<Diagnostic> diagnostics;
  bool ok() const { return !spirv.empty(); }
};

/// What a SPIR-V module says about itself.
struct SpirvFacts {
  std::vector<uint32_t> capabilities;  ///< SpvCapability values
  std::vector<std::string> extensions;
  uint32_t local_size[3] = {1, 1, 1};  ///< after specialization
  uint64_t shared_bytes = 0;           ///< of workgroup memory, after specialization
  bool uses_array_length = false;      ///< OpArrayLength: `.length()` of a runtime array
  bool uses_float16 = false;           ///< 16-bit float arithmetic
  std::vector<uint32_t> bindings;      ///< binding numbers of descriptor set 0
  bool has_compute_entry = false;
};

/// One shaderc::Compiler kept for the life of the object (the first compile in a process costs
/// about 100 ms, later ones about 1 ms). Not thread-safe.
class ShaderCompiler {
 public:
  ShaderCompiler();
  ~ShaderCompiler();
  CompileOutcome compile(const ShaderSource& source);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Validates with SPIRV-Tools for Vulkan 1.2 before a driver sees it. Empty: valid; else the
/// messages, one a line.
std::string validate_spirv(const Spirv& spirv);
/// SPIRV-Tools' performance passes, as shaderc runs them on what it compiles with `optimize`:
/// nearly all of what that compile costs, and safe on many threads at once. Throws Error(kCompile).
Spirv optimize_spirv(const Spirv& spirv);
/// Throws Error(kCompile) when the words are not SPIR-V. Specialization constants take the given
/// values (constant id -> 32-bit value), else their defaults.
SpirvFacts inspect_spirv(const Spirv& spirv,
                         const std::vector<std::pair<uint32_t, uint32_t>>& specialization = {});
/// Built-in shaders embedded at build time from harness/**/shaders: text by file name ("gemm.comp",
/// "common.glsl"); nothing when there is none.
std::optional<std::string> embedded_shader(const std::string& name);

}  // namespace kbench::vulkan
