// What the candidate tests share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kbench/candidate.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace kbench::testing_support {

using testing::ScratchFolder;

/// Runs f, which must throw a kbench::Error at that place with that text in its message.
template <class F>
void expect_error(F f, int line, int column, const std::string& message) {
  const Error error = error_of(f);
  EXPECT_EQ(error.location().line, line) << error.what();
  EXPECT_EQ(error.location().column, column) << error.what();
  EXPECT_THAT(error.message(), ::testing::HasSubstr(message));
  EXPECT_EQ(error.message().find('\n'), std::string::npos) << error.what();
}

inline Candidate parse(const std::string& text) { return parse_candidate(text, "c.yaml", "."); }

}  // namespace kbench::testing_support
