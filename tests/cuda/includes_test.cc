#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/cuda/nvrtc.h"

namespace kbench::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CudaSource source_with(const std::string& text, std::map<std::string, std::string> files) {
  CudaSource source;
  source.text = text;
  source.file = "c/k.cu";
  source.include =
      [files](const std::string& name,
              const std::string& from) -> std::optional<std::pair<std::string, std::string>> {
    const std::string beside = from.substr(0, from.rfind('/') + 1) + name;
    for (const std::string& path : {beside, "c/" + name}) {
      if (files.contains(path)) return std::pair{path, files.at(path)};
    }
    return std::nullopt;
  };
  return source;
}

TEST(Includes, NameTheCandidatesFileByItsPath) {
  const Included all = resolve_includes(source_with(
      "#include \"sub/a.cuh\"\n  #  include <b.cuh> // x\nint k;",
      {{"c/sub/a.cuh", "#include \"b.cuh\"\n"}, {"c/sub/b.cuh", "1"}, {"c/b.cuh", "2"}}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.text, "#include \"c/sub/a.cuh\"\n  #  include \"c/b.cuh\" // x\nint k;");
  ASSERT_THAT(all.headers, SizeIs(3));
  EXPECT_EQ(all.headers.at("c/sub/a.cuh"), "#include \"c/sub/b.cuh\"\n");
  EXPECT_EQ(all.headers.at("c/sub/b.cuh"), "1");
}

TEST(Includes, OfTheToolkitStay) {
  const Included all = resolve_includes(source_with("#include <cuda_fp16.h>\n", {}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.text, "#include <cuda_fp16.h>\n");
}

TEST(Includes, ThatIncludeThemselvesEnd) {
  const Included all =
      resolve_includes(source_with("#include \"a.cuh\"\n", {{"c/a.cuh", "#include \"a.cuh\"\n"}}));
  EXPECT_THAT(all.errors, IsEmpty());
  EXPECT_EQ(all.headers.at("c/a.cuh"), "#include \"c/a.cuh\"\n");
}

TEST(Includes, OfAnythingElseAreRefused) {
  for (const char* text : {"#include NAME\n", "#include \"../x\"\n", "#include </etc/passwd>\n",
                           "#inc\\\nlude \"x\"\n", "%:include NAME\n", "#/**/include \"/x\"\n",
                           "#include \\\n\"/x\"\n"}) {
    const Included all = resolve_includes(source_with(std::string("int a;\n") + text, {}));
    ASSERT_THAT(all.errors, SizeIs(1)) << text;
    EXPECT_EQ(all.errors[0].line, 2) << text;
    EXPECT_THAT(all.errors[0].message, HasSubstr("#include")) << text;
  }
}

}  // namespace
}  // namespace kbench::cuda
