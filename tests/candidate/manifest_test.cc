// What a manifest says of kernels that others wrote: their macros, and numbers of the device; and
// what it must not say any more.

#include "kbench/ops.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using testing_support::expect_error;

class Manifest : public ::testing::Test {
 protected:
  Manifest()
      : graph_(Variables{
            {"rows", int64_t{6}}, {"slope", 0.5}, {"layers", std::vector<int64_t>{4, 3, 2}}}) {
    const Value x = graph_.input("x", {6, 8});
    const Value w = graph_.parameter("w", {8, 4});
    graph_.output(relu(matmul(x, w)));
  }

  const Candidate& parse(const std::string& body) {
    candidate_ = parse_candidate("kbench: 1\ntask: 1/1\n" + body, "c.yaml", ".");
    return candidate_;
  }
  ResolvedCandidate run(const std::string& body, const DeviceNumbers& device = {}) {
    return resolve(parse(body), graph_, device);
  }
  void refuse(const std::string& body, int line, int column, const std::string& message) {
    expect_error([&] { run(body); }, line, column, message);
  }
  /// One kernel and a step in line 6, column 5.
  static std::string step(const std::string& text, const std::string& temps = "") {
    return "kernels: {k: {source: x}}\ntemps: {t: {dtype: f32, shape: [4]}" + temps +
           "}\ndispatch:\n  - " + text + "\n  - {kernel: k, bind: [t, output], groups: 1}\n";
  }

  Graph graph_;
  Candidate candidate_;
};

TEST_F(Manifest, DefinesAreMacrosOfEveryKernelAndItsOwnWin) {
  const std::string body = R"yaml(constants: {TILE: 4}
defines: {A_TYPE: float, "ld( b , i )": "b[i]", WIDTH: 32, EMPTY: "", N: KB_rows, "zero()": 0.0}
kernels:
  g: {source: x}
  h: {source: x, language: hlsl, defines: {A_TYPE: float4, "ld(b)": b.Load(0)}}
  c: {source: x, language: cuda, entry: c}
  p: {source: x, language: ptx}
dispatch:
  - {kernel: g, bind: [output], groups: 1}
  - {kernel: h, bind: [output], groups: 1}
  - {kernel: c, bind: [output], grid: 1, block: 1}
  - {kernel: p, bind: [output], grid: 1, block: 1}
)yaml";
  const ResolvedCandidate r = run(body);
  const auto& macros = r.kernels[0].macros;
  EXPECT_THAT(macros, Contains(Pair("KB_rows", "6")));
  EXPECT_THAT(macros, Contains(Pair("TILE", "4")));
  EXPECT_THAT(macros, Contains(Pair("A_TYPE", "float")));
  EXPECT_THAT(macros, Contains(Pair("ld(b,i)", "b[i]")));
  EXPECT_THAT(macros, Contains(Pair("WIDTH", "32")));
  EXPECT_THAT(macros, Contains(Pair("EMPTY", "")));
  EXPECT_THAT(macros, Contains(Pair("N", "KB_rows")));
  EXPECT_THAT(macros, Contains(Pair("zero()", "0.0")));
  EXPECT_THAT(r.kernels[1].macros, Contains(Pair("A_TYPE", "float4")));
  EXPECT_THAT(r.kernels[1].macros, Contains(Pair("ld(b)", "b.Load(0)")));
  EXPECT_THAT(r.kernels[1].macros, Not(Contains(Pair("ld(b,i)", "b[i]"))));
  EXPECT_EQ(r.kernels[2].macros, macros);
  EXPECT_THAT(r.kernels[3].macros, Not(Contains(Pair("A_TYPE", "float"))));

  const std::string hash = candidate_.hash;
  std::string other = body;
  other.replace(other.find("b[i]"), 4, "b[0]");
  EXPECT_NE(parse(other).hash, hash);
}

TEST_F(Manifest, DefinesThatCannotBeAreErrorsWithTheirReason) {
  const auto top = [&](const std::string& define, int column, const std::string& message) {
    refuse("defines: {" + define +
               "}\nkernels: {k: {source: x}}\ndispatch:\n"
               "  - {kernel: k, bind: [output], groups: 1}\n",
           3, column, message);
  };
  top("KB_rows: 4", 11, "KB_ in front are the harness's own macros");
  top("GL_KHR_x: 1", 11, "the compiler's own");
  top("defined: 1", 11, "the compiler's own");
  top("2D: 1", 11, "'2D' cannot name a macro");
  top("\"ld (b)\": 1", 11, "cannot name a macro");
  top("\"ld(b,)\": 1", 11, "cannot name a macro");
  top("\"ld(b,b)\": 1", 11, "with different parameters");
  top("\"ld(b)c\": 1", 11, "cannot name a macro");
  top("\"ld(b, ...)\": 1", 11, "cannot name a macro");
  top("\"ld(b)\": 1, ld: 2", 23, "macro 'ld' twice");
  top("A: ", 11, "macro 'A' has no text; \"\" defines it as nothing");
  top("A: [1]", 14, "expected a text or number");
  top("A: \"1\\n#error\"", 15, "one line");
  top("A: 1 \\", 14, "one line");
  top("A: \"" + std::string(1001, 'x') + "\"", 15, "has 1001 bytes");
  refuse(
      "constants: {TILE: 4}\ndefines: {\"TILE(x)\": x}\nkernels: {k: {source: x}}\n"
      "dispatch:\n  - {kernel: k, bind: [output], groups: 1}\n",
      4, 22, "macro 'TILE' is a constant of kernel 'k' as well");
  refuse("kernels: {k: {source: x, language: ptx, defines: {A: 1}}}\ndispatch: []\n", 3, 41,
         "'defines' has no effect on PTX");
}

TEST_F(Manifest, DefinesOfAllKernelsTogetherAreBounded) {
  std::string body = "defines: {";
  for (int i = 0; i < 500; ++i) {
    body += "A" + std::to_string(i) + ": " + std::string(990, 'x') + ", ";
  }
  body += "}\nkernels:\n";
  std::string steps = "dispatch:\n";
  for (int i = 0; i < 40; ++i) {
    body += "  k" + std::to_string(i) + ": {source: x}\n";
    steps += "  - {kernel: k" + std::to_string(i) + ", bind: [output], groups: 1}\n";
  }
  refuse(body + steps, 38, 3, "a candidate's kernels can take 16777216 together");
}

TEST_F(Manifest, KeysThatTheFormatHadSayWhatToWriteInstead) {
  const auto kernel = [&](const std::string& key, const std::string& instead) {
    refuse("kernels: {k: {source: x, " + key + "}}\ndispatch: []\n", 3, 26,
           "is no key of the format any more: " + instead);
  };
  kernel("bindings: [t0]", "number the shader's buffers 0, 1, 2");
  kernel("preamble: x", "write its text into the shader");
  kernel("optimize: false", "leave it out");
  kernel("subgroup_size: 32", "leave it out, and ask gl_SubgroupSize");
  kernel("fast_math: true", "call the fast functions");
  kernel("configs: []", "give the best of them");
  const auto in_step = [&](const std::string& text, int column, const std::string& instead) {
    refuse(step(text), 6, column, "is no key of the format any more: " + instead);
  };
  in_step("{copy: x, to: output}", 6, "copy by a kernel, or by {op: cast");
  in_step("{fill: t, value: 0}", 6, "write the values by a kernel");
  in_step("{kernel: k, grid: 1, cluster: 2}", 26, "say it in the kernel: __cluster_dims__");
  in_step("{kernel: k, grid: 1, cooperative: true}", 26,
          "end the kernel where its grid would wait");
  const std::string whole = "bind the whole buffer";
  in_step("{kernel: k, groups: 1, bind: [{name: x, offset: 4}]}", 45, whole);
  in_step("{kernel: k, groups: 1, bind: [{name: x, length: 4}]}", 45, whole);
  in_step("{kernel: k, groups: 1, push: [{address: x, offset: 4}]}", 48, whole);
  refuse(step("{kernel: k, groups: 1, uniforms: {U: [{address: x}]}}"), 6, 43,
         "is no address: push it");
}

TEST_F(Manifest, OperatorsWriteOutputsAndTemporariesAlone) {
  const auto copy = [](const std::string& in, const std::string& out) {
    return "{op: cast, in: " + in + ", out: " + out + ", attributes: {dtype: f32}}";
  };
  refuse(step(copy("t", "output")), 6, 20, "'t' is read before any step has written it");
  refuse(step(copy("x", "w")), 6, 28, "a step cannot write to 'w'");
  refuse("temps: {t: {dtype: f32, shape: [8, 4]}}\nsetup: [" + copy("w", "t") +
             "]\ndispatch:\n  - " + copy("w", "t") + "\n",
         6, 28, "'t' is written by setup; dispatch can only read it");
  refuse("setup: [" + copy("x", "t") + "]\n" + step(copy("x", "t")), 3, 24,
         "setup sees parameters, constants and temporaries only");
}

TEST_F(Manifest, NumbersOfTheDeviceAreKnownWhereTheDeviceIs) {
  const std::string body =
      R"yaml(constants: {LANES: subgroup_size, ROWS: "max_compute_work_group_size[1] / 2"}
kernels: {k: {source: x}}
dispatch:
  - {kernel: k, bind: [output], groups: "ceil_div(48, LANES)", push: [{u32: log2(subgroup_size)}]}
)yaml";
  const ResolvedCandidate r = run(body, {{"subgroup_size", 16},
                                         {"max_compute_work_group_size_0", 64},
                                         {"max_compute_work_group_size_1", 1024}});
  EXPECT_EQ(r.dispatch[0].groups[0], 3u);
  EXPECT_EQ(static_cast<int>(r.dispatch[0].push[0]), 4);
  EXPECT_THAT(r.kernels[0].macros, Contains(Pair("LANES", "16")));
  EXPECT_THAT(r.kernels[0].macros, Contains(Pair("ROWS", "512")));
  const Error error = error_of([&] { run(body); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error.location().line, 3);
  EXPECT_THAT(error.message(),
              HasSubstr("'subgroup_size' is the device's, and no device is known here"));
  // A constant may have the name.
  const ResolvedCandidate own =
      run("constants: {subgroup_size: 8}\nkernels: {k: {source: x}}\ndispatch:\n"
          "  - {kernel: k, bind: [output], groups: subgroup_size}\n",
          {{"subgroup_size", 16}});
  EXPECT_EQ(own.dispatch[0].groups[0], 8u);
}

TEST_F(Manifest, ListVariablesHaveTheNamesThatShowPrints) {
  const ResolvedCandidate r = run(R"yaml(kernels: {k: {source: x}}
temps: {a: {dtype: f32, shape: layers}, b: {dtype: f32, shape: [rows, layers]}}
dispatch:
  - {kernel: k, bind: [a, b, output], groups: ["layers[0] * layers_1", "layers[2]"]}
)yaml");
  EXPECT_EQ(r.buffers[3].type.shape, (Shape{4, 3, 2}));
  EXPECT_EQ(r.buffers[4].type.shape, (Shape{6, 4, 3, 2}));
  EXPECT_THAT(r.dispatch[0].groups, ElementsAre(12u, 2u, 1u));
  const auto groups = [&](const std::string& expression, int column, const std::string& message) {
    refuse(step("{kernel: k, groups: \"" + expression + "\"}"), 6, column, message);
  };
  groups("layers", 26, "'layers' is a list: write layers[0] for its first element");
  groups("1 + layers[3]", 30, "unknown name 'layers_3'");
  groups("layers[rows]", 32, "'[' stands behind a list's name only");
  groups("layers[]", 32, "'[' stands behind a list's name only");
  groups("2 [1]", 28, "'[' stands behind a list's name only");
  groups("rows]", 30, "']' closes nothing");
}

}  // namespace
}  // namespace kbench
