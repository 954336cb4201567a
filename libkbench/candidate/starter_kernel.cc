#include "libkbench/candidate/starter_kernel.h"

#include <algorithm>
#include <map>

#include "kbench/error.h"

namespace kbench {
namespace {

/// Absolute error below 1e-7: x P(x^2) up to 1, beyond it 1 - exp(-Q(|x|)).
constexpr const char* kErf = R"(
// GLSL and HLSL have no erf(); absolute error below 1e-7.
float erf(float x) {
  float a = min(abs(x), 3.95);
  float s = x * x;
  float p = 7.853860734030604e-05;
  p = p * s - 0.0008010193705558777;
  p = p * s + 0.005188327748328447;
  p = p * s - 0.026853812858462334;
  p = p * s + 0.1128358542919159;
  p = p * s - 0.3761262595653534;
  p = p * s + 1.1283791065216064;
  if (a <= 1.0) return x * p;
  float q = -0.00018557306611910462;
  q = q * a + 0.0029395984020084143;
  q = q * a - 0.021805284544825554;
  q = q * a + 0.10303729772567749;
  q = q * a + 0.6382257342338562;
  q = q * a + 1.1270400285720825;
  q = q * a + 0.0003537298471201211;
  float y = 1.0 - exp(-q);
  return x < 0.0 ? -y : y;
}
)";

std::string commented(const std::string& comment, const char* sign) {
  return std::string(sign) + " " + comment + "\n";
}

/// The index of the invocation, 0 to outputs - 1, over a grid of two dimensions, in shaders.
std::string shader_index(const std::string& group, const std::string& thread,
                         const std::string& outputs) {
  return "  const int i = int((" + group + ".y * GROUPS_X + " + group + ".x) * THREADS + " +
         thread + ".x);\n  if (i >= " + outputs + ") return;\n";
}

}  // namespace

/// The type of an element in a shader or in CUDA: in shaders a 64-bit integer is two words.
std::string KernelText::element_of(DType dtype) const {
  if (dtype == DType::f32) return halves_ ? "KB_REAL" : "float";
  switch (language_) {
    case StarterLanguage::glsl:
      return "uvec2";
    case StarterLanguage::hlsl:
      return "uint2";
    default:
      return "long long";
  }
}

std::string KernelText::element_at(const KernelBuffer& buffer, const std::string& at) const {
  if (!addresses_) return buffer.name + "[" + at + "]";
  const bool wide = buffer.dtype == DType::i64;
  return std::string(wide ? "Words(" : "Floats(") + buffer.name + " + " +
         (wide      ? "8ul"
          : halves_ ? "2ul"
                    : "4ul") +
         " * uint64_t(" + at + ")).at";
}

std::string KernelText::size(const std::string& name, int64_t value) {
  for (const auto& [known, text] : constants_) {
    if (known == name) return name;
  }
  constants_.emplace_back(name, marks_.mark(value));
  return name;
}

std::string KernelText::real(const std::string& name, double value) {
  constants_.emplace_back(name, marks_.mark(value));
  return python() ? name : "float(" + name + ")";
}

std::string KernelText::derived(const std::string& name, const std::string& expression) {
  constants_.emplace_back(name, "\"" + expression + "\"");
  return name;
}

void KernelText::line(const std::string& text) {
  body_ += std::string((python() ? 4 : 2) * depth_, ' ') + text + "\n";
}

void KernelText::note(const std::string& comment) { line((python() ? "# " : "// ") + comment); }

void KernelText::index(const std::string& name, const std::string& value) {
  line(python() ? name + " = " + value : "int " + name + " = " + value + ";");
}

void KernelText::number(const std::string& name, const std::string& value) {
  line(python() ? name + " = " + value : "float " + name + " = " + value + ";");
}

void KernelText::set(const std::string& name, const std::string& value) {
  line(name + " = " + value + (python() ? "" : ";"));
}

void KernelText::loop(const std::string& variable, const std::string& count) {
  line(python() ? "for " + variable + " in range(" + count + "):"
                : "for (int " + variable + " = 0; " + variable + " < " + count + "; ++" + variable +
                      ") {");
  ++depth_;
}

void KernelText::when(const std::string& condition) {
  line(python() ? "if " + condition + ":" : "if (" + condition + ") {");
  ++depth_;
}

void KernelText::end() {
  --depth_;
  if (!python()) line("}");
}

const KernelBuffer& KernelText::find(const std::string& name) const {
  return *std::ranges::find(buffers, name, &KernelBuffer::name);
}

void KernelText::store(const std::string& buffer, const std::string& at, const std::string& value) {
  if (python()) return line("tl.store(" + buffer + " + " + at + ", " + value + ")");
  const bool wide = find(buffer).dtype == DType::i64;
  std::string stored = value;
  if (wide && language_ != StarterLanguage::cuda) {
    stored = element_of(DType::i64) + "(uint(" + value + "), 0u)";
  } else if (!wide && halves_) {
    stored = "KB_FROM_FLOAT(" + value + ")";
  }
  line(element_at(find(buffer), at) + " = " + stored + ";");
}

std::string KernelText::load(const std::string& buffer, const std::string& at) const {
  const bool wide = find(buffer).dtype == DType::i64;
  if (python()) {
    return "tl.load(" + buffer + " + " + at + ")" + (!wide && halves_ ? ".to(tl.float32)" : "");
  }
  const std::string element = element_at(find(buffer), at);
  if (!wide) return halves_ ? "KB_TO_FLOAT(" + element + ")" : element;
  return language_ == StarterLanguage::cuda ? "int(" + element + ")" : "int(" + element + ".x)";
}

std::string KernelText::quotient(const std::string& a, const std::string& b) const {
  return a + (python() ? " // " : " / ") + b;
}

std::string KernelText::both(const std::string& a, const std::string& b) const {
  return python() ? "(" + a + ") & (" + b + ")" : a + " && " + b;
}

std::string KernelText::either_value(const std::string& condition, const std::string& yes,
                                     const std::string& no) const {
  if (python()) return "tl.where(" + condition + ", " + yes + ", " + no + ")";
  return "(" + condition + " ? " + yes + " : " + no + ")";
}

std::string KernelText::literal(const std::string& number) const {
  return language_ == StarterLanguage::cuda ? number + "f" : number;
}

std::string KernelText::as_float(const std::string& integer) const {
  return python() ? "(" + integer + ") * 1.0" : "float(" + integer + ")";
}

std::string KernelText::call(const std::string& function, const std::string& a,
                             const std::string& b) const {
  const std::string arguments = "(" + a + (b.empty() ? "" : ", " + b) + ")";
  if (python()) {
    static const std::map<std::string, std::string> kNames = {{"max", "tl.maximum"},
                                                              {"min", "tl.minimum"}};
    const auto named = kNames.find(function);
    return (named == kNames.end() ? "tl." + function : named->second) + arguments;
  }
  if (language_ == StarterLanguage::cuda) {
    const bool prefixed = function == "max" || function == "min" || function == "abs";
    return (prefixed ? "f" : "") + function + "f" + arguments;
  }
  uses_erf_ |= function == "erf";
  return function + arguments;
}

std::string KernelText::glsl(const std::string& comment, const std::string& outputs) const {
  std::string text = "#version 450\n" + commented(comment, "//");
  std::string members;
  if (addresses_) {
    text +=
        "// Buffers of this size are reached by their addresses: no binding is so large.\n"
        "#extension GL_EXT_buffer_reference : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
        "layout(buffer_reference, std430, buffer_reference_align = " +
        std::string(halves_ ? "2" : "4") + ") buffer Floats { " + element_of(DType::f32) +
        " at; };\n"
        "layout(buffer_reference, std430, buffer_reference_align = 8) buffer Words { uvec2 at; "
        "};\n";
  }
  text += "layout(local_size_x = THREADS) in;\n";
  for (size_t i = 0; i < buffers.size(); ++i) {
    const KernelBuffer& each = buffers[i];
    const std::string note = each.buffer == each.name ? "" : "  // " + each.buffer;
    if (addresses_) {
      members += "  uint64_t " + each.name + ";" + note + "\n";
    } else {
      text += "layout(binding = " + std::to_string(i) + ") " +
              (each.written ? "writeonly" : "readonly") + " buffer Buffer" + std::to_string(i) +
              " { " + element_of(each.dtype) + " " + each.name + "[]; };" + note + "\n";
    }
  }
  if (addresses_) text += "layout(push_constant) uniform Push {\n" + members + "};\n";
  if (uses_erf_) text += kErf;
  return text + "\nvoid main() {\n" +
         shader_index("gl_WorkGroupID", "gl_LocalInvocationID", outputs) + body_ + "}\n";
}

std::string KernelText::hlsl(const std::string& comment, const std::string& outputs) const {
  std::string text = commented(comment, "//");
  for (size_t i = 0; i < buffers.size(); ++i) {
    const KernelBuffer& each = buffers[i];
    text += (each.written ? "RWStructuredBuffer<" : "StructuredBuffer<") + element_of(each.dtype) +
            "> " + each.name + " : register(" + (each.written ? "u" : "t") + std::to_string(i) +
            ");" + (each.buffer == each.name ? "" : "  // " + each.buffer) + "\n";
  }
  if (uses_erf_) text += kErf;
  return text +
         "\n[numthreads(THREADS, 1, 1)]\nvoid main(uint3 group : SV_GroupID, uint3 thread : "
         "SV_GroupThreadID) {\n" +
         shader_index("group", "thread", outputs) + body_ + "}\n";
}

std::string KernelText::cuda(const std::string& name, const std::string& comment,
                             const std::string& outputs) const {
  std::string parameters;
  for (const KernelBuffer& each : buffers) {
    parameters += (parameters.empty() ? "" : ", ") + std::string(each.written ? "" : "const ") +
                  element_of(each.dtype) + "* __restrict__ " + each.name;
  }
  return commented(comment, "//") + "__global__ void " + name + "(" + parameters + ") {\n" +
         "  const int i = blockIdx.x * THREADS + threadIdx.x;\n  if (i >= " + outputs +
         ") return;\n" + body_ + "}\n";
}

std::string KernelText::triton(const std::string& name, const std::string& comment) const {
  std::string parameters;
  for (const KernelBuffer& each : buffers) parameters += each.name + ", ";
  for (const auto& [constant, text] : constants_) parameters += constant + ": tl.constexpr, ";
  parameters.resize(parameters.size() - 2);
  return commented(comment, "#") +
         "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef " + name + "(" +
         parameters + "):\n    i = tl.program_id(0)\n" + body_;
}

std::string KernelText::file(const std::string& name, const std::string& comment,
                             const std::string& outputs) const {
  switch (language_) {
    case StarterLanguage::glsl:
      return glsl(comment, outputs);
    case StarterLanguage::hlsl:
      return hlsl(comment, outputs);
    case StarterLanguage::cuda:
      return cuda(name, comment, outputs);
    case StarterLanguage::triton:
      return triton(name, comment);
  }
  return "";
}

}  // namespace kbench
