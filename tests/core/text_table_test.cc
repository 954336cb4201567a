#include <gtest/gtest.h>

#include "libkbench/base/text.h"

namespace kbench {
namespace {

TEST(TextTable, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(text_table({{"set", "n", "note"}, {"a", "10", "x"}}, Side::left),
            "set  n   note\n"
            "a    10  x\n");
  EXPECT_EQ(text_table({{"set", "n", "note"}, {"a", "10", "x"}}, Side::right),
            "set   n  note\n"
            "a    10     x\n");
}

TEST(TextTable, RowsMayBeShortAndLinesEndWithoutBlanks) {
  EXPECT_EQ(text_table({{"a", "b"}, {"long"}, {}, {"", ""}}, Side::left), "a     b\nlong\n\n\n");
  EXPECT_EQ(text_table({}, Side::right), "");
}

}  // namespace
}  // namespace kbench
