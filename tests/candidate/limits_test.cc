// Candidates that ask for too much, and candidates that forge what is shown about them.
#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "tests/candidate/support.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using testing_support::expect_error;

constexpr char kHead[] = "kbench: 1\ntask: 1/19\n";
constexpr char kKernel[] = "kernels: {k: {source: x}}\n";

/// "name0: VALUE, name1: VALUE, ".
std::string many(const std::string& name, const std::string& value, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += name + std::to_string(i) + ": " + value + ", ";
  return text;
}
std::string repeated(const std::string& text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

void refuse(const std::string& body, int line, int column, const std::string& message) {
  expect_error([&] { parse_candidate(kHead + body, "c.yaml", "."); }, line, column, message);
}

TEST(CandidateLimits, CountsEveryKindOfThing) {
  refuse("constants: {" + many("C", "1", limits::kConstants + 1) + "}\n", 3, 12,
         "constants: at most 512 are allowed, found 513");
  refuse("kernels: {" + many("k", "{source: x}", limits::kKernels + 1) + "}\n", 3, 1,
         "kernels: at most 1024 are allowed, found 1025");
  refuse("kernels: {k: {source: x, constants: {" + many("C", "1", limits::kConstants + 1) + "}}}\n",
         3, 37, "constants: at most 512");
  std::string ids;
  for (size_t i = 0; i <= limits::kSpecialization; ++i) ids += std::to_string(i) + ": 1, ";
  refuse("kernels: {k: {source: x, specialization: {" + ids + "}}}\n", 3, 42,
         "specialization: at most 256 are allowed, found 257");
  refuse("temps: {" + many("t", "{dtype: f32, shape: [1]}", limits::kTemporaries + 1) + "}\n", 3, 1,
         "temps: at most 1024");
  refuse("temps: {t: {dtype: f32, shape: [" + repeated("1, ", limits::kRank + 1) + "]}}\n", 3, 32,
         "an extent: at most 16 are allowed, found 17");
  const std::string step = std::string(kKernel) + "dispatch:\n  - {kernel: k, groups: 1, ";
  refuse(step + "bind: [" + repeated("x, ", limits::kBind + 1) + "]}\n", 5, 34,
         "a buffer's name: at most 256");
  refuse(step + "push: [" + repeated("{u32: 1}, ", limits::kPush + 1) + "]}\n", 5, 34,
         "push constants: at most 32");
  const std::string op = "dispatch:\n  - {op: relu, in: ";
  refuse(op + "[" + repeated("x, ", limits::kBind + 1) + "], out: y}\n", 4, 20, "in: at most 256");
  refuse(op + "x, out: y, attributes: {" + many("a", "1", limits::kAttributes + 1) + "}}\n", 4, 31,
         "attributes: at most 64");
  refuse(op + "x, out: y, attributes: {a: [" + repeated("1, ", limits::kRank + 1) + "]}}\n", 4, 47,
         "attribute 'a': at most 16");
}

TEST(CandidateLimits, CountsTheStepsOfBothLists) {
  const std::string half =
      "\n  - &s {kernel: k, groups: 1}\n" + repeated("  - *s\n", limits::kSteps / 2 - 1);
  const std::string both = std::string(kKernel) + "setup:" + half + "dispatch:" + half;
  EXPECT_EQ(parse_candidate(kHead + both, "c.yaml", ".").dispatch.size(), limits::kSteps / 2);
  refuse(both + "  - *s\n", static_cast<int>(limits::kSteps) / 2 + 5, 1,
         "steps of setup and dispatch: at most 16384 are allowed, found 16385");
}

TEST(CandidateLimits, AliasesCountAsWhatTheyRepeat) {
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1) + ", ";
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + repeated(last, 8) + "]\n";
  }
  refuse(bomb, 8, 35, "more than 262144 values, those that aliases repeat included");
  const std::string text = "d: &d " + std::string(300'000, 'x') + "\n";
  refuse(text + "l: [" + repeated("*d, ", 10) + "]\n", 4, 25, "more than 2097152 bytes of text");
  refuse("a: &a [*a]\n", 3, 8, "an alias stands inside what it repeats");
  const std::string step = "  - &s {kernel: k, bind: [&b output], groups: 1}\n  - *s\n";
  EXPECT_EQ(parse_candidate(std::string(kHead) + kKernel + "dispatch:\n" + step, "c.yaml", ".")
                .dispatch.size(),
            2u);
}

TEST(CandidateLimits, BoundsNestingAndNames) {
  refuse("x: " + std::string(63, '[') + std::string(63, ']') + "\n", 3, 1, "unknown key 'x'");
  refuse("x: " + std::string(64, '[') + std::string(64, ']') + "\n", 3, 67, "nested too deeply");
  const std::string longest(limits::kNameBytes, 'n');
  EXPECT_EQ(parse_candidate(kHead + ("name: " + longest + "\n") + kKernel +
                                "dispatch: [{kernel: k, groups: 1}]\n",
                            "c.yaml", ".")
                .name,
            longest);
  refuse("name: " + longest + "n\n", 3, 7, "name has 101 bytes; at most 100 are allowed");
  refuse("author: \"a\\e[2Jb\"\n", 3, 10,
         "author holds a character that cannot be shown: 'a\\x1b[2J");
  refuse("description: " + std::string(4097, 'd') + "\n", 3, 14, "description has 4097 bytes");
  refuse("kernels: {" + longest + "n: {source: x}}\n", 3, 11, "cannot name a kernel");
  refuse("constants: {\"A\\nB\": 1}\n", 3, 13, "'A\\x0aB' cannot name a constant");
  refuse("kernels: {k: {source: x, language: hlsl, entry: \"a\\rb\"}}\n", 3, 50,
         "entry holds a character");
}

TEST(CandidateLimits, MessagesAreOneShortLineWhateverTheyQuote) {
  std::string forged = "\"x\\n\\x1b[31mpassed\\u202e" + std::string(50'000, 'z') + "\"";
  for (const std::string& body :
       {forged + ": 1\n", "kernels: {k: {source: x, " + forged + ": 1}}\n",
        std::string(kKernel) + "dispatch: [{kernel: " + forged + ", groups: 1}]\n",
        "dispatch: [{op: " + forged + ", in: x, out: y}]\n",
        "temps: {t: {dtype: " + forged + ", shape: [1]}}\n",
        "kernels: {k: {file: " + forged + "}}\n",
        "kernels: {k: {source: x, specialization: {" + forged + ": 1}}}\n"}) {
    const Error error = error_of([&] { parse_candidate(kHead + body, "dir\n/c.yaml", "."); });
    const std::string what = error.what();
    EXPECT_LT(what.size(), 3000u) << body.substr(0, 60);
    EXPECT_EQ(what, shown(what, what.size())) << body.substr(0, 60);
    EXPECT_THAT(what, ::testing::StartsWith("dir\\x0a/c.yaml:"));
  }
}

TEST(CandidateLimits, ListsOnlySomeOfVeryManyNames) {
  refuse("kernels: {" + many("k", "{source: x}", 1000) + "}\ndispatch: [{kernel: z, groups: 1}]\n",
         4, 21, "and 976 more)");
}

class ResolveLimits : public ::testing::Test {
 protected:
  void refuse(const std::string& body, int line, int column, const std::string& message) {
    candidate_ = parse_candidate(kHead + body, "c.yaml", ".");
    const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
    expect_error([&] { resolve(candidate_, *graph); }, line, column, message);
  }
  Candidate candidate_;
};

TEST_F(ResolveLimits, BoundsTheMacrosOfAllKernels) {
  refuse("constants: {" + many("C", "1", limits::kConstants) + "}\nkernels: {" +
             many("k", "{source: x}", 300) + "}\ndispatch: [{kernel: k0, groups: 1}]\n",
         4, 4708, "macros; a candidate's kernels can have 131072 together");
}

TEST_F(ResolveLimits, TemporariesNearTheEndOfIntegersAreErrors) {
  const std::string steps = std::string(kKernel) + "dispatch: [{kernel: k, groups: 1}]\n";
  const std::string most = "9007199254740991";
  refuse("temps: {t: {dtype: f32, shape: [" + most + "]}}\n" + steps, 3, 9,
         "larger than any memory");
  refuse("temps: {t: {dtype: bool, shape: [" + most + ", 1024]}}\n" + steps, 3, 9,
         "larger than any memory");
  refuse("temps: {t: {dtype: bool, shape: [" + most + ", 1025]}}\n" + steps, 3, 9,
         "larger than any memory");
  refuse("temps: {t: {dtype: f64, shape: [2199023255553]}}\n" + steps, 3, 9, "larger than any");
  refuse("temps: {t: {dtype: f32, shape: [9007199254740992]}}\n" + steps, 3, 33,
         "must be an integer, but is 9007199254740992");
}

TEST_F(ResolveLimits, NumbersThatFitNoFloatAreErrors) {
  const auto step = [](const std::string& push) {
    return std::string(kKernel) + "dispatch: [{kernel: k, groups: 1, push: [{f32: \"" + push +
           "\"}]}]\n";
  };
  refuse(step("1e39"), 4, 49, "an f32: '1e39' does not fit a 32-bit float");
  refuse(step("0 - 1e308"), 4, 49, "does not fit a 32-bit float");
  refuse(step("1e308 * 10"), 4, 49, "is not finite");
}

TEST_F(ResolveLimits, AttributesAreBounded) {
  refuse("dispatch: [{op: sum, in: x, out: output, attributes: {axis: 4503599627370496}}]\n", 3, 61,
         "an attribute must be -2147483647 to 2147483647");
}

}  // namespace
}  // namespace kbench
