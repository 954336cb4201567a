#include "reference/registry.h"

#include <gtest/gtest.h>

#include "kbench/error.h"
#include "kbench/graph.h"

namespace kbench::reference {
namespace {

TEST(Registry, EveryOperatorThatIsNoViewHasAnImplementation) {
  for (const Operator* op : operators()) {
    if (op->is_view) continue;
    EXPECT_EQ(find_implementation(op->name).name, op->name);
  }
}

TEST(Registry, AnUnknownOperatorIsAnErrorThatNamesIt) {
  try {
    find_implementation("no_such_operator");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(error.message().find("no_such_operator"), std::string::npos);
  }
}

}  // namespace
}  // namespace kbench::reference
