#include "kbench/variables.h"

#include <gtest/gtest.h>

#include "kbench/error.h"

namespace kbench {
namespace {

TEST(Assignment, ReadsNumbersAndLists) {
  EXPECT_EQ(parse_assignment("height=65").second, VariableValue(int64_t{65}));
  EXPECT_EQ(parse_assignment("slope=0.5").second, VariableValue(0.5));
  EXPECT_EQ(parse_assignment("bias_shape=[16, 1,1]").second,
            VariableValue(std::vector<int64_t>{16, 1, 1}));
  EXPECT_EQ(parse_assignment("n=-3").first, "n");
}

TEST(Assignment, RefusesAnythingElse) {
  for (const char* text : {"", "height", "=5", "h=", "h=x", "h=1x", "h=[1,]x", "h=[1,,2]"}) {
    EXPECT_THROW(parse_assignment(text), Error) << text;
  }
}

TEST(Variables, TextsRoundTrip) {
  for (const VariableValue& value :
       {VariableValue(int64_t{7}), VariableValue(2.0), VariableValue(1e-5),
        VariableValue(std::vector<int64_t>{1, -2})}) {
    EXPECT_EQ(parse_assignment("v=" + to_string(value)).second, value);
  }
}

TEST(Preset, NamesRoundTrip) {
  for (const Preset preset : kAllPresets) {
    EXPECT_EQ(preset_from_name(name_of(preset)), preset);
  }
  EXPECT_THROW(preset_from_name("v1"), Error);
}

}  // namespace
}  // namespace kbench
