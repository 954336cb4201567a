// The script that translates Triton kernels, run with a module that stands in for Triton; and what
// is made of answers.
#include "harness/measure/cuda/triton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "kbench/error.h"
#include "tests/candidate/support.h"

namespace kbench::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing_support::ScratchFolder;

constexpr const char* kModule =
    "import triton\n"
    "import triton.language as tl\n"
    "print('a candidate may print')\n"
    "\n"
    "@triton.jit\n"
    "def relu(x, y, n, stride, BLOCK: tl.constexpr, KEEP: tl.constexpr = 7):\n"
    "    pass\n";

class TritonScript : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null") !=
        0) {
      GTEST_SKIP() << "no python3 on this machine";
    }
  }

  TritonAnswer translate(TritonRequest request, const std::string& module,
                         const std::string& modules = FAKE_TRITON) {
    request.path = folder_.path("kernel.py");
    request.device = {9, 0};
    folder_.write("kernel.py", module);
    folder_.write("script.py", std::string(triton_script()));
    folder_.write("request.json", encode(request));
    const std::string command = "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='" + modules + "' python3 '" +
                                folder_.path("script.py") + "' <'" + folder_.path("request.json") +
                                "' 3>'" + folder_.path("answer.json") + "' >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream file(folder_.path("answer.json"));
    const std::string answer{std::istreambuf_iterator<char>(file), {}};
    return decode_triton_answer(answer, request);
  }

  static TritonRequest request() {
    TritonRequest request;
    request.arguments = {{"*fp32", true, false},
                         {"*fp32", true, false},
                         {"i32", false, false},
                         {"i32", false, true}};
    request.constants = {{"BLOCK", "1024"}, {"UNUSED", "0.5"}};
    request.num_warps = 8;
    return request;
  }

  ScratchFolder folder_;
};

TEST_F(TritonScript, SpecializesAsTritonDoesAndMakesPtx) {
  const TritonAnswer answer = translate(request(), kModule);
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_EQ(answer.entry, "relu");
  EXPECT_EQ(answer.shared_bytes, 4096u);
  EXPECT_EQ(answer.num_warps, 8u);
  EXPECT_THAT(answer.kept, ElementsAre(true, true, true, false));
  EXPECT_THAT(answer.ptx, HasSubstr("'stride': 1"));
  EXPECT_THAT(answer.ptx, HasSubstr("'BLOCK': 1024"));
  EXPECT_THAT(answer.ptx, HasSubstr("'KEEP': 7"));
  EXPECT_THAT(answer.ptx, HasSubstr("// cuda 90 32"));
  EXPECT_THAT(answer.ptx, HasSubstr("(1,): [['tt.divisibility', 16]]"));
  const PtxModule module = parse_ptx(answer.ptx);
  EXPECT_FALSE(check_ptx(module));
  EXPECT_THAT(module.find_entry("relu")->parameters, SizeIs(5));
}

TEST_F(TritonScript, SaysWhatIsWrongWithParametersAndConstants) {
  TritonRequest few = request();
  few.arguments.pop_back();
  EXPECT_THAT(translate(few, kModule).message, HasSubstr("takes more parameters than the 3"));
  TritonRequest many = request();
  many.arguments.push_back({"i32", false, false});
  const TritonAnswer answer = translate(many, kModule);
  EXPECT_TRUE(answer.invalid);
  EXPECT_THAT(answer.message, HasSubstr("takes 4 parameters, but its step gives 5"));
  TritonRequest without = request();
  without.constants.clear();
  EXPECT_THAT(translate(without, kModule).message, HasSubstr("the constant 'BLOCK'"));
  TritonRequest named = request();
  named.entry = "gelu";
  EXPECT_THAT(translate(named, kModule).message, HasSubstr("no @triton.jit function 'gelu'"));
}

TEST_F(TritonScript, NamesTheLineOfWhatFails) {
  const TritonAnswer syntax = translate(request(), "import triton\ndef (\n");
  EXPECT_FALSE(syntax.ok() || syntax.invalid || syntax.unsupported);
  EXPECT_EQ(syntax.line, 2);
  const TritonAnswer raised = translate(request(), "import triton\n\nraise SystemExit(3)\n");
  EXPECT_EQ(raised.line, 3);
  EXPECT_THAT(raised.message, HasSubstr("SystemExit"));
  const TritonAnswer compiled =
      translate(request(),
                "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                "def does_not_compile(x, y, n, m, BLOCK: tl.constexpr):\n    nothing()\n");
  EXPECT_EQ(compiled.line, 6);
  EXPECT_THAT(compiled.message, HasSubstr("it does not compile"));
}

TEST_F(TritonScript, IsUnsupportedWithoutTritonAndWithScratchMemory) {
  EXPECT_TRUE(translate(request(), kModule, "/nowhere").unsupported);
  const TritonAnswer scratch =
      translate(request(),
                "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                "def scratch(x, y, n, m, BLOCK: tl.constexpr):\n    pass\n");
  EXPECT_TRUE(scratch.unsupported);
  EXPECT_FALSE(scratch.ok());
}

TEST(TritonAnswer, OfAnyTextIsAnErrorAndNoMore) {
  const TritonRequest one = {
      .path = "", .entry = "", .arguments = {{}}, .constants = {}, .device = {}};
  for (const char* text : {"", "1", "[]", "{}", "{\"verdict\": 1}", "{\"ptx\": 1}",
                           "{\"ptx\": \"\", \"entry\": \"k\", \"shared\": 0, \"num_warps\": 4, "
                           "\"kept\": [true], \"scratch\": 0}",
                           "{\"ptx\": \"x\", \"entry\": \"k\", \"shared\": -1, \"num_warps\": 4, "
                           "\"kept\": [true], \"scratch\": 0}",
                           "{\"ptx\": \"x\", \"entry\": \"k\", \"shared\": 1, \"num_warps\": 4000, "
                           "\"kept\": [true], \"scratch\": 0}",
                           "{\"ptx\": \"x\", \"entry\": \"k\", \"shared\": 1, \"num_warps\": 4, "
                           "\"kept\": [], \"scratch\": 0}"}) {
    EXPECT_THROW(decode_triton_answer(text, one), Error) << text;
  }
  const TritonAnswer shown = decode_triton_answer(
      "{\"verdict\": \"compile_error\", \"message\": \"a\\u001b[31m\", \"line\": 3}", one);
  EXPECT_EQ(shown.message.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown.line, 3);
}

TEST(TritonRequest, GivesConstantsAsNumbersWhereTheyAre) {
  TritonRequest request;
  request.constants = {{"A", "3000000000u"}, {"B", "(-3)"}, {"C", "0.5"}, {"D", "1099511627776L"}};
  EXPECT_THAT(encode(request),
              HasSubstr("\"constants\":{\"A\":3000000000,\"B\":-3,\"C\":0.5,\"D\":1099511627776}"));
}

}  // namespace
}  // namespace kbench::cuda
