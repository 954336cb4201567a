// What a manifest says of kernels that others wrote: their macros, parts of buffers, copies, fills
// and numbers of the device.
#include <cstring>

#include "kbench/ops.h"
#include "tests/candidate/support.h"

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
    return resolve(parse(body), graph_, {}, device);
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

TEST_F(Manifest, PartsOfBuffersAreInElements) {
  const ResolvedCandidate r = run(R"yaml(kernels: {k: {source: x, constants: {HALF: rows * 4}}}
temps: {h: {dtype: f16, shape: [10]}}
dispatch:
  - kernel: k
    bind: [x, {name: x, offset: HALF}, {name: x, length: 3}, {name: h, offset: 4, length: rows}, output]
    push: [{u32: 1}, {address: x, offset: rows}, {address: output}]
    groups: 1
)yaml");
  const ResolvedStep& step = r.dispatch[0];
  ASSERT_EQ(step.ranges.size(), 5u);
  const uint64_t expected[][2] = {{0, 192}, {96, 96}, {0, 12}, {8, 12}, {0, 96}};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(step.ranges[i].offset, expected[i][0]) << i;
    EXPECT_EQ(step.ranges[i].bytes, expected[i][1]) << i;
  }
  uint64_t offset = 0;
  std::memcpy(&offset, step.push.data() + 8, 8);
  EXPECT_EQ(offset, 24u);
  std::memcpy(&offset, step.push.data() + 16, 8);
  EXPECT_EQ(offset, 0u);
  EXPECT_THAT(step.addresses, ElementsAre(Pair(8u, 0), Pair(16u, 2)));
}

TEST_F(Manifest, PointersOfCudaKernelsHaveOffsets) {
  const auto with = [](const std::string& rest) {
    return "kernels: {c: {source: x, language: cuda, entry: c}}\ndispatch:\n"
           "  - {kernel: c, grid: 1, block: 1, " +
           rest + "}\n";
  };
  const ResolvedCandidate r =
      run(with("bind: [{name: x, offset: 5}], args: [{name: output, offset: rows}]"));
  uint64_t offsets[2] = {};
  std::memcpy(offsets, r.dispatch[0].push.data(), sizeof offsets);
  EXPECT_THAT(offsets, ElementsAre(20u, 24u));
  refuse(with("bind: [{name: output, length: 5}]"), 5, 66, "a pointer has no length");
}

TEST_F(Manifest, PartsOutsideOfTheirBufferAreErrors) {
  const auto bind = [&](const std::string& part, int column, const std::string& message) {
    refuse(step("{kernel: k, groups: 1, bind: [" + part + "]}"), 6, column, message);
  };
  bind("{name: x, offset: 48}", 53, "an offset of 48 elements is outside of 'x', which has 48");
  bind("{name: x, offset: -1}", 53, "an offset must be 0 to");
  bind("{name: x, length: 0}", 53, "a length must be 1 to");
  bind("{name: x, offset: 40, length: 9}", 65,
       "9 elements from 40 on end behind 'x', which has 48");
  bind("{name: y, offset: 4}", 42, "there is no buffer 'y'");
  bind("{name: x, from: 4}", 45, "unknown key 'from' in a part of a buffer");
  bind("{offset: 4}", 35, "missing key 'name'");
  refuse(step("{kernel: k, groups: 1, push: [{address: x, offset: 48}]}"), 6, 56, "outside of 'x'");
  refuse(step("{kernel: k, groups: 1, push: [{u32: 1, offset: 48}]}"), 6, 35,
         "an address may have an offset");
}

TEST_F(Manifest, CopiesAndFillsHaveTheirRanges) {
  const ResolvedCandidate r = run(R"yaml(kernels: {k: {source: x}}
temps:
  t: {dtype: f32, shape: [100]}
  wide: {dtype: i64, shape: [2]}
  half: {dtype: f16, shape: [3]}
  brain: {dtype: bf16, shape: [2]}
  flags: {dtype: bool, shape: [4]}
  int: {dtype: i32, shape: [rows]}
  word: {dtype: u32, shape: [rows]}
  byte: {dtype: u8, shape: [7]}
setup: [{copy: w, to: {name: t, offset: 32}}]
dispatch:
  - {copy: {name: x, offset: 24}, to: output}
  - {copy: {name: output, offset: 8, length: 4}, to: {name: output, length: 4}}
  - {fill: output, value: -inf}
  - {fill: wide, value: rows * 1000000000}
  - {fill: half, value: 1.0 / 3}
  - {fill: brain, value: 1.0 / 3}
  - {fill: {name: flags, offset: 0, length: 4}, value: 1}
  - {fill: {name: output, offset: 1, length: 2}, value: slope}
  - {fill: int, value: 1 - rows}
  - {fill: word, value: 4294967295}
  - {fill: {name: byte, offset: 4}, value: 200}
)yaml"
                                  "  - {kernel: k, bind: [output, t], groups: 1}\n");
  EXPECT_TRUE(r.buffers[3].setup);
  EXPECT_EQ(r.setup[0].kind, Step::Kind::copy);
  EXPECT_THAT(r.setup[0].bind, ElementsAre(1, 3));
  EXPECT_EQ(r.setup[0].ranges[1].offset, 128u);
  EXPECT_EQ(r.setup[0].ranges[1].bytes, 128u);
  const auto& d = r.dispatch;
  EXPECT_THAT(d[0].bind, ElementsAre(0, 2));
  EXPECT_EQ(d[0].ranges[0].offset, 96u);
  EXPECT_EQ(d[0].ranges[1].bytes, 96u);
  EXPECT_EQ(d[0].kernel, -1);
  EXPECT_EQ(d[1].ranges[0].offset, 32u);
  EXPECT_EQ(d[1].ranges[1].bytes, 16u);
  EXPECT_EQ(d[2].fill, 0xff800000u);
  EXPECT_EQ(d[3].fill, 6000000000u);
  EXPECT_EQ(d[4].fill, 0x3555u);
  EXPECT_EQ(d[5].fill, 0x3eabu);
  EXPECT_EQ(d[6].fill, 1u);
  EXPECT_EQ(d[7].fill, 0x3f000000u);
  EXPECT_EQ(d[7].ranges[0].offset, 4u);
  EXPECT_EQ(d[7].ranges[0].bytes, 8u);
  EXPECT_EQ(d[8].fill, static_cast<uint32_t>(1 - r.buffers[8].type.shape[0]));
  EXPECT_EQ(d[8].ranges[0].bytes, static_cast<uint64_t>(4 * r.buffers[8].type.shape[0]));
  EXPECT_EQ(d[9].fill, 0xffffffffu);
  EXPECT_EQ(d[10].fill, 200u);
  EXPECT_EQ(d[10].ranges[0].offset, 4u);
  EXPECT_EQ(d[10].ranges[0].bytes, 3u);
}

TEST_F(Manifest, HalvesAreRoundedToNearestAndEven) {
  const std::pair<const char*, uint64_t> halves[] = {
      {"0", 0},
      {"1", 0x3c00},
      {"-2.5", 0xc100},
      {"65504", 0x7bff},
      {"65519.9", 0x7bff},
      {"1.00048828125", 0x3c00},  // halfway to the next: even
      {"1.00146484375", 0x3c02},
      {"6.1e-5", 0x03ff},
      {"5.9604644775390625e-8", 1},
      {"2.9e-8", 0},
      {"4094.9", 0x6bff},
      {"inf", 0x7c00}};
  for (const auto& [value, bits] : halves) {
    const auto r =
        run(step("{fill: h, value: " + std::string(value) + "}", ", h: {dtype: f16, shape: [2]}"));
    EXPECT_EQ(r.dispatch[0].fill, bits) << value;
  }
  refuse(step("{fill: h, value: 65520}", ", h: {dtype: f16, shape: [2]}"), 6, 22,
         "does not fit an f16");
  refuse(step("{fill: t, value: 1e39}"), 6, 22, "does not fit an f32");
  refuse(step("{fill: i, value: 0.5}", ", i: {dtype: i64, shape: [2]}"), 6, 22,
         "must be an integer");
  refuse(step("{fill: b, value: 2}", ", b: {dtype: bool, shape: [4]}"), 6, 22,
         "a bool must be 0 to 1");
  refuse(step("{fill: i, value: 2147483648}", ", i: {dtype: i32, shape: [4]}"), 6, 22,
         "an i32 must be");
  refuse(step("{fill: u, value: -1}", ", u: {dtype: u32, shape: [4]}"), 6, 22, "a u32 must be");
  refuse(step("{fill: b, value: 256}", ", b: {dtype: u8, shape: [4]}"), 6, 22,
         "a u8 must be 0 to 255");
}

TEST_F(Manifest, NothingButOutputsAndTemporariesIsWritten) {
  refuse(step("{copy: t, to: x}"), 6, 12, "'t' is read before any step has written it");
  refuse(step("{copy: w, to: x}"), 6, 19, "a step cannot write to 'x'");
  refuse(step("{copy: x, to: w}"), 6, 19, "a step cannot write to 'w'");
  refuse(step("{fill: x, value: 0}"), 6, 12, "a step cannot write to 'x'");
  refuse(step("{fill: {name: w, offset: 1}, value: 0}"), 6, 19, "a step cannot write to 'w'");
  refuse(
      "temps: {t: {dtype: f32, shape: [32]}}\nsetup: [{copy: w, to: t}]\n"
      "dispatch:\n  - {fill: t, value: 0}\n",
      6, 12, "'t' is written by setup; dispatch can only read it");
  refuse("setup: [{copy: x, to: t}]\n" + step("{fill: t, value: 0}"), 3, 16,
         "setup sees parameters, constants and temporaries only");
  refuse("dispatch: [{copy: x, to: output}]\n", 3, 26,
         "48 elements of 'x' are copied, but 24 of 'output' are there to take them");
  refuse(step("{copy: {name: x, length: 3}, to: {name: t, length: 2}}"), 6, 45,
         "3 elements of 'x' are copied, but 2 of 't'");
  refuse(step("{copy: x, to: i}", ", i: {dtype: i64, shape: [48]}"), 6, 19,
         "a copy keeps the type: 'x' is f32 [6, 8], 'i' is i64 [48]");
  refuse(
      "dispatch:\n  - {fill: output, value: 0}\n"
      "  - {copy: {name: output, length: 9}, to: {name: output, offset: 8}}\n",
      5, 50, "overlap");
  refuse(step("{fill: {name: h, offset: 1}, value: 0}", ", h: {dtype: f16, shape: [3]}"), 6, 19,
         "begins and ends at a multiple of 4 bytes, or at the end of the buffer");
  refuse(step("{fill: {name: h, length: 1}, value: 0}", ", h: {dtype: f16, shape: [3]}"), 6, 19,
         "this one takes bytes 0 to 2 of 'h', f16 [3]");
  refuse(step("{copy: x}"), 6, 5, "missing key 'to' in a copy");
  refuse(step("{fill: t}"), 6, 5, "missing key 'value' in a fill");
  refuse(step("{fill: t, value: 0, groups: 1}"), 6, 25, "unknown key 'groups' in a fill");
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
  try {
    run(body);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(error.location().line, 3);
    EXPECT_THAT(error.message(),
                HasSubstr("'subgroup_size' is the device's, and no device is known here"));
  }
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
