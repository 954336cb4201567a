// Every message between judge and runner survives encoding, and malformed ones are kParse. That
// each field is written, and read as what it is, tests/scoring/json_fields_test.cc shows of all
// structs whose fields are listed.
#include "harness/measure/runner/protocol.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::runner {
namespace {

template <class M>
void expect_parse_error(const std::string& payload) {
  EXPECT_EQ(code_of([&] { decode<M>(payload); }), ErrorCode::kParse) << payload;
}

/// The message comes back as it was; its prefixes, and it with a field missing, are refused.
/// Returns its payload.
template <class M>
std::string survive(const M& message) {
  const std::string payload = encode(message);
  EXPECT_EQ(encode(decode<M>(payload)), payload);
  for (size_t size = 0; size < payload.size(); ++size) {
    expect_parse_error<M>(payload.substr(0, size));
  }
  // Names are between quotes and a colon.
  for (size_t at = payload.find("\":"); at != payload.npos; at = payload.find("\":", at + 1)) {
    if (payload[at - 1] == 'n' && payload[at - 2] == '"') continue;  // a variable, of any name
    std::string renamed = payload;
    renamed[at - 1] = '_';
    expect_parse_error<M>(renamed);
  }
  return payload;
}

TEST(RunnerProtocol, EveryMessageSurvives) {
  const TaskAt at = {{2, 76}, "v0.1", {{"n", std::vector<int64_t>{int64_t{-1} << 62, 2}}}};
  const std::vector<Diagnostic> diagnostics = {{"warning", "a.comp", 3, 7, "unused"}};
  survive(Open{RunnerKind::torch});
  survive(Opened{"00112233", "landlock: ABI 7\n\"quoted\"\n", 1234});
  survive(Load{"candidate.yaml", "a folder\n"});
  survive(ReadFile{"sub/kernel.comp"});
  survive(Loaded{{2, 76}, "hash", RunnerKind::torch, true, {"dim % 4 == 0"}});
  survive(Build{at, 2.5, true, true});
  survive(Prepare{at, ~uint64_t{0}, true});
  Built built;
  built.wanted = {{"t", DType::f32, ~uint64_t{0}, true},
                  {"u", DType::i64, 0, false, {1, 4294967295}}};
  built.diagnostics = diagnostics;
  built.launched_by = RunnerKind::cuda;
  survive(built);
  survive(Attach{{2, 0},
                 {{uint64_t{1} << 40, 7, true}, {4096, 0, false}},
                 {{0, 256, 1024}, {}, {1, 0, 4}},
                 {{1, 65536, 8}},
                 {{1, 3, 5}},
                 true});
  survive(Attached{});
  survive(runner::Run{true, true, true, 10.5});
  survive(Ran{1e5, 2.25});
  survive(Profile{2.5, false});
  survive(Profiled{{1e5, 0, 2.25}, {"", "copy", "relu"}});
  survive(Refused{Verdict::compile_error, "does not compile", diagnostics, true});
  survive(Failed{ErrorCode::kDeviceLost, "gone"});
  survive(Forget{});
  survive(Forgotten{});
}

TEST(RunnerProtocol, KindsAreAllDifferent) {
  const std::set<MessageKind> kinds = {
      Opened::kKind,      Load::kKind,      ReadFile::kKind, File::kKind,   Loaded::kKind,
      Build::kKind,       Prepare::kKind,   Built::kKind,    Attach::kKind, Attached::kKind,
      runner::Run::kKind, Ran::kKind,       Refused::kKind,  Failed::kKind, Profile::kKind,
      Forget::kKind,      Forgotten::kKind, Profiled::kKind, Open::kKind};
  EXPECT_EQ(kinds.size(), 19u);
}

TEST(RunnerProtocol, AFileHasAnyBytes) {
  File file;
  file.found = true;
  for (int i = 0; i < 256; ++i) file.bytes += static_cast<char>(i);
  const File back = decode<File>(encode(file));
  EXPECT_EQ(back.bytes, file.bytes);
  EXPECT_TRUE(back.found);
  EXPECT_FALSE(back.refused);
  file.bytes.clear();
  EXPECT_TRUE(decode<File>(encode(file)).found);
  EXPECT_FALSE(decode<File>(encode(File{})).found);

  File no;
  no.refused = true;
  no.code = ErrorCode::kInvalidArgument;
  no.message = "a link\xff";
  const File refused = decode<File>(encode(no));
  EXPECT_TRUE(refused.refused && !refused.found);
  EXPECT_EQ(refused.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.message, no.message);
}

TEST(RunnerProtocol, WhatIsNoMessageIsAParseError) {
  for (const char* text :
       {"", "[]", "null", "7", "\"\"", "{}x", "{", "\xff", R"({"flush_ns": 1, "run_ns": 1e999})"}) {
    expect_parse_error<Ran>(text);
  }
  for (const char* file : {"", "f",
                           "r\x7f"
                           "no such error"})
    expect_parse_error<File>(file);
  for (const char* code : {"-1", "12", "1e3", "\"kIo\"", "99999999999"}) {
    expect_parse_error<Failed>(R"({"message":"","code":)" + std::string(code) + "}");
  }
  expect_parse_error<Open>(R"({"kind": "opencl"})");
  const std::string loaded = survive(Loaded{{1, 19}, "", RunnerKind::eager, false, {}});
  for (const char* task : {"level9", "", "level1/x", "level1/99999999999999999999"}) {
    std::string wrong = loaded;
    expect_parse_error<Loaded>(wrong.replace(wrong.find("level1/19"), 9, task));
  }
  Built built;
  built.wanted = {{"t", DType::f32}};
  std::string type = survive(built);
  expect_parse_error<Built>(type.replace(type.find("f32"), 3, "f31"));
}

TEST(RunnerProtocol, DeepNestingIsAnErrorAndNoOverflow) {
  expect_parse_error<Ran>(std::string(1 << 16, '['));
  expect_parse_error<Ran>(R"({"flush_ns":)" + std::string(30000, '[') + std::string(30000, ']') +
                          R"(,"run_ns":1})");
}

}  // namespace
}  // namespace kbench::runner
