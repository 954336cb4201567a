// A PTX kernel with the lines that a test is about, and what the rules say of it.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "harness/measure/cuda/ptx_rules.h"

namespace kbench::cuda {

/// A module with one kernel `k` of two pointers, in %rd1 and %rd2; `before` stands outside of it.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + before +
         "\n.visible .entry k(.param .u64 x, .param .u64 y) {\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.reg .b64 "
         "%SP;\n"
         "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\n" +
         body + "\nret;\n}\n";
}

inline std::optional<PtxViolation> check(const std::string& text) {
  return check_ptx(parse_ptx(text));
}
inline void expect_passes(const std::string& body, const std::string& before = "") {
  const auto violation = check(kernel(body, before));
  EXPECT_FALSE(violation) << body << ": " << violation->message;
}
inline void expect_refused(const std::string& body, const std::string& words,
                           const std::string& before = "") {
  const auto violation = check(kernel(body, before));
  ASSERT_TRUE(violation) << body;
  EXPECT_THAT(violation->message, ::testing::HasSubstr(words)) << body;
}

}  // namespace kbench::cuda
