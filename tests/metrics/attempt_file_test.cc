#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kbench/attempt.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/metrics/made_attempts.h"
#include "tests/scoring/temporary_file.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using testing::passed;
using testing::TemporaryFile;

/// A file of attempts that goes when the test does.
struct AttemptFile : TemporaryFile {
  explicit AttemptFile(const std::string& text) : TemporaryFile("attempts.jsonl") { write(text); }
};

std::string line(int sample) { return to_json(passed("m", {1, 19}, sample, 1.5)) + "\n"; }

std::string refusal(const std::string& text) {
  const AttemptFile file(text);
  return error_of([&] { read_attempts(file.path()); }).what();
}

TEST(FileOfAttempts, IsReadInItsOrderAndWhatIsNotThereIsEmpty) {
  const AttemptFile file(line(2) + "\n" + line(1) + line(3));
  const std::vector<Attempt> all = read_attempts(file.path());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sample, 2);
  EXPECT_EQ(all[2].sample, 3);
  EXPECT_TRUE(read_attempts(file.path() + ".not_there").empty());
}

TEST(FileOfAttempts, IgnoresATornLastLine) {
  EXPECT_EQ(read_attempts(AttemptFile(line(1) + line(2).substr(0, 40)).path()).size(), 1u);
  EXPECT_EQ(read_attempts(AttemptFile(line(1) + "{\"mo").path()).size(), 1u);
  EXPECT_EQ(read_attempts(AttemptFile(line(1) + std::string(3, '\0')).path()).size(), 1u);
  EXPECT_EQ(
      read_attempts(AttemptFile(line(1) + line(2).substr(0, 40) + std::string(9, '\0')).path())
          .size(),
      1u);
  std::string whole = line(2);
  whole.pop_back();
  EXPECT_EQ(read_attempts(AttemptFile(line(1) + whole).path()).size(), 2u);
}

TEST(FileOfAttempts, NamesTheLineThatIsMalformed) {
  EXPECT_THAT(refusal(line(1) + "{\"model\":1}\n" + line(2)), HasSubstr(":2: attempt."));
  EXPECT_THAT(refusal(line(1) + line(2).substr(0, 40) + "\n" + line(2)), HasSubstr(":2: is not"));
  EXPECT_THAT(refusal(line(1) + "a letter to my mother"), HasSubstr(":2: is not JSON"));
  EXPECT_THAT(refusal("{}\n"), HasSubstr(":1: attempt lacks field 'model'"));
}

TEST(FileOfAttempts, NamesTheFirstMalformedLineAcrossBlocks) {
  std::string text;
  int good = 0;
  for (; text.size() < (size_t{9} << 20); ++good) text += line(good + 1);
  EXPECT_THAT(refusal(text + "{}\n[]\n"), HasSubstr(":" + std::to_string(good + 1) + ": attempt"));
  const AttemptFile file(text);
  int next = 1;
  read_attempts(file.path(), [&](const Attempt& a) { EXPECT_EQ(a.sample, next++); });
  EXPECT_EQ(next, good + 1);
}

TEST(FileOfAttempts, FindsSingleOnesAgainByTheirPlace) {
  std::string text = line(1) + "\n\n";
  while (text.size() < size_t{5} << 20) text += line(7);  // over the end of a block
  std::string last = line(3);
  last.pop_back();
  const AttemptFile file(text + line(2) + last);
  std::vector<int64_t> places;
  std::vector<int> samples;
  read_attempts(file.path(), [&](const Attempt& a, int64_t place) {
    if (a.sample == 7) return;
    places.push_back(place);
    samples.push_back(a.sample);
  });
  ASSERT_THAT(samples, ::testing::ElementsAre(1, 2, 3));
  std::swap(places.front(), places.back());
  const std::vector<Attempt> again = read_attempts_at(file.path(), places);
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].sample, 3);
  EXPECT_EQ(again[1].sample, 2);
  EXPECT_EQ(again[2].sample, 1);
  EXPECT_THROW(read_attempts_at(file.path(), std::vector<int64_t>{5}), Error);
  EXPECT_THROW(read_attempts_at(file.path(), std::vector<int64_t>{int64_t{1} << 40}), Error);
  EXPECT_THROW(read_attempts_at(file.path() + ".not_there", std::vector<int64_t>{0}), Error);
  EXPECT_TRUE(read_attempts_at(file.path(), {}).empty());
}

TEST(FileOfAttempts, SaysWhyItCannotBeRead) {
  const Error e = error_of([&] { read_attempts("/"); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace kbench
