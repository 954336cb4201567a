#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::expect_error;
using testing_support::parse;
using testing_support::ScratchFolder;

TEST(CandidateParse, ReadsEveryField) {
  ScratchFolder folder;
  folder.write("conv.comp", "#version 450\nvoid main() {}\n");
  const Candidate c = parse_candidate(R"yaml(kbench: 1
task: level2/1
name: tiled
author: somebody
description: one launch
constants: {TILE: 16, OUT_H: "height - kernel_size + 1"}
kernels:
  conv: {file: conv.comp, constants: {WIDE: 4}}
  relu:
    source: |
      #version 450
      void main() {}
    specialization: {0: TILE, 3: "2.5"}
  hl: {source: "[numthreads(1,1,1)] void go() {}", language: hlsl, entry: go}
temps:
  t0: {dtype: f32, shape: [batch_size, "OUT_H * 2"]}
setup:
  - {kernel: relu, bind: [conv.weight, t0], groups: 4}
dispatch:
  - kernel: conv
    bind: [x, 't0', output]
    push: [{u32: batch_size}, {i32: -1}, {f32: 0.5}, {u64: height}, {address: x}]
    groups: ["ceil_div(width, TILE)", 1, 2]
  - {kernel: hl, bind: [output], groups: [1]}
  - {op: matmul, in: [x, {name: t0, shape: [4, 4]}], out: output, attributes: {transpose_b: 1}}
)yaml",
                                      "set/c.yaml", folder.path());
  EXPECT_EQ(c.task, (TaskId{2, 1}));
  EXPECT_EQ(c.name, "tiled");
  EXPECT_EQ(c.author, "somebody");
  EXPECT_EQ(c.description, "one launch");
  ASSERT_EQ(c.constants.size(), 2u);
  EXPECT_EQ(c.constants[1].first, "OUT_H");
  EXPECT_EQ(c.constants[1].second.text, "height - kernel_size + 1");
  EXPECT_EQ(c.constants[1].second.at.line, 6);
  EXPECT_EQ(c.constants[1].second.at.column, 31);

  ASSERT_EQ(c.kernels.size(), 3u);
  const Kernel& conv = c.kernels[0];
  EXPECT_EQ(conv.file, folder.path("conv.comp"));
  EXPECT_EQ(conv.source, "#version 450\nvoid main() {}\n");
  EXPECT_EQ(conv.constants[0].first, "WIDE");
  const Kernel& relu = c.kernels[1];
  EXPECT_EQ(relu.file, "set/c.yaml");
  EXPECT_EQ(relu.first_line, 11);
  EXPECT_EQ(relu.source, "#version 450\nvoid main() {}\n");
  ASSERT_EQ(relu.specialization.size(), 2u);
  EXPECT_EQ(relu.specialization[1].first, 3u);
  EXPECT_EQ(relu.specialization[1].second.text, "2.5");
  EXPECT_EQ(c.kernels[2].language, Kernel::Language::hlsl);
  EXPECT_EQ(c.kernels[2].entry, "go");

  ASSERT_EQ(c.temporaries.size(), 1u);
  EXPECT_EQ(c.temporaries[0].dtype, DType::f32);
  EXPECT_EQ(c.temporaries[0].shape[1].text, "OUT_H * 2");
  ASSERT_EQ(c.setup.size(), 1u);
  EXPECT_EQ(c.setup[0].groups.size(), 1u);
  ASSERT_EQ(c.dispatch.size(), 3u);
  EXPECT_EQ(c.dispatch[0].bind[1].text, "t0");
  EXPECT_EQ(c.dispatch[0].push[4].kind, PushItem::Kind::address);
  EXPECT_EQ(c.dispatch[0].push[2].value.text, "0.5");
  EXPECT_EQ(c.dispatch[0].groups.size(), 3u);
  EXPECT_EQ(c.dispatch[2].op, "matmul");
  EXPECT_EQ(c.dispatch[2].in[1].name.text, "t0");
  EXPECT_EQ(c.dispatch[2].in[1].shape->size(), 2u);
  EXPECT_EQ(c.dispatch[2].out[0].name.text, "output");
  EXPECT_EQ(c.dispatch[2].attributes[0].name, "transpose_b");
  EXPECT_EQ(c.hash.size(), 64u);
}

struct Malformed {
  const char* name;
  const char* text;
  int line, column;
  const char* message;
};
void PrintTo(const Malformed& m, std::ostream* out) { *out << m.name; }

// Lines 1 to 4 of most cases; what follows begins in line 5.
#define HEAD "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: 'x'}\n"

const Malformed kMalformed[] = {
    {"empty", "", 1, 1, "the file is empty"},
    {"not_yaml", "kbench: 1\ntask: [1, 2\nkernels: 3\n", 3, 8, "not valid YAML"},
    {"tab", "kbench: 1\n\ttask: 3\n", 2, 1, "not valid YAML"},
    {"nested", "x: [[[[[[[[[[", 1, 1, "not valid YAML"},
    {"list", "- 1\n- 2\n", 1, 1, "the candidate: expected a map (key: value), found a list"},
    {"two_documents", "kbench: 1\n---\nkbench: 1\n", 2, 1,
     "expected one YAML document and nothing after it"},
    {"stray_text", "# c\n, though: x\nkbench: 1\n", 2, 1, "expected one YAML document"},
    {"unknown_key", HEAD "dispach: []\n", 5, 1,
     "unknown key 'dispach' in the candidate; did you mean 'dispatch'? (allowed: kbench, task,"},
    {"no_version", "task: 1/19\n", 1, 1, "missing key 'kbench'"},
    {"bad_version", "kbench: 2\n", 1, 9,
     "format version 2 is not known; this build reads version 1"},
    {"version_text", "kbench: one\n", 1, 9, "expected an integer, found 'one'"},
    {"no_task", "kbench: 1\n", 1, 1, "missing key 'task'"},
    {"bad_task", "kbench: 1\ntask: nothing\n", 2, 7, "'nothing' is not a task"},
    {"task_map", "kbench: 1\ntask: {a: 1}\n", 2, 7, "task: expected a text or number, found a map"},
    {"task_null", "kbench: 1\ntask:\nname: x\n", 3, 1,
     "task: expected a text or number, found nothing"},
    {"no_dispatch", HEAD, 1, 1, "missing key 'dispatch'"},
    {"empty_dispatch", HEAD "dispatch: []\n", 5, 11, "dispatch has no step"},
    {"dispatch_map", HEAD "dispatch: {kernel: k}\n", 5, 11,
     "dispatch: expected a list, found a map"},
    {"duplicate_key", "kbench: 1\ntask: 1/19\ntask: 1/20\n", 3, 1,
     "duplicate key 'task' in the candidate, first given in line 2"},
    {"duplicate_kernel", HEAD "  k: {source: 'y'}\n", 5, 3, "duplicate key 'k' in kernels"},
    {"duplicate_in_step", HEAD "dispatch:\n  - {kernel: k, groups: 1, groups: 2}\n", 6, 28,
     "duplicate key 'groups' in a step, first given in line 6"},
    {"kernel_key", "kbench: 1\ntask: 1/19\nkernels:\n  k: {sorce: 'x'}\n", 4, 7,
     "unknown key 'sorce' in kernel 'k'; did you mean 'source'?"},
    {"kernel_without_source", "kbench: 1\ntask: 1/19\nkernels:\n  k: {entry: main}\n", 4, 3,
     "kernel 'k' needs either 'file' or 'source'"},
    {"kernel_with_both", "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: x, file: y.comp}\n", 4, 3,
     "needs either 'file' or 'source'"},
    {"kernel_name", "kbench: 1\ntask: 1/19\nkernels:\n  'a b': {source: x}\n", 4, 3,
     "'a b' cannot name a kernel"},
    {"language", "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: x, language: wgsl}\n", 4, 28,
     "unknown language 'wgsl' (allowed: glsl, hlsl, cuda, ptx, triton)"},
    {"glsl_entry", "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: x, entry: go}\n", 4, 25,
     "a GLSL shader's entry point is always main"},
    {"folded_source", "kbench: 1\ntask: 1/19\nkernels:\n  k:\n    source: >\n      x\n", 5, 13,
     "'>' joins lines; use '|'"},
    {"specialization",
     "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: x, specialization: {a: 1}}\n", 4, 35,
     "expected a constant's number, found 'a'"},
    {"specialization_twice",
     "kbench: 1\ntask: 1/19\nkernels:\n  k: {source: x, specialization: {1: 1, 01: 2}}\n", 4, 41,
     "specialization constant 1 twice"},
    {"extension", "kbench: 1\ntask: 1/19\nkernels:\n  k: {file: k.cl}\n", 4, 13,
     "the name must end in .comp or .glsl (GLSL), .hlsl, .spv, .cu (CUDA C++), .ptx or .py "
     "(Triton)"},
    {"language_of_file", "kbench: 1\ntask: 1/19\nkernels:\n  k: {file: k.cl, language: opencl}\n",
     4, 29, "unknown language 'opencl' (allowed: glsl, hlsl, spirv, cuda, ptx, triton)"},
    {"constant_name", "kbench: 1\ntask: 1/19\nconstants: {2x: 1}\n", 3, 13,
     "'2x' cannot name a constant"},
    {"constant_reserved", "kbench: 1\ntask: 1/19\nconstants: {KB_x: 1}\n", 3, 13, "are reserved"},
    {"constant_function", "kbench: 1\ntask: 1/19\nconstants: {min: 1}\n", 3, 13,
     "constant 'min' has the name of a function"},
    {"constant_list", "kbench: 1\ntask: 1/19\nconstants: {A: [1]}\n", 3, 16,
     "constant 'A': expected a text or number, found a list"},
    {"temp_key", "kbench: 1\ntask: 1/19\ntemps:\n  t: {dtype: f32, shapes: [1]}\n", 4, 19,
     "unknown key 'shapes' in temporary 't'; did you mean 'shape'?"},
    {"temp_dtype", "kbench: 1\ntask: 1/19\ntemps:\n  t: {dtype: float, shape: [1]}\n", 4, 14,
     "unknown element type 'float'; known: f32, f64, i64, bool, f16, bf16, i32, u32, u8"},
    {"temp_shape", "kbench: 1\ntask: 1/19\ntemps:\n  t: {dtype: f32, shape: 4}\n", 4, 26,
     "shape: expected a list, found '4'"},
    {"step_neither", HEAD "dispatch:\n  - {bind: [x]}\n", 6, 5,
     "a step needs 'kernel' (one of yours), 'op' (a built-in operator), or 'steps'"},
    {"step_both", HEAD "dispatch:\n  - {kernel: k, op: relu, groups: 1}\n", 6, 17,
     "unknown key 'op' in a kernel step"},
    {"step_kernel", HEAD "dispatch:\n  - {kernel: kk, groups: 1}\n", 6, 14,
     "there is no kernel 'kk'; did you mean 'k'? (kernels: k)"},
    {"step_groups_missing", HEAD "dispatch:\n  - {kernel: k}\n", 6, 5,
     "missing key 'groups' in a kernel step"},
    {"step_groups_many", HEAD "dispatch:\n  - {kernel: k, groups: [1, 1, 1, 1]}\n", 6, 25,
     "groups: expected 1 to 3 expressions, found 4"},
    {"step_bind", HEAD "dispatch:\n  - {kernel: k, bind: x, groups: 1}\n", 6, 23,
     "bind: expected a list, found 'x'"},
    {"push_kind", HEAD "dispatch:\n  - {kernel: k, push: [{uint: 1}], groups: 1}\n", 6, 25,
     "unknown key 'uint' in a push constant"},
    {"push_two", HEAD "dispatch:\n  - {kernel: k, push: [{u32: 1, i32: 1}], groups: 1}\n", 6, 24,
     "a push constant is one of u32, i32, f32, u64, address"},
    {"op_name", HEAD "dispatch:\n  - {op: relo, in: x, out: output}\n", 6, 10,
     "there is no operator 'relo'; did you mean 'relu'?"},
    {"op_view", HEAD "dispatch:\n  - {op: reshape, in: x, out: output}\n", 6, 10,
     "only changes a shape"},
    {"op_missing_out", HEAD "dispatch:\n  - {op: relu, in: x}\n", 6, 5,
     "missing key 'out' in an operator step"},
    {"op_operand", HEAD "dispatch:\n  - {op: relu, in: {name: x}, out: output}\n", 6, 20,
     "missing key 'shape' in 'in'"},
};

class MalformedCandidate : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedCandidate, IsRefusedWithItsPlace) {
  const Malformed& m = GetParam();
  expect_error([&] { parse(m.text); }, m.line, m.column, m.message);
}

INSTANTIATE_TEST_SUITE_P(Table, MalformedCandidate, ::testing::ValuesIn(kMalformed),
                         [](const auto& info) { return info.param.name; });

TEST(CandidateParse, RefusesDeepNestingAndBinaryText) {
  expect_error([] { parse("x: " + std::string(100000, '[')); }, 1, 36,
               "nested too deeply: 64 levels are the most");
  expect_error([] { parse(std::string("kbench: 1\nta\0sk", 15)); }, 2, 1, "not a text file");
}

TEST(CandidateParse, ErrorsCarryTheFile) {
  const Error error = error_of([&] { parse_candidate("kbench: 9\n", "dir/my.yaml", "."); });
  EXPECT_EQ(error.code(), ErrorCode::kParse);
  EXPECT_THAT(error.what(), ::testing::StartsWith("dir/my.yaml:1:9: format version 9"));
}

}  // namespace
}  // namespace kbench
