#include "tests/diagnose/mistakes.h"

namespace kbench::testing {
namespace {

/// The text, each line of it so much deeper.
std::string indented(std::string text, size_t by) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    text.insert(at, std::string(by, ' '));
    if (text.find('\n', at) == std::string::npos) return text + "\n";
  }
  return text;
}

/// A candidate of one GLSL kernel k, and of a step that binds and launches it so.
std::string one_shader(const std::string& task, const std::string& declarations,
                       const std::string& body, const std::string& bind, const std::string& groups,
                       const std::string& more = "") {
  return "kbench: 1\ntask: " + task + "\n" + more + "kernels:\n  k:\n    source: |\n" +
         indented("#version 450\n" + declarations +
                      "layout(local_size_x = 64) in;\nvoid main() {\n"
                      "  const uint i = gl_GlobalInvocationID.x;\n  " +
                      body + "\n}\n",
                  6) +
         "dispatch:\n  - {kernel: k, bind: [" + bind + "], groups: [\"" + groups + "\"]}\n";
}

constexpr const char* kBuffers =
    "layout(binding = 0) readonly buffer X { float x[]; };\n"
    "layout(binding = 1) buffer Y { float y[]; };\n";
constexpr const char* kN = "const uint n = KB_batch_size * KB_dim;\n";
constexpr const char* kGroups = "ceil_div(batch_size * dim, 64)";

/// ReLU, whose n elements are x[] and y[].
std::string shader_relu(const std::string& body, const std::string& declarations = "",
                        const std::string& bind = "x, output",
                        const std::string& groups = kGroups) {
  return one_shader("level1/19", std::string(kBuffers) + kN + declarations, body, bind, groups);
}

std::string cuda_step(const std::string& source, const std::string& step) {
  return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    language: cuda\n    source: |\n" +
         indented(source, 6) +
         "dispatch:\n  - {kernel: k, grid: \"ceil_div(batch_size * dim, 256)\", " + step + "}\n";
}
constexpr const char* kCudaStep = "block: 256, args: [x, output]";

std::string cuda_relu(const std::string& parameters, const std::string& body,
                      const std::string& above = "", const std::string& step = kCudaStep) {
  return cuda_step(above + "extern \"C\" __global__ void k(" + parameters +
                       ") {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + body +
                       "\n}\n",
                   step);
}

std::string triton_step(const std::string& body) {
  return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    language: triton\n    source: |\n" +
         indented(
             "import triton\nimport triton.language as tl\n\n@triton.jit\n"
             "def k(x, y, n, BLOCK: tl.constexpr):\n"
             "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n" +
                 indented(body, 4),
             6) +
         "    constants: {BLOCK: 128}\n"
         "dispatch:\n  - {kernel: k, grid: \"ceil_div(batch_size * dim, 128)\", "
         "args: [x, output, {i32: batch_size * dim}]}\n";
}

/// A ModelNew with these lines in __init__(), which takes the task's arguments, and forward().
std::string model(const std::string& forward, const std::string& init = "",
                  const std::string& above = "") {
  return "# task: level1/19\nimport torch\n" + above +
         "\n\nclass ModelNew(torch.nn.Module):\n"
         "    def __init__(self):\n        super().__init__()\n" +
         (init.empty() ? "" : indented(init, 8)) + "\n    def forward(self, x):\n" +
         indented(forward, 8);
}

Recorded as_said(const std::string& error, const std::string& at) {
  return {"candidate.yaml: " + error, error, at};
}
Recorded as_wrong() {
  return {"400 of 400 elements wrong, the first at [0, 0]: got 7, expected 0"};
}
Recorded as_racing() {
  Recorded recorded = as_wrong();
  recorded.evidence.elements = 400;
  recorded.evidence.wrong = 12;
  recorded.evidence.racing = 12;
  return recorded;
}

std::vector<Mistake> all_mistakes() {
  const std::string guard = "if (i >= n) return; ";
  return {
      // GLSL
      {"a barrier behind a return",
       shader_relu(guard + "s[gl_LocalInvocationIndex] = x[i]; barrier(); "
                           "const uint m = gl_WorkGroupID.x * 64 + 63 - gl_LocalInvocationIndex; "
                           "if (m < n) y[m] = max(s[63 - gl_LocalInvocationIndex], 0.0);",
                   "shared float s[64];\n"),
       Verdict::partly_written, "Perhaps it is the barrier at candidate.yaml:14"},
      {"shared memory without a barrier",
       shader_relu(
           "const uint lane = gl_LocalInvocationIndex; uint state = i; "
           "if (lane >= 4) for (uint k = 0; k < 20000u; ++k) "
           "state = (state ^ (state >> 15)) * 739982445u; "
           "if (state != 12345u) s[lane] = i < n ? max(x[i], 0.0) : 0.0; "
           "const uint m = gl_WorkGroupID.x * 64 + 63 - lane; if (m < n) y[m] = s[63 - lane];",
           "shared float s[64];\n"),
       Verdict::wrong_values, "nowhere is there a barrier()"},
      {"sums of many invocations in one element",
       one_shader(
           "level1/47", kBuffers,
           "const uint c = gl_WorkGroupID.x, k = gl_LocalInvocationIndex; "
           "if (k == 0) y[c] = 0.0; barrier(); if (k < KB_dim1) y[c] += x[c / KB_dim2 * KB_dim1 "
           "* KB_dim2 + k * KB_dim2 + c % KB_dim2];",
           "x, output", "batch_size * dim2"),
       Verdict::wrong_values, "Perhaps several invocations add to one element"},
      {"float16_t without its extension",
       one_shader("level1/19",
                  "layout(binding = 0) readonly buffer X { float16_t x[]; };\n"
                  "layout(binding = 1) buffer Y { float y[]; };\n" +
                      std::string(kN),
                  guard + "y[i] = max(float(x[i]), 0.0);", "x, output", kGroups),
       Verdict::compile_error, "float16_t needs `#extension GL_EXT_"},
      {"a subgroup's sum without its extension", shader_relu(guard + "y[i] = subgroupAdd(x[i]);"),
       Verdict::compile_error, "subgroupAdd needs `#extension GL_KHR_"},
      {"input and output swapped in bind",
       shader_relu(guard + "y[i] = max(x[i], 0.0);", "", "output, x"), Verdict::input_modified,
       "kernel k stores to y[], binding 1, and its step gives x"},
      {"two inputs swapped in bind",
       one_shader(
           "level1/1",
           "layout(binding = 0) readonly buffer A { float a[]; };\n"
           "layout(binding = 1) readonly buffer B { float b[]; };\n"
           "layout(binding = 2) buffer Y { float y[]; };\n",
           "const uint n = KB_N; if (i >= n * n) return; float s = 0.0; "
           "for (uint k = 0; k < n; ++k) s += a[i / n * n + k] * b[k * n + i % n]; y[i] = s;",
           "B, A, output", "ceil_div(N * N, 64)"),
       Verdict::wrong_values, "kernel k calls binding 0 a and binding 1 b, and its step gives B"},
      {"double for float32",
       one_shader("level1/19",
                  "layout(binding = 0) readonly buffer X { double x[]; };\n"
                  "layout(binding = 1) buffer Y { float y[]; };\n" +
                      std::string(kN),
                  guard + "y[i] = max(float(x[i]), 0.0);", "x, output", kGroups),
       Verdict::not_finite, "kernel k has double x[] at binding 0, and its step gives it x, whose"},
      {"int for int64",
       one_shader("level1/51",
                  "layout(binding = 0) readonly buffer X { float x[]; };\n"
                  "layout(binding = 1) buffer Y { int y[]; };\n",
                  "const uint w = KB_dim2; if (i >= KB_batch_size * w) return; "
                  "const uint base = i / w * KB_dim1 * w + i % w; uint best = 0; "
                  "for (uint k = 1; k < KB_dim1; ++k) if (x[base + k * w] > x[base + best * w]) "
                  "best = k; y[i] = int(best);",
                  "x, output", "ceil_div(batch_size * dim2, 64)"),
       Verdict::partly_written, "kernel k has int y[] at binding 1"},
      {"a shape variable without its prefix",
       shader_relu("if (i >= batch_size * KB_dim) return; y[i] = max(x[i], 0.0);"),
       Verdict::compile_error, "Perhaps KB_batch_size is meant"},
      {"a number of groups that rounds down",
       shader_relu(guard + "y[i] = max(x[i], 0.0);", "", "x, output", "batch_size * dim / 64"),
       Verdict::partly_written, "384 invocations for 400 elements"},
      {"a store without a test", shader_relu("y[i] = max(x[i], 0.0);"), Verdict::out_of_bounds,
       "Test the index before storing"},
      {"an output that is added to", shader_relu(guard + "y[i] += max(x[i], 0.0);"),
       Verdict::partly_written, "The result depends on what stood in memory before"},
      {"CUDA's names in GLSL", shader_relu(guard + "y[i] = fmaxf(x[i], 0.0f);"),
       Verdict::compile_error, "fmaxf is max in GLSL"},
      {"kernels for float16 at float32",
       "dtype: f16\n" + shader_relu(guard + "y[i] = max(x[i], 0.0);"), Verdict::unsupported,
       "`dtype:` says which element types its kernels are written for"},
      {"a semicolon that is missing", shader_relu(guard + "float v = x[i] y[i] = max(v, 0.0);"),
       Verdict::compile_error, "Perhaps a semicolon is missing"},
      // CUDA
      {"CUDA on a CPU", cuda_relu("const float* x, float* y", "y[i] = fmaxf(x[i], 0.0f);"),
       Verdict::unsupported, "CUDA and Triton need a GPU of NVIDIA's"},
      {"a macro that nothing defines",
       cuda_relu("const float* x, float* y", "if (i < DIM) y[i] = fmaxf(x[i], 0.0f);"),
       Verdict::compile_error, "Perhaps KB_dim is meant", true,
       as_said("identifier \"DIM\" is undefined", "DIM")},
      {"a host's header",
       cuda_relu("const float* x, float* y", "y[i] = fmaxf(x[i], 0.0f);", "#include <vector>\n"),
       Verdict::compile_error, "host headers are not", true,
       as_said("cannot open source file \"vector\"", "vector")},
      {"PyTorch's header in a kernel",
       cuda_relu("const float* x, float* y", "y[i] = fmaxf(x[i], 0.0f);",
                 "#include <torch/extension.h>\n"),
       Verdict::compile_error, "Only the __global__ kernel is compiled, without PyTorch", true,
       as_said("cannot open source file \"torch/extension.h\"", "torch")},
      {"half without its header",
       cuda_relu("const half* x, float* y", "y[i] = fmaxf(float(x[i]), 0.0f);"),
       Verdict::compile_error, "half and its functions are in <cuda_fp16.h>", true,
       as_said("identifier \"half\" is undefined", "half*")},
      {"an argument that is missing",
       cuda_relu("const float* x, float* y, int n", "if (i < n) y[i] = fmaxf(x[i], 0.0f);"),
       Verdict::invalid_candidate, "args are the kernel's parameters in order", true,
       Recorded{"candidate.yaml:14:5: kernel k takes 3 parameters of 8, 8, 4 bytes, but this step "
                "gives 2 parameters of 8, 8 bytes"}},
      {"more shared memory than a kernel may declare",
       cuda_relu("const float* x, float* y", "__shared__ float s[16384]; y[i] = s[i];"),
       Verdict::unsupported, "an extern __shared__ array, and `shared`", true,
       Recorded{"candidate.yaml:14:5: kernel k has 65536 bytes of shared memory of its own, the "
                "limit is 49152: more is given by the launch ('shared' and an extern __shared__ "
                "array)"}},
      {"shared memory without __syncthreads()",
       cuda_relu("const float* x, float* y",
                 "__shared__ float s[256]; s[threadIdx.x] = x[i]; y[i] = s[255 - threadIdx.x];"),
       Verdict::wrong_values, "nowhere is there a __syncthreads()", true, as_racing()},
      {"double* for float32", cuda_relu("const double* x, double* y", "y[i] = fmax(x[i], 0.0);"),
       Verdict::wrong_values, "kernel k has double x[] at parameter 1, and its step", true,
       as_wrong()},
      {"input and output swapped in args",
       cuda_relu("const float* x, float* y", "y[i] = fmaxf(x[i], 0.0f);", "",
                 "block: 256, args: [output, x]"),
       Verdict::input_modified, "kernel k stores to y[], parameter 2, and its step gives", true,
       Recorded{"input x was written to; a candidate may only read it"}},
      // Triton
      {"a block that is no power of two",
       triton_step("tl.store(y + i, tl.load(x + tl.arange(0, 100), mask=i < n), mask=i < n)"),
       Verdict::compile_error, "Blocks of Triton have powers of two", true,
       as_said("ValueError: arange's range must be a power of 2", "arange(0, 100)")},
      {"a global that is no constant",
       triton_step("tl.store(y + i, tl.load(x + i, mask=i < SIZE), mask=i < SIZE)"),
       Verdict::compile_error, "give sizes as tl.constexpr parameters", true,
       as_said("NameError: Cannot access global variable SIZE from within @jit'ed function",
               "SIZE")},
      {"a function that Triton does not have",
       triton_step("tl.store(y + i, tl.tanh(tl.load(x + i, mask=i < n)), mask=i < n)"),
       Verdict::compile_error, "2 * tl.sigmoid(2 * x) - 1", true,
       as_said("AttributeError: module 'triton.language' has no attribute 'tanh'", "tanh")},
      {"a product of too small blocks",
       triton_step("a = tl.load(x + i, mask=i < n)\ntl.store(y + i, tl.dot(a, a), mask=i < n)"),
       Verdict::compile_error, "blocks of at least 16 in each dimension", true,
       as_said("AssertionError: Input shapes should have M >= 16, N >= 16 and K >= 16", "tl.dot")},
      {"a variable that changes its type in a loop",
       triton_step("a = 0\nfor k in range(4):\n    a = a + tl.load(x + i, mask=i < n)\n"
                   "tl.store(y + i, a, mask=i < n)"),
       Verdict::compile_error, "make it before the loop", true,
       as_said(
           "AssertionError: Loop-carried variable a has initial type int32 but is re-assigned to "
           "<['128'], fp32> in loop! Please make sure that the type stays consistent.",
           "for k")},
      {"loads and stores without a mask", triton_step("tl.store(y + i, tl.load(x + i))"),
       Verdict::out_of_bounds, "No load or store has a mask", true,
       Recorded{"wrote outside output, the first 4 bytes past its end"}},
      {"a product in TF32",
       triton_step("a = tl.load(x + i, mask=i < n)\ntl.store(y + i, tl.dot(a, a), mask=i < n)"),
       Verdict::low_precision, "Perhaps it is TF32", true, as_wrong()},
      // ModelNew
      {"a bracket that is not closed", model("return torch.relu(x"), Verdict::compile_error,
       "Python cannot read the file, and nothing of it ran"},
      {"an output that is kept",
       model("if self.y is None:\n    self.y = torch.relu(x)\nreturn self.y", "self.y = None"),
       Verdict::wrong_values, "The first call is right, later ones repeat it"},
      {"a module that asks for CUDA on a CPU", model("return torch.relu(x.cuda()).cpu()"),
       Verdict::crashed, "The module asks for CUDA, and this device has none"},
      {"an input that is worked on in place", model("return torch.relu_(x)"),
       Verdict::input_modified, "Perhaps it is relu_() in the module"},
      {"a parameter that the task does not have",
       model("return torch.relu(x) * self.scale", "self.scale = torch.nn.Parameter(torch.ones(1))"),
       Verdict::invalid_candidate, "a buffer or a plain attribute"},
      {"constants of another type",
       model("return torch.relu(x) @ torch.eye(x.shape[1], dtype=torch.float64)"), Verdict::crashed,
       "Operands have different element types"},
      {"another operator", model("return torch.nn.functional.leaky_relu(x, 0.2)"),
       Verdict::wrong_values, "leaky", false},
  };
}

}  // namespace

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = all_mistakes();
  return all;
}

}  // namespace kbench::testing
