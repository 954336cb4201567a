// Files of honest errors in halves.
#include "libkbench/scoring/honest_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

HonestErrors example() {
  HonestErrors errors;
  errors[{1, 2}] = {.relative = 0.00123,
                    .rms = 0.000456,
                    .elements = 64,
                    .relative_of = "stored, at smoke",
                    .rms_of = "plain, at v0.1",
                    .undefined = {}};
  errors[{2, 65}].undefined = "its result leaves the type's range at v0.1";
  return errors;
}

TEST(HonestErrors, ComeBackAsTheyWereWritten) {
  const std::string text = to_json(example(), DType::f16);
  const HonestErrors read = parse_honest_errors(text, "x.json", DType::f16);
  EXPECT_EQ(to_json(read, DType::f16), text);
  EXPECT_DOUBLE_EQ(read.at({1, 2}).relative, 0.00123);
  EXPECT_EQ(read.at({1, 2}).elements, 64);
  EXPECT_EQ(read.at({1, 2}).rms_of, "plain, at v0.1");
  EXPECT_THAT(read.at({2, 65}).undefined, HasSubstr("range"));
}

TEST(HonestErrors, AFileOfTheOtherHalfIsRefused) {
  const Error e =
      error_of([&] { parse_honest_errors(to_json(example(), DType::f16), "x.json", DType::bf16); });
  EXPECT_EQ(e.code(), ErrorCode::kParse);
  EXPECT_THAT(e.what(), HasSubstr("x.json"));
  EXPECT_THAT(e.what(), HasSubstr("bf16"));
}

TEST(HonestErrors, OfTwoAuditsTheLargerErrorsAndTheSmallerOutputCount) {
  HonestError error = example().at({1, 2});
  merge(error, {.relative = 0.0001,
                .rms = 0.001,
                .elements = 8,
                .relative_of = "a",
                .rms_of = "b",
                .undefined = {}});
  EXPECT_DOUBLE_EQ(error.relative, 0.00123);
  EXPECT_EQ(error.relative_of, "stored, at smoke");
  EXPECT_DOUBLE_EQ(error.rms, 0.001);
  EXPECT_EQ(error.rms_of, "b");
  EXPECT_EQ(error.elements, 8);
}

TEST(HonestErrors, ATaskThatIsNotDefinedSaysWhy) {
  Task task;
  task.id = {2, 65};
  task.honest[DType::f16].undefined = "too large";
  EXPECT_NO_THROW(require_defined(task, DType::bf16));
  const Error e = error_of([&] { require_defined(task, DType::f16); });
  EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(e.what(), "level2/65 is not defined in float16: too large");
}

}  // namespace
}  // namespace kbench
