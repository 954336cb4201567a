// Answers as models write them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kbench/extract.h"

namespace kbench::testing {

inline const std::string kManifestText =
    "kbench: 1\ntask: level1/19\nkernels:\n  relu: {file: relu.comp}\n";
inline const std::string kShaderText = "#version 450\nvoid main() {}\n";

inline std::string fence(const std::string& info, const std::string& text,
                         const std::string& mark = "```") {
  return mark + info + "\n" + text + mark + "\n";
}

/// An answer that keeps the contract.
inline std::string good_answer() {
  return "Here it is.\n\n" + fence("yaml", kManifestText) + "\n" +
         fence("glsl relu.comp", kShaderText) + "\nDone.\n";
}

inline Extraction extracted(const std::string& text, const std::string& finish = "stop") {
  Answer answer;
  answer.text = text;
  answer.finish = finish;
  return extract(answer, {1, 19});
}

/// Holds an answer to the usual two files.
inline void expect_relu(const Extraction& found) {
  EXPECT_EQ(found.outcome, Outcome::candidate) << found.explanation;
  ASSERT_EQ(found.files.size(), 2u) << found.explanation;
  EXPECT_EQ(found.files.at("candidate.yaml"), kManifestText);
  EXPECT_EQ(found.files.at("relu.comp"), kShaderText);
}

}  // namespace kbench::testing
