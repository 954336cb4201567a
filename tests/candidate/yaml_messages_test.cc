// YAML that does not mean what its author meant: what the messages say of it.
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::expect_error;

void refuse_text(const std::string& text, int line, int column, const std::string& message) {
  expect_error([&] { parse_candidate(text, "c.yaml", "."); }, line, column, message);
}

std::string with_source(const std::string& block) {
  return "kbench: 1\ntask: 1/19\nkernels:\n  relu:\n    source: |\n" + block +
         "dispatch:\n  - {kernel: relu, bind: [x, output], groups: 1}\n";
}

TEST(YamlMessages, SayThatALineOfTheShaderStandsLeftOfItsBlock) {
  const char* const kLeft = "'#version 450' stands left of the text of 'source: |' in line 5";
  refuse_text(with_source("#version 450\n      layout(x = 1) in;\n      void main() {}\n"), 6, 1,
              kLeft);
  refuse_text(with_source("#version 450\nlayout(x = 1) in;\nvoid main() {}\n"), 6, 1, kLeft);
  refuse_text(with_source("\n    #version 450\n    layout(x = 1) in;\n"), 7, 5, kLeft);
  refuse_text(with_source("      #version 450\n      int a;\n#define X\n      void main() {}\n"), 8,
              1, "'#define X' stands left");
  // Well-formed as far as YAML goes, and the line would be lost.
  refuse_text(with_source("      #version 450\n      #ifdef A\n      int a;\n#endif\n"), 9, 1,
              "'#endif' stands left");
  refuse_text(with_source("#version 450\n"), 6, 1, kLeft);
  EXPECT_NO_THROW(parse_candidate(
      with_source("      #version 450\n      void main() {}\n# if it is that simple\n"), "c", "."));
  refuse_text("kbench: 1\ntask: 1/19\nkernels: {relu: {source: \"  \"}}\n", 3, 26,
              "source is empty");
}

TEST(YamlMessages, CountTheLinesOfABlockThatHasAnAnchor) {
  const Candidate c = parse_candidate(
      "kbench: 1\ntask: 1/19\nkernels:\n  a:\n    source: &text |\n      #version 450\n"
      "  b:\n    source: *text\n"
      "dispatch:\n  - {kernel: a, bind: [output], groups: 1}\n",
      "c.yaml", ".");
  EXPECT_EQ(c.kernels[0].first_line, 6);
  EXPECT_EQ(c.kernels[1].first_line, 6);
  refuse_text(
      "kbench: 1\ntask: 1/19\nkernels:\n  a:\n    source: &text |-\n      #version 450\n#endif\n",
      7, 1, "'#endif' stands left");
}

TEST(YamlMessages, SayThatATabIndents) {
  const char* const kTab = "a tab indents this line, and YAML takes spaces only";
  refuse_text("kbench: 1\ntask: 1/19\nkernels:\n\trelu:\n\t\tsource: x\n", 4, 1, kTab);
  refuse_text("kbench: 1\ntask: 1/19\nkernels:\n  relu:\n\tsource: x\n", 5, 1, kTab);
  refuse_text(with_source("\t#version 450\n\tvoid main() {}\n"), 6, 1, kTab);
  refuse_text("kbench: 1\ntask: 1/19\ndispatch:\n  - op: relu\n  \tin: x\n", 5, 3, kTab);
  EXPECT_NO_THROW(
      parse_candidate(with_source("      #version 450\n      \tvoid main() {}\n"), "c", "."));
}

TEST(YamlMessages, SayThatAnExpressionWithACommaIsQuoted) {
  const char* const kQuote = "YAML ends a text at a comma";
  const auto step = [](const std::string& rest) {
    return "kbench: 1\ntask: 1/19\nkernels: {k: {source: x}}\ndispatch:\n  - {kernel: k, " + rest +
           "}\n";
  };
  const auto graph = build_graph(find_task({1, 19}), Preset::smoke);
  const Candidate list =
      parse_candidate(step("bind: [output], groups: [ceil_div(dim, 64), 1]"), "c.yaml", ".");
  expect_error([&] { resolve(list, *graph); }, 5, 42, kQuote);
  expect_error([&] { resolve(list, *graph); }, 5, 42, "as in \"ceil_div(a, b)\"");
  refuse_text(step("groups: ceil_div(dim, 64)"), 5, 39, kQuote);
  refuse_text(step("push: [{u32: ceil_div(dim, 64)}]"), 5, 44, kQuote);
  refuse_text("kbench: 1\ntask: 1/19\ndefines: {ld(b,i): b[i]}\n", 3, 21,
              "between { } and [ ] quote texts that hold , [ ] { } or :");
}

}  // namespace
}  // namespace kbench
