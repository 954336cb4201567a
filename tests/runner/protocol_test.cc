// Every message between judge and runner survives encoding, and malformed ones are kParse.
#include "harness/measure/runner/protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::runner {
namespace {

/// Any value of each kind of message.
Opened opened() { return {"00112233", "landlock: ABI 7\n\"quoted\"\n"}; }
Load load() { return {"candidate.yaml", "a folder\n"}; }
ReadFile read_file() { return {"sub/kernel.comp"}; }
Loaded loaded() { return {{2, 76}, "hash", RunnerKind::torch, true, {"dim % 4 == 0"}}; }
Variables variables() {
  return {{"n", int64_t{-1} << 62}, {"p", 0.1}, {"k", std::vector<int64_t>{1, 2}}};
}
Build build() { return {{{2, 76}, "v0.1", variables()}, 2.5}; }
Prepare prepare() {
  return {{{1, 19}, "smoke", variables()}, ~uint64_t{0}, true, "/cache", "build device"};
}
Built built() {
  Built message;
  message.wanted = {{"t", DType::f32, ~uint64_t{0}, true},
                    {"u", DType::i64, 0, false, {1, 4294967295}}};
  message.has_setup = true;
  message.stack_bytes = 48;
  message.asks_lengths = true;
  message.float16_kernel = "half";
  message.compile_s = 0.125;
  message.diagnostics = {{"warning", "a.comp", 3, 7, "unused"}};
  message.launched_by = RunnerKind::cuda;
  message.version = "PyTorch 2";
  return message;
}
Attach attach() {
  Attach message;
  message.kept = {2, 0};
  message.slabs = {{uint64_t{1} << 40, 7, true}, {4096, 0, false}};
  message.given = {{0, 256, 1024}, {}, {1, 0, 4}};
  message.outputs = {{1, 65536, 8}};
  message.wanted = {{1, 3, 5}};
  message.more = true;
  return message;
}
Run run() { return {true, true, true, 10.5}; }
Ran ran() { return {1e5, 2.25}; }
Refused refused() {
  return {Verdict::compile_error, "does not compile", {{"error", "a.comp", 13, 2, "undeclared"}}};
}
Failed failed() { return {ErrorCode::kDeviceLost, "gone"}; }

/// Encodes the decoded message again, to see that every field is read.
template <class M>
M survive(const M& message) {
  const std::string payload = encode(message);
  const M back = decode<M>(payload);
  EXPECT_EQ(encode(back), payload);
  return back;
}

TEST(RunnerProtocol, EveryMessageSurvives) {
  EXPECT_EQ(survive(opened()).lock, opened().lock);
  EXPECT_EQ(survive(opened()).device_uuid, "00112233");
  EXPECT_EQ(survive(load()).manifest, "candidate.yaml");
  EXPECT_EQ(survive(load()).folder, "a folder\n");
  EXPECT_EQ(survive(read_file()).path, "sub/kernel.comp");
  EXPECT_EQ(survive(loaded()).task, (TaskId{2, 76}));
  EXPECT_EQ(survive(loaded()).hash, "hash");
  EXPECT_EQ(survive(build()).at, (TaskAt{{2, 76}, "v0.1", variables()}));
  EXPECT_EQ(survive(build()).seconds, 2.5);
  EXPECT_EQ(survive(prepare()).at, (TaskAt{{1, 19}, "smoke", variables()}));
  EXPECT_EQ(survive(prepare()).seed, ~uint64_t{0});
  EXPECT_TRUE(survive(prepare()).verified);
  EXPECT_EQ(survive(prepare()).cache_folder, "/cache");
  EXPECT_EQ(survive(prepare()).cache_subject, "build device");
  const Built b = survive(built());
  ASSERT_EQ(b.wanted.size(), 2u);
  EXPECT_EQ(b.wanted[0].bytes, ~uint64_t{0});
  EXPECT_TRUE(b.wanted[0].setup);
  EXPECT_EQ(b.wanted[1].dtype, DType::i64);
  EXPECT_TRUE(b.wanted[0].words.empty());
  EXPECT_EQ(b.wanted[1].words, (std::vector<uint32_t>{1, 4294967295}));
  EXPECT_TRUE(survive(Refused{Verdict::unsupported, "m", {}, true}).size);
  EXPECT_EQ(b.float16_kernel, "half");
  EXPECT_EQ(b.compile_s, 0.125);
  ASSERT_EQ(b.diagnostics.size(), 1u);
  EXPECT_EQ(b.diagnostics[0].line, 3);
  EXPECT_EQ(b.diagnostics[0].column, 7);
  const Attach a = survive(attach());
  ASSERT_EQ(a.slabs.size(), 2u);
  EXPECT_TRUE(a.slabs[0].read_only);
  EXPECT_EQ(a.slabs[0].memory_type, 7u);
  EXPECT_EQ(a.kept, attach().kept);
  EXPECT_EQ(a.given, attach().given);
  EXPECT_EQ(a.outputs, attach().outputs);
  EXPECT_EQ(a.wanted, attach().wanted);
  EXPECT_TRUE(a.more);
  EXPECT_TRUE(survive(run()).setup);
  EXPECT_EQ(survive(run()).seconds, 10.5);
  EXPECT_EQ(survive(ran()).flush_ns, 1e5);
  EXPECT_EQ(survive(ran()).run_ns, 2.25);
  EXPECT_EQ(survive(refused()).verdict, Verdict::compile_error);
  EXPECT_EQ(survive(refused()).diagnostics.at(0).message, "undeclared");
  EXPECT_EQ(survive(failed()).code, ErrorCode::kDeviceLost);
  EXPECT_EQ(survive(Profile{2.5}).seconds, 2.5);
  const Profiled profiled{{1e5, 0, 2.25}, {"", "copy", "relu"}};
  EXPECT_EQ(survive(profiled).step_ns, profiled.step_ns);
  EXPECT_EQ(survive(profiled).library, profiled.library);
  EXPECT_EQ(survive(loaded()).made_for, loaded().made_for);
  EXPECT_EQ(survive(Open{RunnerKind::torch}).kind, RunnerKind::torch);
  EXPECT_THROW(decode<Open>(R"({"kind": "opencl"})"), Error);
  survive(Attached{});
  EXPECT_TRUE(survive(Built{}).wanted.empty());
}

TEST(RunnerProtocol, KindsAreAllDifferent) {
  const std::set<MessageKind> kinds = {
      Opened::kKind,  Load::kKind,   ReadFile::kKind, File::kKind,     Loaded::kKind, Build::kKind,
      Prepare::kKind, Built::kKind,  Attach::kKind,   Attached::kKind, Run::kKind,    Ran::kKind,
      Refused::kKind, Failed::kKind, Profile::kKind,  Profiled::kKind, Open::kKind};
  EXPECT_EQ(kinds.size(), 17u);
}

TEST(RunnerProtocol, AFileHasAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  File file;
  file.found = true;
  file.bytes = bytes;
  EXPECT_EQ(survive(file).bytes, bytes);
  EXPECT_TRUE(survive(file).found);
  EXPECT_FALSE(survive(file).refused);
  file.bytes.clear();
  EXPECT_TRUE(survive(file).found);

  EXPECT_FALSE(survive(File{}).found);
  File no;
  no.refused = true;
  no.code = ErrorCode::kInvalidArgument;
  no.message = "a link\xff";
  EXPECT_TRUE(survive(no).refused);
  EXPECT_FALSE(survive(no).found);
  EXPECT_EQ(survive(no).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(survive(no).message, no.message);
}

void expect_parse_error(const std::function<void()>& read, const std::string& what) {
  EXPECT_EQ(code_of(read), ErrorCode::kParse) << what;
}

/// Prefixes of the message, and the message with each value replaced by others.
template <class M>
void expect_malformed(const M& message) {
  const std::string good = encode(message);
  for (size_t size = 0; size < good.size(); ++size) {
    expect_parse_error([&] { decode<M>(good.substr(0, size)); }, good.substr(0, size));
  }
  for (const char* text : {"", "[]", "null", "7", "\"\"", "{}x", "{", "\xff"}) {
    expect_parse_error([&] { decode<M>(text); }, text);
  }
  // Each field missing; names are between quotes and a colon.
  for (size_t at = good.find("\":"); at != good.npos; at = good.find("\":", at + 1)) {
    std::string renamed = good;
    const size_t begin = good.rfind('"', at - 1) + 1;
    if (variables().contains(good.substr(begin, at - begin))) continue;  // one of any name
    renamed[at - 1] = '_';
    expect_parse_error([&] { decode<M>(renamed); }, renamed);
  }
}

TEST(RunnerProtocol, MalformedMessagesAreParseErrors) {
  expect_malformed(opened());
  expect_malformed(load());
  expect_malformed(read_file());
  expect_malformed(loaded());
  expect_malformed(build());
  expect_malformed(prepare());
  expect_malformed(built());
  expect_malformed(attach());
  expect_malformed(run());
  expect_malformed(ran());
  expect_malformed(refused());
  expect_malformed(failed());
  expect_malformed(Profile{2.5});
  expect_malformed(Profiled{{1, 2}, {}});
  expect_parse_error([] { decode<File>(""); }, "no file");
  expect_parse_error([] { decode<File>("f"); }, "half a file");
  expect_parse_error(
      [] {
        decode<File>(
            "r\x7f"
            "no such error");
      },
      "an error of no kind");
}

TEST(RunnerProtocol, NumbersThatDoNotFitAreParseErrors) {
  for (const char* text : {
           R"({"flush_ns": 1, "run_ns": 1e999})",
           R"({"flush_ns": "1", "run_ns": 1})",
           R"({"flush_ns": null, "run_ns": 1})",
           R"({"flush_ns": true, "run_ns": 1})",
       }) {
    expect_parse_error([&] { decode<Ran>(text); }, text);
  }
  const auto attach_with = [](const std::string& slab, const std::string& place) {
    return R"({"kept":[],"given":[)" + place + R"(],"outputs":[],"slabs":[)" + slab +
           R"(],"wanted":[],"more":false})";
  };
  const std::string slab = R"({"bytes":1,"memory_type":0,"read_only":true})";
  EXPECT_EQ(decode<Attach>(attach_with(slab, "")).slabs.size(), 1u);
  for (const std::string& text :
       {attach_with(R"({"bytes":-1,"memory_type":0,"read_only":true})", ""),
        attach_with(R"({"bytes":1.5,"memory_type":0,"read_only":true})", ""),
        attach_with(R"({"bytes":18446744073709551616,"memory_type":0,"read_only":true})", ""),
        attach_with(R"({"bytes":1,"memory_type":4294967296,"read_only":true})", ""),
        attach_with(R"({"bytes":1,"memory_type":-1,"read_only":true})", ""),
        attach_with(R"({"bytes":1,"memory_type":0,"read_only":1})", ""),
        attach_with(slab, R"({"slab":2147483648,"offset":0,"bytes":1})"),
        attach_with(slab, R"({"slab":18446744073709551615,"offset":0,"bytes":1})"),
        attach_with(slab, R"({"slab":0,"offset":-1,"bytes":1})"), attach_with("7", "")}) {
    expect_parse_error([&] { decode<Attach>(text); }, text);
  }
  for (const char* code : {"-1", "12", "1e3", "\"kIo\"", "99999999999"}) {
    const std::string text = R"({"message":"","code":)" + std::string(code) + "}";
    expect_parse_error([&] { decode<Failed>(text); }, text);
  }
}

TEST(RunnerProtocol, NamesThatAreNoneAreParseErrors) {
  for (const char* task : {"level9", "", "level1/x", "level1/99999999999999999999"}) {
    const std::string text = R"({"hash":"","task":")" + std::string(task) + "\"}";
    expect_parse_error([&] { decode<Loaded>(text); }, text);
  }
  expect_parse_error([] { decode<Refused>(R"({"verdict":"good","message":"","diagnostics":[]})"); },
                     "a verdict");
  expect_parse_error(
      [] {
        decode<Built>(
            R"({"wanted":[{"name":"t","dtype":"f31","bytes":1,"setup":false}],)"
            R"("has_setup":false,"asks_lengths":false,"float16_kernel":"","compile_s":0,"diagnostics":[]})");
      },
      "a type");
}

TEST(RunnerProtocol, DeepNestingIsAnErrorAndNoOverflow) {
  expect_parse_error([] { decode<Ran>(std::string(1 << 16, '[')); }, "brackets");
  std::string nested = R"({"flush_ns":)";
  nested += std::string(30000, '[') + std::string(30000, ']') + R"(,"run_ns":1})";
  expect_parse_error([&] { decode<Ran>(nested); }, "nested");
}

}  // namespace
}  // namespace kbench::runner
