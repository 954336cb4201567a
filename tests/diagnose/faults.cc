#include "tests/diagnose/faults.h"

#include <algorithm>

namespace kbench::testing {
namespace {

/// level2/76: max(x W^T + bias, 0), in pieces that can be other.
std::string gemm_relu(const std::string& result, const std::string& weight = "c * K + k",
                      const std::string& from = "0", const std::string& to = "K",
                      const std::string& store = "i") {
  return one_kernel("level2/76", {"x", "gemm.weight", "bias", "output"},
                    "batch_size * out_features",
                    "const uint K = KB_in_features, N = KB_out_features; "
                    "if (i >= KB_batch_size * N) return; const uint r = i / N, c = i % N; "
                    "float s = 0.0; for (uint k = " +
                        from + "; k < " + to + "; ++k) s += b0[r * K + k] * b1[" + weight +
                        "]; b3[" + store + "] = " + result + ";");
}

std::string leaky(const std::string& result) {
  return one_kernel(
      "level2/12", {"x", "gemm.weight", "gemm.bias", "output"}, "batch_size * out_features",
      "const uint K = KB_in_features, N = KB_out_features; "
      "if (i >= KB_batch_size * N) return; const uint r = i / N, c = i % N; "
      "float s = b2[c]; for (uint k = 0; k < K; ++k) s += b0[r * K + k] * b1[c * K + k]; "
      "b3[i] = " +
          result + ";");
}

std::string relu(const std::string& body, const std::string& groups = "") {
  return one_kernel("level1/19", {"x", "output"}, "batch_size * dim",
                    "const uint n = KB_batch_size * KB_dim; " + body, groups);
}

std::string row_softmax(const std::string& result) {
  return one_kernel("level1/23", {"x", "output"}, "batch_size * dim",
                    "const uint n = KB_dim; if (i >= KB_batch_size * n) return; "
                    "const uint row = i / n * n; float m = b0[row], s = 0.0; "
                    "for (uint k = 1; k < n; ++k) m = max(m, b0[row + k]); "
                    "for (uint k = 0; k < n; ++k) s += exp(b0[row + k] - m); b1[i] = " +
                        result + ";");
}

std::string column_sum(const std::string& from, const std::string& to,
                       const std::string& result = "s") {
  return one_kernel("level1/47", {"x", "output"}, "batch_size * dim2",
                    "const uint n = KB_dim1, w = KB_dim2; if (i >= KB_batch_size * w) return; "
                    "const uint b = i / w, c = i % w; float s = 0.0; for (uint k = " +
                        from + "; k < " + to +
                        "; ++k) s += b0[(b * n + k) * w + c]; b1[i] = " + result + ";");
}

std::string batch_norm(const std::string& count, const std::string& eps = "1e-5",
                       const std::string& bias = "b2[c]") {
  return one_kernel(
      "level1/33", {"x", "bn.weight", "bn.bias", "output"}, "batch_size * features * dim1 * dim2",
      "const uint F = KB_features, S = KB_dim1 * KB_dim2; if (i >= KB_batch_size * F * S) return; "
      "const uint c = i / S % F; const float n = float(KB_batch_size * S); float m = 0.0, v = 0.0; "
      "for (uint b = 0; b < KB_batch_size; ++b) for (uint k = 0; k < S; ++k) m += b0[(b * F + c) * "
      "S "
      "+ k]; m /= n; "
      "for (uint b = 0; b < KB_batch_size; ++b) for (uint k = 0; k < S; ++k) { const float d = "
      "b0[(b "
      "* F + c) * S + k] - m; v += d * d; } "
      "b3[i] = (b0[i] - m) * inversesqrt(v / (" +
          count + ") + " + eps + ") * b1[c] + " + bias + ";");
}

std::string convolution(const std::string& place, const std::string& tap = "u",
                        const std::string& channels = "C") {
  return one_kernel("level1/67", {"x", "conv1d.weight", "output"},
                    "batch_size * out_channels * (length - kernel_size + 1)",
                    "const uint C = KB_in_channels, O = KB_out_channels, K = KB_kernel_size, "
                    "L = KB_length, M = L - K + 1; if (i >= KB_batch_size * O * M) return; "
                    "const uint b = i / (O * M), o = i / M % O, t = i % M; float s = 0.0; "
                    "for (uint c = 0; c < " +
                        channels + "; ++c) for (uint u = 0; u < K; ++u) { const int p = int(" +
                        place +
                        "); if (p >= 0 && p < int(L)) s += b0[(b * C + c) * L + uint(p)] * "
                        "b1[(o * C + c) * K + " +
                        tap + "]; } b2[i] = s;");
}

std::string product(const std::string& store, const std::string& end = "KB_K") {
  return one_kernel("level1/2", {"A", "B", "output"}, "M * N",
                    "if (i >= KB_M * KB_N) return; const uint r = i / KB_N, c = i % KB_N; "
                    "float s = 0.0; for (uint k = 0; k < " +
                        end + "; ++k) s += b0[r * KB_K + k] * b1[k * KB_N + c]; b2[" + store +
                        "] = s;");
}

std::vector<Fault> all_faults() {
  const std::string guard = "if (i >= n) return; ";
  return {
      // an operator that is missing
      {"a missing ReLU", gemm_relu("s + b2[c]"), "without relu"},
      {"a missing bias", gemm_relu("max(s, 0.0)"), "without add"},
      {"a missing scale", leaky("s > 0.0 ? s : 0.1 * s"), "without mul_scalar"},
      {"a bias added after the activation", gemm_relu("max(s, 0.0) + b2[c]"),
       "relu before add, not after it"},
      // an operator that is another
      {"ReLU for leaky ReLU", leaky("max(2.0 * s, 0.0)"), "relu in place of leaky_relu"},
      {"a slope of 0.01 for 0.1", leaky("s > 0.0 ? 2.0 * s : 0.01 * 2.0 * s"),
       "leaky_relu with slope 0.01, not 0.1"},
      {"a mean for a sum", column_sum("0", "n", "s / float(n)"), "mean in place of sum"},
      {"GELU by tanh",
       one_kernel(
           "level1/26", {"x", "output"}, "batch_size * dim",
           "if (i >= KB_batch_size * KB_dim) return; const float v = b0[i]; b1[i] = 0.5 * v * "
           "(1.0 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));"),
       "gelu by its tanh form"},
      {"a softmax that is not divided", row_softmax("exp(b0[i] - m)"),
       "softmax without the division by the sum"},
      {"a log-softmax for a softmax", row_softmax("b0[i] - m - log(s)"),
       "log_softmax in place of softmax"},
      {"an unbiased variance", batch_norm("n - 1.0"), "unbiased variance"},
      {"a norm without its bias", batch_norm("n", "1e-5", "0.0"), "without the bias of batch_norm"},
      // indices
      {"a weight read as its transpose", gemm_relu("max(s + b2[c], 0.0)", "k * N + c"),
       "linear with the weight read as its transpose"},
      {"an output stored transposed", product("c * KB_M + r"),
       "the right values transposed (axes 0 and 1)"},
      {"an input read one element further",
       relu(guard + "b1[i] = max(b0[min(i + 1, n - 1)], 0.0);"),
       "the element 1 further on along axis 1"},
      {"a convolution one element early", convolution("t + u) - int(1"), "one element too early"},
      {"a mirrored kernel", convolution("t + u", "K - 1 - u"), "with the kernel mirrored"},
      {"rows in reverse order",
       relu(guard + "b1[i] = max(b0[i / KB_dim * KB_dim + KB_dim - 1 - i % KB_dim], 0.0);"),
       "in reverse order along axis 1"},
      // loop bounds
      {"a sum that ends one early", column_sum("0", "n - 1"),
       "over the first 13 of 14 along axis 1"},
      {"a sum that begins at one", column_sum("1", "n"), "without the first element along axis 1"},
      {"a product over whole tiles of 16", product("i", "KB_K / 16 * 16"),
       "over the first 64 of 72 of the inner dimension"},
      {"half of the input channels", convolution("t + u", "u", "C / 2"),
       "over the first 4 of 8 input channels"},
      {"a scan without the element itself",
       one_kernel("level1/89", {"x", "output"}, "batch_size",
                  "if (i >= KB_batch_size) return; const uint n = KB_input_shape_0; float s = 0.0; "
                  "for (uint k = 0; k < n; ++k) { b1[i * n + k] = s; s += b0[i * n + k]; }"),
       "cumsum without the element itself"},
      // tails and tiles
      {"a group count that rounds down",
       relu(guard + "b1[i] = max(b0[i], 0.0);", "batch_size * dim / 64"),
       "never written: the last 16 of 400 along the flat index"},
      {"a tile with three of four columns",
       relu(guard + "b1[i] = i % 4 == 3 ? 0.5 : max(b0[i], 0.0);"), "index along axis 1 % 4 is 3"},
      {"the last row of each tile left at zero",
       one_kernel("level1/1", {"A", "B", "output"}, "N * N",
                  "const uint n = KB_N; if (i >= n * n) return; const uint r = i / n, c = i % n; "
                  "float s = 0.0; for (uint k = 0; k < n; ++k) s += b0[r * n + k] * b1[k * n + c]; "
                  "b2[i] = r % 8 == 7 ? 0.0 : s;"),
       "index along axis 0 % 8 is 7"},
      {"only the upper triangle",
       one_kernel("level1/1", {"A", "B", "output"}, "N * N",
                  "const uint n = KB_N; if (i >= n * n) return; const uint r = i / n, c = i % n; "
                  "float s = 0.0; for (uint k = 0; k < n; ++k) s += b0[r * n + k] * b1[k * n + c]; "
                  "b2[i] = c < r ? 0.0 : s;"),
       "what lies below the diagonal"},
      {"twice the result", relu(guard + "b1[i] = 2.0 * max(b0[i], 0.0);"),
       "the right value times 2"},
      // two faults at once
      {"a missing ReLU and a group count that rounds down",
       relu(guard + "b1[i] = b0[i];", "batch_size * dim / 64"), "without relu"},
      {"a missing ReLU and a missing bias", gemm_relu("s"), "without relu", false},
      {"a missing scale and a wrong slope", leaky("s > 0.0 ? s : 0.01 * s"), "without mul_scalar",
       false},
  };
}

}  // namespace

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> faults = all_faults();
    // By task, whose memory and baseline a judge keeps from one candidate to the next.
    const auto task = [](const Fault& fault) {
      const size_t at = fault.yaml.find("task: ");
      return fault.yaml.substr(at, fault.yaml.find('\n', at) - at);
    };
    std::stable_sort(faults.begin(), faults.end(),
                     [&](const Fault& a, const Fault& b) { return task(a) < task(b); });
    return faults;
  }();
  return all;
}

std::string one_kernel(const std::string& task, const std::vector<std::string>& bind,
                       const std::string& elements, const std::string& body,
                       const std::string& groups) {
  std::string yaml = "kbench: 1\ntask: " + task +
                     "\nkernels:\n  k:\n    source: |\n      #version 450\n"
                     "      layout(local_size_x = 64) in;\n";
  std::string names;
  for (size_t i = 0; i < bind.size(); ++i) {
    const std::string n = std::to_string(i);
    yaml += "      layout(binding = " + n + ") buffer B" + n + " { float b" + n + "[]; };\n";
    names += (i > 0 ? ", " : "") + bind[i];
  }
  return yaml + "      void main() {\n        const uint i = gl_GlobalInvocationID.x;\n        " +
         body + "\n      }\ndispatch:\n  - {kernel: k, bind: [" + names + "], groups: [\"" +
         (groups.empty() ? "ceil_div(" + elements + ", 64)" : groups) + "\"]}\n";
}

}  // namespace kbench::testing
