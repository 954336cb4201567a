// docs/candidate-format.md promises that its worked example works: take it out and resolve it. It
// and its reference name every key.
#include "tests/candidate/format_doc.h"

#include "kbench/task.h"
#include "tests/candidate/support.h"

namespace kbench {
namespace {

using testing_support::documented_files;
using testing_support::file_text;
using testing_support::ScratchFolder;

TEST(FormatDocument, WorkedExampleResolvesAtEveryPreset) {
  const auto blocks = documented_files(KBENCH_FORMAT_DOC);
  ASSERT_TRUE(blocks.contains("candidate.yaml"));
  ASSERT_GE(blocks.size(), 2u);
  ScratchFolder folder;
  for (const auto& [name, text] : blocks) folder.write(name, text);
  const Candidate candidate = load_candidate(folder.path());
  const Task& task = find_task(candidate.task);
  for (const Preset preset : kAllPresets) {
    const auto graph = build_graph(task, preset);
    EXPECT_FALSE(resolve(candidate, *graph).dispatch.empty());
  }
}

TEST(FormatDocument, NamesEveryKeyAndFunction) {
  const std::string text = file_text(KBENCH_FORMAT_DOC) + file_text(KBENCH_FORMAT_REFERENCE) +
                           file_text(KBENCH_CUDA_DOC);
  for (const char* word : {"kbench",    "task",    "name",     "author", "description",
                           "constants", "kernels", "temps",    "setup",  "dispatch",
                           "file",      "source",  "language", "entry",  "specialization",
                           "dtype",     "shape",   "kernel",   "bind",   "push",
                           "groups",    "op",      "in",       "out",    "attributes",
                           "u32",       "i32",     "f32",      "u64",    "address",
                           "min",       "max",     "ceil_div", "align",  "pow2",
                           "glsl",      "hlsl",    "cuda",     "ptx",    "grid",
                           "block",     "shared",  "args",     "i64",    "f64",
                           "bool",      "defines", "log2",     "sqrt",   "ceil_log2",
                           "uniforms",  "repeat",  "steps",    "data"}) {
    EXPECT_NE(text.find("`" + std::string(word)), std::string::npos) << word;
  }
  for (std::string name : device_number_names()) {
    if (name.ends_with("_0")) name.replace(name.size() - 2, 2, "[i]");
    if (name.ends_with("_1") || name.ends_with("_2")) continue;  // of the same list
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace kbench
