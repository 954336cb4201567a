// GLSL and HLSL to SPIR-V through shaderc, with diagnostics mapped to the author's file and line.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_interface.h"
#include "kbench/result.h"

namespace kbench::vulkan {

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
  bool hlsl_16bit_types = false;  ///< HLSL: half, min16uint and their like have 16 bits, not 32
  /// Resolves #include "name" seen in `from`: (path, text), or nothing when there is no such file.
  std::function<std::optional<std::pair<std::string, std::string>>(const std::string& name,
                                                                   const std::string& from)>
      include;
};

struct CompileOutcome {
  Spirv spirv;              ///< empty when it failed
  ShaderInterface named{};  ///< with the names that optimizing strips
  std::vector<Diagnostic> diagnostics;
  bool ok() const { return !spirv.empty(); }
};

/// One shaderc::Compiler kept for the life of the object. The first compile of a process takes
/// about 150 ms, as does the first of each other GLSL version; later ones take about 1 ms. kbench's
/// own shaders and most candidates' are of version 450. Not thread-safe.
class ShaderCompiler {
 public:
  ShaderCompiler();
  ~ShaderCompiler();
  CompileOutcome compile(const ShaderSource& source);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Built-in shaders embedded at build time from harness/**/shaders: text by file name ("gemm.comp",
/// "common.glsl"); nothing when there is none.
std::optional<std::string> embedded_shader(const std::string& name);

}  // namespace kbench::vulkan
