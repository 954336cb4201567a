// Which kind of runner a candidate is expected to need.
#include <gtest/gtest.h>

#include "harness/measure/judge/candidate_build.h"

namespace kbench::judge {
namespace {

constexpr Needs kTorch{.kind = runner::RunnerKind::torch};

TEST(NeedsHistory, ExpectsWhatTheFolderNeededLast) {
  NeedsHistory history;
  EXPECT_EQ(history.expected(std::string("sets/torch/a.yaml")), Needs{});
  history.note(std::string("sets/torch/a.yaml"), kTorch);
  history.note(std::string("sets/simple/a.yaml"), {});
  EXPECT_EQ(history.expected(std::string("sets/./torch/b.yaml")), kTorch);
  EXPECT_EQ(history.expected(std::string("sets/simple/b.yaml")), Needs{});
  history.note(std::string("sets/torch/b.yaml"), {});
  EXPECT_EQ(history.expected(std::string("sets/torch/a.yaml")), Needs{});
}

TEST(NeedsHistory, ExpectsInANewFolderWhatTheLastCandidateNeeded) {
  NeedsHistory history;
  const CandidateSource in_memory(std::map<std::string, std::string>{{"candidate.yaml", "torch"}});
  EXPECT_EQ(history.expected(in_memory), Needs{});  // Its text is not read.
  history.note(std::string("sets/torch/a.yaml"), kTorch);
  EXPECT_EQ(history.expected(std::string("sets/new/a.yaml")), kTorch);
  EXPECT_EQ(history.expected(in_memory), kTorch);
  history.note(in_memory, {});
  EXPECT_EQ(history.expected(std::string("sets/new/a.yaml")), Needs{});
}

TEST(NeedsHistory, KnowsAModelNewByItsName) {
  NeedsHistory history;
  history.note(std::string("sets/mixed/a.yaml"), kTorch);
  const Needs torch{.kind = runner::RunnerKind::torch, .python = true};
  EXPECT_EQ(history.expected(std::string("sets/mixed/b.py")), torch);
  EXPECT_EQ(history.expected(std::string("sets/mixed/b.yaml")), kTorch);
}

}  // namespace
}  // namespace kbench::judge
