// The main program of all tests: GoogleTest's, but for a filter of which a part names no test.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(t)->name());
    }
  }
  return names;
}

/// The first pattern of "A:B-C:D" that names no test of this program; "": each names one.
std::string pattern_of_none(std::string filter) {
  const std::vector<std::string> names = test_names();
  std::replace(filter.begin(), filter.end(), '-', ':');
  std::istringstream patterns(filter);
  for (std::string pattern; std::getline(patterns, pattern, ':');) {
    const bool named = std::ranges::any_of(names, [&](const std::string& name) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
    if (!named && !pattern.empty()) return pattern;
  }
  return "";
}

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  const std::string none = pattern_of_none(testing::GTEST_FLAG(filter));
  if (!none.empty()) {
    std::fprintf(stderr, "no test is named %s\n", none.c_str());
    return 1;
  }
  return RUN_ALL_TESTS();
}
