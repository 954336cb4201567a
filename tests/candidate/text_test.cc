#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"

namespace kbench {
namespace {

TEST(Shown, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "a b", "path\\with 'quotes' \"\"", "größe 数据 🙂"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Shown, EscapesWhatForgesLinesOrHides) {
  EXPECT_EQ(shown("a\nb\r\t"), "a\\x0ab\\x0d\\x09");
  EXPECT_EQ(shown("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(shown(std::string_view("\0z", 2)), "\\x00z");
  EXPECT_EQ(shown("\u202egnp.exe"), "\\u202egnp.exe");
  EXPECT_EQ(shown("a\u200bb\u2028c\u0085"), "a\\u200bb\\u2028c\\u0085");
  EXPECT_EQ(shown("\U000e0041"), "\\U000e0041");
}

TEST(Shown, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(shown("a\xff"), "a\\xff");
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(shown("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last code point
  EXPECT_EQ(shown("\xe2\x80"), "\\xe2\\x80");                    // torn
}

TEST(Shown, CutsLongTextInTheMiddle) {
  const std::string text = "begin" + std::string(3'000'000, 'x') + "end";
  const std::string cut = shown(text, 100);
  EXPECT_EQ(cut.size(), 100u);
  EXPECT_THAT(cut, ::testing::StartsWith("beginxxx"));
  EXPECT_THAT(cut, ::testing::EndsWith("xxend"));
  EXPECT_THAT(cut, ::testing::HasSubstr("x ... (3000008 bytes in all) ... x"));
  EXPECT_EQ(shown(text, 4), "begi");
}

TEST(Shown, IsNeverLongerThanAskedAndDoneOnce) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += i % 3 == 0 ? "🙂" : i % 3 == 1 ? "\xf0\x9f" : "\n";
    for (size_t most : {0, 1, 30, 31, 40, 57, 200}) {
      const std::string once = shown(text, most);
      ASSERT_LE(once.size(), most);
      ASSERT_EQ(shown(once, most), once);
    }
  }
}

}  // namespace
}  // namespace kbench
