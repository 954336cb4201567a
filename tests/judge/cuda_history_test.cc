// Which kind of runner a candidate is expected to need.
#include "harness/measure/judge/cuda_history.h"

#include <gtest/gtest.h>

namespace kbench::judge {
namespace {

TEST(CudaHistory, ExpectsWhatTheFolderNeededLast) {
  CudaHistory history;
  EXPECT_FALSE(history.expected(std::string("sets/cuda/a.yaml")));
  history.note(std::string("sets/cuda/a.yaml"), true);
  history.note(std::string("sets/simple/a.yaml"), false);
  EXPECT_TRUE(history.expected(std::string("sets/./cuda/b.yaml")));
  EXPECT_FALSE(history.expected(std::string("sets/simple/b.yaml")));
  history.note(std::string("sets/cuda/b.yaml"), false);
  EXPECT_FALSE(history.expected(std::string("sets/cuda/a.yaml")));
}

TEST(CudaHistory, ExpectsInANewFolderWhatTheLastCandidateNeeded) {
  CudaHistory history;
  const CandidateSource in_memory(std::map<std::string, std::string>{{"candidate.yaml", "cuda"}});
  EXPECT_FALSE(history.expected(in_memory));  // Its text is not read.
  history.note(std::string("sets/cuda/a.yaml"), true);
  EXPECT_TRUE(history.expected(std::string("sets/new/a.yaml")));
  EXPECT_TRUE(history.expected(in_memory));
  history.note(in_memory, false);
  EXPECT_FALSE(history.expected(std::string("sets/new/a.yaml")));
}

}  // namespace
}  // namespace kbench::judge
