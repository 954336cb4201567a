// Macros from the manifest: text for the preprocessor, for kernels that were written for another
// build system.
#include "libkbench/candidate/defines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"

namespace kbench {
namespace {

/// "ld( b , i )" as "ld(b,i)"; nothing where the text is no macro's name.
std::optional<std::string> plain_name(std::string_view key) {
  const size_t open = key.find('(');
  // As in a #define line: no blank before the parenthesis.
  const std::string_view name = key.substr(0, open);
  if (!is_identifier(name)) return std::nullopt;
  if (open == std::string_view::npos) return std::string(name);
  if (key.back() != ')') return std::nullopt;
  std::string plain = std::string(name) + "(";
  std::string_view rest = key.substr(open + 1, key.size() - open - 2);
  if (trimmed(rest).empty()) return plain + ")";
  std::set<std::string_view> parameters;
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view parameter = trimmed(rest.substr(0, comma));
    if (!is_identifier(parameter) || !parameters.insert(parameter).second) return std::nullopt;
    plain += (parameters.size() > 1 ? "," : "") + std::string(parameter);
    if (comma == std::string_view::npos) return plain + ")";
    rest.remove_prefix(comma + 1);
  }
}

/// Why no manifest may define a macro of that name; empty where it may.
std::string reserved(const std::string& name) {
  if (name.starts_with("KB_")) {
    return "names with KB_ in front are the harness's own macros, the task's shape variables";
  }
  if (name.starts_with("GL_") || name.starts_with("gl_") || name == "defined" ||
      name == "__LINE__" || name == "__FILE__" || name == "__VERSION__") {
    return "the name is the compiler's own";
  }
  return "";
}

using Language = Kernel::Language;

// GLSL converts by constructors of the float's size: a function that took or gave halves would need
// arithmetic in float16, which storage alone does not.
constexpr std::string_view kGlslFloat = R"(
#define KB_REAL float
#define KB_REAL2 vec2
#define KB_REAL4 vec4
#define KB_TO_FLOAT(x) float(x)
#define KB_TO_FLOAT2(x) vec2(x)
#define KB_TO_FLOAT4(x) vec4(x)
#define KB_FROM_FLOAT(v) float(v)
#define KB_FROM_FLOAT2(v) vec2(v)
#define KB_FROM_FLOAT4(v) vec4(v)
)";

constexpr std::string_view kGlslHalf = R"(
#extension GL_EXT_shader_16bit_storage : require
#define KB_REAL float16_t
#define KB_REAL2 f16vec2
#define KB_REAL4 f16vec4
#define KB_TO_FLOAT(x) float(x)
#define KB_TO_FLOAT2(x) vec2(x)
#define KB_TO_FLOAT4(x) vec4(x)
#define KB_FROM_FLOAT(v) float16_t(v)
#define KB_FROM_FLOAT2(v) f16vec2(v)
#define KB_FROM_FLOAT4(v) f16vec4(v)
)";

// A bfloat16 is the upper half of a float32: to the nearest, ties to even; a NaN stays one.
constexpr std::string_view kGlslBrain = R"(
#extension GL_EXT_shader_16bit_storage : require
uint kb_brain_of(float v) {
  uint bits = floatBitsToUint(v);
  uint rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded) >> 16;
}
uvec2 kb_brain_of(vec2 v) { return uvec2(kb_brain_of(v.x), kb_brain_of(v.y)); }
uvec4 kb_brain_of(vec4 v) { return uvec4(kb_brain_of(v.xy), kb_brain_of(v.zw)); }
#define KB_REAL uint16_t
#define KB_REAL2 u16vec2
#define KB_REAL4 u16vec4
#define KB_TO_FLOAT(x) uintBitsToFloat(uint(x) << 16)
#define KB_TO_FLOAT2(x) uintBitsToFloat(uvec2(x) << 16)
#define KB_TO_FLOAT4(x) uintBitsToFloat(uvec4(x) << 16)
#define KB_FROM_FLOAT(v) uint16_t(kb_brain_of(v))
#define KB_FROM_FLOAT2(v) u16vec2(kb_brain_of(v))
#define KB_FROM_FLOAT4(v) u16vec4(kb_brain_of(v))
)";

constexpr std::string_view kHlslFloat = R"(
#define KB_REAL float
#define KB_REAL2 float2
#define KB_REAL4 float4
#define KB_TO_FLOAT(x) float(x)
#define KB_TO_FLOAT2(x) float2(x)
#define KB_TO_FLOAT4(x) float4(x)
#define KB_FROM_FLOAT(v) float(v)
#define KB_FROM_FLOAT2(v) float2(v)
#define KB_FROM_FLOAT4(v) float4(v)
)";

constexpr std::string_view kHlslHalf = R"(
#define KB_REAL half
#define KB_REAL2 half2
#define KB_REAL4 half4
#define KB_TO_FLOAT(x) float(x)
#define KB_TO_FLOAT2(x) float2(x)
#define KB_TO_FLOAT4(x) float4(x)
#define KB_FROM_FLOAT(v) half(v)
#define KB_FROM_FLOAT2(v) half2(v)
#define KB_FROM_FLOAT4(v) half4(v)
)";

constexpr std::string_view kHlslBrain = R"(
uint kb_brain_of(float v) {
  uint bits = asuint(v);
  uint rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded) >> 16;
}
uint2 kb_brain_of2(float2 v) { return uint2(kb_brain_of(v.x), kb_brain_of(v.y)); }
uint4 kb_brain_of4(float4 v) { return uint4(kb_brain_of2(v.xy), kb_brain_of2(v.zw)); }
#define KB_REAL min16uint
#define KB_REAL2 min16uint2
#define KB_REAL4 min16uint4
#define KB_TO_FLOAT(x) asfloat(uint(x) << 16)
#define KB_TO_FLOAT2(x) asfloat(uint2(x) << 16)
#define KB_TO_FLOAT4(x) asfloat(uint4(x) << 16)
#define KB_FROM_FLOAT(v) min16uint(kb_brain_of(v))
#define KB_FROM_FLOAT2(v) min16uint2(kb_brain_of2(v))
#define KB_FROM_FLOAT4(v) min16uint4(kb_brain_of4(v))
)";

constexpr std::string_view kCudaFloat = R"(
using KB_REAL = float;
using KB_REAL2 = float2;
using KB_REAL4 = float4;
__device__ inline float KB_TO_FLOAT(float x) { return x; }
__device__ inline float KB_FROM_FLOAT(float v) { return v; }
__device__ inline float2 KB_TO_FLOAT2(float2 x) { return x; }
__device__ inline float2 KB_FROM_FLOAT2(float2 v) { return v; }
__device__ inline float4 KB_TO_FLOAT4(float4 x) { return x; }
__device__ inline float4 KB_FROM_FLOAT4(float4 v) { return v; }
)";

// The headers of NVIDIA's toolkit are not on every machine that has its compiler, and take a good
// part of a second to compile.
constexpr std::string_view kCudaOwnType = R"(
struct alignas(2) kb_real {
  unsigned short bits;
};
using KB_REAL = kb_real;
__device__ inline unsigned short kb_bits(KB_REAL x) { return x.bits; }
__device__ inline KB_REAL kb_from_bits(unsigned short bits) { return {bits}; }
)";

constexpr std::string_view kCudaToolkitHalf = R"(
#include <cuda_fp16.h>
using KB_REAL = __half;
__device__ inline unsigned short kb_bits(KB_REAL x) { return __half_as_ushort(x); }
__device__ inline KB_REAL kb_from_bits(unsigned short bits) { return __ushort_as_half(bits); }
)";

constexpr std::string_view kCudaToolkitBrain = R"(
#include <cuda_bf16.h>
using KB_REAL = __nv_bfloat16;
__device__ inline unsigned short kb_bits(KB_REAL x) { return __bfloat16_as_ushort(x); }
__device__ inline KB_REAL kb_from_bits(unsigned short bits) { return __ushort_as_bfloat16(bits); }
)";

constexpr std::string_view kCudaHalf = R"(
__device__ inline float KB_TO_FLOAT(KB_REAL x) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(kb_bits(x)));
  return v;
}
__device__ inline KB_REAL KB_FROM_FLOAT(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return kb_from_bits(bits);
}
)";

constexpr std::string_view kCudaBrain = R"(
__device__ inline float KB_TO_FLOAT(KB_REAL x) {
  return __uint_as_float(static_cast<unsigned>(kb_bits(x)) << 16);
}
__device__ inline KB_REAL KB_FROM_FLOAT(float v) {
  unsigned short bits;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(v));
#else
  const unsigned whole = __float_as_uint(v);
  const unsigned rounded = whole + 0x7fffu + (whole >> 16 & 1u);
  const bool nan = (whole & 0x7fffffffu) > 0x7f800000u;
  bits = static_cast<unsigned short>((nan ? whole | 0x400000u : rounded) >> 16);
#endif
  return kb_from_bits(bits);
}
)";

constexpr std::string_view kCudaVectors = R"(
struct alignas(4) KB_REAL2 {
  KB_REAL x, y;
};
struct alignas(8) KB_REAL4 {
  KB_REAL x, y, z, w;
};
__device__ inline float2 KB_TO_FLOAT2(KB_REAL2 x) {
  return make_float2(KB_TO_FLOAT(x.x), KB_TO_FLOAT(x.y));
}
__device__ inline KB_REAL2 KB_FROM_FLOAT2(float2 v) {
  return {KB_FROM_FLOAT(v.x), KB_FROM_FLOAT(v.y)};
}
__device__ inline float4 KB_TO_FLOAT4(KB_REAL4 x) {
  return make_float4(KB_TO_FLOAT(x.x), KB_TO_FLOAT(x.y), KB_TO_FLOAT(x.z), KB_TO_FLOAT(x.w));
}
__device__ inline KB_REAL4 KB_FROM_FLOAT4(float4 v) {
  return {KB_FROM_FLOAT(v.x), KB_FROM_FLOAT(v.y), KB_FROM_FLOAT(v.z), KB_FROM_FLOAT(v.w)};
}
)";

/// Whether the compiler may see `word`: in the kernel, or in any file that the candidate includes.
bool says(const Kernel& kernel, const Candidate& candidate, std::string_view word) {
  const auto in = [&](std::string_view text) { return text.find(word) != std::string_view::npos; };
  const auto in_text_of = [&](const auto& define) { return in(define.second.text); };
  return in(kernel.source) || std::ranges::any_of(kernel.defines, in_text_of) ||
         std::ranges::any_of(candidate.defines, in_text_of) ||
         std::ranges::any_of(candidate.includes, [&](const auto& file) { return in(file.second); });
}

std::string cuda_names(const Kernel& kernel, const Candidate& candidate, DType dtype) {
  if (!is_half(dtype)) return std::string(kCudaFloat);
  const bool f16 = dtype == DType::f16;
  const bool toolkit = says(kernel, candidate, f16 ? "cuda_fp16.h" : "cuda_bf16.h");
  const std::string_view type = !toolkit ? kCudaOwnType
                                : f16    ? kCudaToolkitHalf
                                         : kCudaToolkitBrain;
  std::string text(type);
  return text.append(f16 ? kCudaHalf : kCudaBrain).append(kCudaVectors);
}

std::string one_of_three(DType dtype, std::string_view f32, std::string_view f16,
                         std::string_view bf16) {
  return std::string(dtype == DType::f16 ? f16 : dtype == DType::bf16 ? bf16 : f32);
}

}  // namespace

std::string macro_name(const std::string& define) { return define.substr(0, define.find('(')); }

CandidateParser::Constants CandidateParser::defines(const YAML::Node& node) {
  Constants result;
  const auto entries = yaml_.entries(node, "defines");
  check_count(yaml_.at(node), "defines", entries.size(), limits::kDefines);
  std::set<std::string> known;
  for (const auto& entry : entries) {
    const auto name = plain_name(entry.key);
    if (!name || name->size() > limits::kDefineBytes) {
      fail_parse(entry.at, quoted(entry.key) +
                               " cannot name a macro; write NAME, or \"NAME(a, b)\" with different "
                               "parameters, of letters, digits and _");
    }
    const std::string macro = macro_name(*name);
    if (const std::string why = reserved(macro); !why.empty()) {
      fail_parse(entry.at, "macro " + quoted(macro) + ": " + why);
    }
    if (!known.insert(macro).second) fail_parse(entry.at, "macro " + quoted(macro) + " twice");
    if (entry.value.IsNull()) {
      fail_parse(entry.at, "macro " + quoted(macro) + " has no text; \"\" defines it as nothing");
    }
    const Sourced text = yaml_.text(entry.value, "macro " + quoted(macro));
    if (text.text.size() > limits::kDefineBytes) {
      fail_parse(text.at, "macro " + quoted(macro) + " has " + std::to_string(text.text.size()) +
                              " bytes; at most " + std::to_string(limits::kDefineBytes) +
                              " are allowed");
    }
    // A macro is one line: characters that end it, or join it to the next, are refused.
    if (shown(text.text, text.text.size()) != text.text || text.text.ends_with('\\')) {
      fail_parse(text.at, "macro " + quoted(macro) + " must be one line of text");
    }
    result.emplace_back(*name, text);
  }
  return result;
}

size_t add_defines(const Candidate& candidate, const Kernel& kernel, ResolvedKernel& resolved) {
  if (kernel.language != Kernel::Language::glsl && kernel.language != Kernel::Language::hlsl &&
      kernel.language != Kernel::Language::cuda) {
    return 0;
  }
  std::map<std::string, const std::pair<std::string, Sourced>*> chosen;
  for (const auto* defines : {&candidate.defines, &kernel.defines}) {
    for (const auto& define : *defines) chosen[macro_name(define.first)] = &define;
  }
  for (const auto& [name, value] : resolved.macros) {
    const auto clash = chosen.find(name);
    if (clash == chosen.end()) continue;
    fail_parse(clash->second->second.at,
               "macro '" + name + "' is a constant of kernel '" + kernel.name +
                   "' as well, which is a macro too: leave one of them out");
  }
  size_t bytes = 0;
  for (const auto& [name, define] : chosen) {
    bytes += define->first.size() + define->second.text.size();
    resolved.macros.emplace_back(define->first, define->second.text);
  }
  return bytes;
}

std::string real_names(const Kernel& kernel, const Candidate& candidate, DType dtype) {
  constexpr std::string_view kNames[] = {"KB_REAL", "KB_TO_FLOAT", "KB_FROM_FLOAT"};
  if (std::ranges::none_of(kNames, [&](auto name) { return says(kernel, candidate, name); })) {
    return "";
  }
  switch (kernel.language) {
    case Language::glsl:
      return one_of_three(dtype, kGlslFloat, kGlslHalf, kGlslBrain);
    case Language::hlsl:
      return one_of_three(dtype, kHlslFloat, kHlslHalf, kHlslBrain);
    case Language::cuda:
      return cuda_names(kernel, candidate, dtype);
    default:
      return "";
  }
}

}  // namespace kbench
