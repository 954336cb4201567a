#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kbench/error.h"
#include "kbench/result.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Opponent, HasTheNameThatItIsReadFrom) {
  EXPECT_THAT(opponent_from_name("eager").ways, IsEmpty());
  EXPECT_EQ(name_of(Opponent{}), "eager");
  for (const std::string_view way : pytorch_ways()) {
    const Opponent alone = opponent_from_name(way);
    EXPECT_THAT(alone.ways, ElementsAre(std::string(way)));
    EXPECT_EQ(name_of(alone), way);
  }
  EXPECT_THAT(opponent_from_name("best").ways, ElementsAre("torch", "torch.compile"));
  EXPECT_EQ(name_of(opponent_from_name("best")), "best");
}

TEST(Opponent, TheBestOfSeveralIsOneQuestionInAnyOrder) {
  const Opponent best = opponent_from_name("best:torch.compile:max-autotune,torch");
  EXPECT_THAT(best.ways, ElementsAre("torch", "torch.compile:max-autotune"));
  EXPECT_EQ(name_of(best), "best:torch,torch.compile:max-autotune");
  EXPECT_EQ(opponent_from_name(name_of(best)), best);
  EXPECT_EQ(opponent_from_name("best:torch.compile,torch,torch"), opponent_from_name("best"));
  EXPECT_EQ(opponent_from_name("best:torch"), opponent_from_name("torch"));
}

TEST(Opponent, WithTf32ItIsAnother) {
  const Opponent with = opponent_from_name("torch+tf32");
  EXPECT_THAT(with.ways, ElementsAre("torch"));
  EXPECT_NE(with, opponent_from_name("torch"));
  for (const char* name :
       {"torch+tf32", "best+tf32", "best:torch,torch.compile:max-autotune+tf32"}) {
    EXPECT_EQ(name_of(opponent_from_name(name)), name);
  }
}

TEST(Opponent, WhatThereIsNoneOfIsNamedBesideThoseThatThereAre) {
  for (const char* name :
       {"jax", "", "best:", "best:torch,", "best:eager", "best:best", "torch,torch.compile",
        "torch.compile:", "torch.compile:fast", "eager+tf32", "+tf32", "torch+tf32+tf32"}) {
    const Error error = error_of([&] { opponent_from_name(name); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << name;
    EXPECT_THAT(error.message(), HasSubstr("torch.compile:reduce-overhead")) << name;
  }
  EXPECT_THAT(error_of([] { opponent_from_name("best:torch,torch.compile:fast"); }).message(),
              HasSubstr("there is no opponent 'torch.compile:fast'"));
}

}  // namespace
}  // namespace kbench
