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

TEST(TextTable, CellsTakeSeveralLinesWhereLinesWouldBeTooLong) {
  const std::string name = "a name of very many words that goes on and on";
  EXPECT_EQ(text_table({{"set", "n"}, {name, "10"}}, Side::right, 30),
            "set                          n\n"
            "a name of very many words   10\n"
            "  that goes on and on\n");
  EXPECT_EQ(text_table({{"set", "note"}, {"a", "this_is a longer note"}}, Side::left, 20),
            "set  note\n"
            "a    this_is a\n"
            "     longer note\n");
}

TEST(TextTable, ColumnsThatDoNotFitStandInATableBelow) {
  const std::string wide(12, 'x');
  EXPECT_EQ(text_table({{"set", "first", "last"}, {"a", wide, wide}, {"b", "1"}}, Side::left, 20),
            "set  first\n"
            "a    " +
                wide +
                "\nb    1\n\n"
                "set  last\n"
                "a    " +
                wide + "\n");
}

TEST(BrokenLines, GoOnIndentedAndLoseNothing) {
  EXPECT_EQ(broken_lines("short\n\n  one two three four\n", 12),
            "short\n\n  one two\n      three\n      four\n");
  EXPECT_EQ(broken_lines("aaaaaaaaaaaaaaa", 10), "aaaaaaaaaa\n    aaaaa\n");
}

}  // namespace
}  // namespace kbench
