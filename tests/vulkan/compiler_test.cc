#include "harness/measure/vulkan/compiler.h"

#include <gmock/gmock.h>

#include "kbench/error.h"
#include "libkbench/base/compiler_messages.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader =
    "#version 450\n"
    "layout(local_size_x = 1) in;\n";

ShaderSource glsl(const std::string& text) {
  ShaderSource source;
  source.text = text;
  source.file = "kernels/scale.comp";
  return source;
}

CompileOutcome outcome_of(const ShaderSource& source) {
  static ShaderCompiler compiler;
  return compiler.compile(source);
}

TEST(ShaderCompiler, CompilesWithMacros) {
  ShaderSource source = glsl(std::string(kHeader) + "shared float tile[COUNT];\n" +
                             "void main() { tile[0] = VALUE; }\n");
  source.macros = {{"COUNT", "4"}, {"VALUE", "1.5"}};
  source.optimize = false;
  const CompileOutcome outcome = outcome_of(source);
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(inspect_spirv(outcome.spirv).shared_bytes, 16u);
  source.macros[0].second = "8";
  EXPECT_EQ(inspect_spirv(outcome_of(source).spirv).shared_bytes, 32u)
      << "other macros are another shader";
}

TEST(ShaderCompiler, AShaderWithoutAVersionIsOf450) {
  ShaderCompiler compiler;
  const char* const body =
      "layout(local_size_x = 1) in;\n"
      "layout(binding = 0) buffer A { float a[]; };\nvoid main() { a[0] = fma(a[1], a[2], a[3]); "
      "}\n";
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(compiler.compile(glsl(body)).ok());
  EXPECT_TRUE(
      compiler
          .compile(glsl("// a comment\n/* and\nanother */\n #  version 430\n" + std::string(body)))
          .ok());
  // glslang prints its built-in functions for versions that it has none for.
  for (const char* version : {"#version 110\n", "#version 140 core\n", "#version 300 es\n",
                              "#version\n", "int a;\n#version 450\n"}) {
    ShaderSource source = glsl(version + std::string(body));
    source.first_line = 7;
    const CompileOutcome outcome = compiler.compile(source);
    ASSERT_EQ(outcome.diagnostics.size(), 1u) << version;
    EXPECT_THAT(outcome.diagnostics[0].message, HasSubstr("#version")) << version;
    EXPECT_EQ(outcome.diagnostics[0].line, version[0] == 'i' ? 8 : 7) << version;
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(ShaderCompiler, CountsLinesFromWhereTheTextStands) {
  ShaderSource source = glsl(std::string(kHeader) + "void main() { missing = 1; }\n");
  source.file = "candidate.yaml";
  source.first_line = 41;
  const CompileOutcome outcome = outcome_of(source);
  ASSERT_FALSE(outcome.diagnostics.empty());
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.diagnostics.front().severity, "error");
  EXPECT_EQ(outcome.diagnostics.front().file, "candidate.yaml");
  EXPECT_EQ(outcome.diagnostics.front().line, 43);
  EXPECT_THAT(outcome.diagnostics.front().message, HasSubstr("missing"));
}

TEST(ShaderCompiler, ReportsEveryError) {
  const CompileOutcome outcome =
      outcome_of(glsl(std::string(kHeader) + "void main() {\n  first = 1;\n  second = 2;\n}\n"));
  std::vector<int> lines;
  for (const Diagnostic& each : outcome.diagnostics) {
    if (each.line > 0) lines.push_back(each.line);
  }
  EXPECT_THAT(lines, ::testing::ElementsAre(4, 5));
}

TEST(ShaderCompiler, AnErrorInAnIncludeKeepsTheIncludesOwnLines) {
  ShaderSource source = glsl(
      "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"helper.glsl\"\n"
      "layout(local_size_x = 1) in;\nvoid main() { alsoMissing = 1; }\n");
  source.first_line = 11;
  source.include = [](const std::string& name, const std::string& from) {
    EXPECT_EQ(from, "kernels/scale.comp");
    EXPECT_EQ(name, "helper.glsl");
    return std::pair(std::string("kernels/helper.glsl"),
                     std::string("\n\nfloat helper() { return missing; }\n"));
  };
  const CompileOutcome outcome = outcome_of(source);
  EXPECT_FALSE(outcome.ok());
  ASSERT_GE(outcome.diagnostics.size(), 2u);
  EXPECT_EQ(outcome.diagnostics[0].file, "kernels/helper.glsl");
  EXPECT_EQ(outcome.diagnostics[0].line, 3);
  const auto main_error =
      std::find_if(outcome.diagnostics.begin(), outcome.diagnostics.end(),
                   [](const Diagnostic& each) { return each.file == "kernels/scale.comp"; });
  ASSERT_NE(main_error, outcome.diagnostics.end());
  EXPECT_EQ(main_error->line, 15);
}

ShaderSource including(const std::string& name) {
  return glsl("#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"" + name +
              "\"\nlayout(local_size_x = 1) in;\nshared float tile[COUNT];\n"
              "void main() { tile[0] = 1; }\n");
}

TEST(ShaderCompiler, AMissingIncludeIsAnErrorThatNamesIt) {
  const CompileOutcome outcome = outcome_of(including("nowhere.glsl"));
  EXPECT_FALSE(outcome.ok());
  ASSERT_FALSE(outcome.diagnostics.empty());
  EXPECT_THAT(outcome.diagnostics.front().message, HasSubstr("nowhere.glsl"));
  EXPECT_EQ(outcome.diagnostics.front().line, 3);
}

TEST(ShaderCompiler, WhatTheIncluderThrowsBecomesTheDiagnostic) {
  ShaderSource source = including("../secret.glsl");
  source.include = [](const std::string&,
                      const std::string&) -> std::optional<std::pair<std::string, std::string>> {
    throw Error(ErrorCode::kIo, "it lies outside of the candidate's folder");
  };
  const CompileOutcome outcome = outcome_of(source);
  ASSERT_FALSE(outcome.diagnostics.empty());
  EXPECT_THAT(outcome.diagnostics.front().message, HasSubstr("outside of the candidate's folder"));
}

TEST(ShaderCompiler, AnIncludeOfItselfEnds) {
  ShaderSource source = including("self.glsl");
  source.include = [](const std::string& name, const std::string&) {
    return std::pair(name, std::string("#include \"self.glsl\"\n"));
  };
  const CompileOutcome outcome = outcome_of(source);
  EXPECT_FALSE(outcome.ok());
  EXPECT_FALSE(outcome.diagnostics.empty());
}

TEST(ShaderCompiler, AChangedIncludeIsCompiledAnew) {
  std::string content = "#define COUNT 4\n";
  int reads = 0;
  ShaderSource source = including("count.glsl");
  source.optimize = false;
  source.include = [&](const std::string& name, const std::string&) {
    ++reads;
    return std::pair(name, content);
  };
  ShaderCompiler compiler;
  const Spirv before = compiler.compile(source).spirv;
  EXPECT_EQ(compiler.compile(source).spirv, before);
  content = "#define COUNT 16\n";
  EXPECT_EQ(inspect_spirv(before).shared_bytes, 16u);
  EXPECT_EQ(inspect_spirv(compiler.compile(source).spirv).shared_bytes, 64u);
  EXPECT_GE(reads, 3);
}

TEST(ShaderCompiler, CompilesHlslWithItsOwnEntryPoint) {
  ShaderSource source;
  source.language = ShaderSource::Language::hlsl;
  source.file = "scale.hlsl";
  source.entry = "scale";
  source.text =
      "[[vk::binding(0, 0)]] RWStructuredBuffer<float> x;\n"
      "[[vk::binding(1, 0)]] RWStructuredBuffer<float> y;\n"
      "[numthreads(64, 1, 1)] void scale(uint3 id : SV_DispatchThreadID) {\n"
      "  y[id.x] = 2 * x[id.x];\n"
      "}\n";
  const CompileOutcome outcome = outcome_of(source);
  ASSERT_TRUE(outcome.ok()) << outcome.diagnostics.front().message;
  EXPECT_EQ(validate_spirv(outcome.spirv), "");
  const SpirvFacts facts = inspect_spirv(outcome.spirv);
  EXPECT_EQ(facts.local_size[0], 64u);
  EXPECT_THAT(facts.bindings, ::testing::ElementsAre(0, 1));
}

TEST(ShaderCompiler, HlslErrorsNameTheirLineToo) {
  ShaderSource source;
  source.language = ShaderSource::Language::hlsl;
  source.file = "broken.hlsl";
  source.text = "[numthreads(1, 1, 1)] void main() {\n  missing = 1;\n}\n";
  const CompileOutcome outcome = outcome_of(source);
  ASSERT_FALSE(outcome.diagnostics.empty());
  EXPECT_EQ(outcome.diagnostics.front().file, "broken.hlsl");
  EXPECT_EQ(outcome.diagnostics.front().line, 2);
}

TEST(ParseDiagnostics, ReadsSeverityFileLineAndContinuation) {
  const auto diagnostics = parse_diagnostics(
      "C:/k.comp:7: warning: 'x' : unused: really\nh.glsl: error: no version\nand more\n",
      "C:/k.comp", 10);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].severity, "warning");
  EXPECT_EQ(diagnostics[0].file, "C:/k.comp");
  EXPECT_EQ(diagnostics[0].line, 16);
  EXPECT_EQ(diagnostics[0].message, "'x' : unused: really");
  EXPECT_EQ(diagnostics[1].file, "h.glsl");
  EXPECT_EQ(diagnostics[1].line, 0);
  EXPECT_EQ(diagnostics[1].message, "no version and more");
}

TEST(ParseDiagnostics, LinesThatNoFileHasBecomeTheNearest) {
  const auto line_of = [](const std::string& number, int first_line) {
    return parse_diagnostics("k.comp:" + number + ": error: x\n", "k.comp", first_line).at(0).line;
  };
  EXPECT_EQ(line_of("2147483647", 10), 2147483647);
  EXPECT_EQ(line_of("2147483648", 10), 2147483647);
  EXPECT_EQ(line_of("99999999999999999999", 1), 2147483647);
  EXPECT_EQ(line_of("-5", 10), 0);
  EXPECT_EQ(line_of("-99999999999999999999", 10), 0);
}

TEST(ParseDiagnostics, WhatAShaderClaimsIsEscapedAndCut) {
  const auto diagnostics = parse_diagnostics(
      "/etc/\x1b[2J\u202epasswd:3: error: forged\rpassed " + std::string(100'000, 'z') + "\n",
      "k.comp", 1);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].file, "/etc/\\x1b[2J\\u202epasswd");
  EXPECT_EQ(diagnostics[0].message.size(), kMostMessageBytes);
  EXPECT_THAT(diagnostics[0].message, HasSubstr("forged\\x0dpassed"));
}

TEST(ParseDiagnostics, KeepsErrorsAmongVeryManyMessages) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "k.comp:1: warning: w\nand more of it\n";
  for (int i = 0; i < 30; ++i) text += "k.comp:2: error: e\n";
  const auto diagnostics = parse_diagnostics(text, "k.comp", 1);
  ASSERT_EQ(diagnostics.size(), kMostDiagnostics + 1);
  EXPECT_EQ(diagnostics[0].message, "w and more of it");
  EXPECT_EQ(diagnostics[24].message, "w and more of it");
  EXPECT_EQ(diagnostics[25].severity, "error");
  EXPECT_EQ(diagnostics.back().message, "980 more messages are left out");
}

TEST(EmbeddedShader, IsFoundByItsFileNameAlone) {
  const auto text = embedded_shader("void.comp");
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("void main()"));
  EXPECT_FALSE(embedded_shader("harness/measure/vulkan/shaders/void.comp"));
  const auto included = embedded_include("void.comp", "anything");
  ASSERT_TRUE(included);
  EXPECT_EQ(included->second, *text);
}

}  // namespace
}  // namespace kbench::vulkan
