// What is said of right values that judge no candidate.
#include "reference/faults.h"

#include <gtest/gtest.h>

#include "kbench/ops.h"

namespace kbench::reference {
namespace {

const TaskId kTask{1, 1};

TEST(Faults, AreNoneWhereMasksAreInfiniteAndOutputsAreNot) {
  Graph g;
  const Value x = g.input("x", {4, 4});
  Tensor mask(DType::f32, {4, 4});
  mask.data<float>()[1] = -INFINITY;
  g.output(softmax(x + g.constant("mask", mask), 1));
  const ValueFaults faults = faults_of_values(g, kTask);
  EXPECT_EQ(faults.not_a_number, "");
  EXPECT_TRUE(faults.suspicious.empty());
}

TEST(Faults, NameTheOperatorThatMakesNaNOfInfiniteValuesOfAnother) {
  Graph g;
  const Value x = g.input("x", {4, 4});
  const Value large = exp(x * 1e5);
  g.output(large - large);
  EXPECT_NE(faults_of_values(g, kTask).not_a_number.find(
                "sub of v2, v2 (operator 3 of 3) makes them of infinite values, of which exp of v1 "
                "(operator 2 of 3) makes them"),
            std::string::npos)
      << faults_of_values(g, kTask).not_a_number;
}

TEST(Faults, AreInfiniteOutputsAndThoseThatNeverChange) {
  Graph g;
  const Value x = g.input("x", {4, 4});
  g.output(log(relu(x)));
  g.output(x - x);
  g.output(x);
  const ValueFaults faults = faults_of_values(g, kTask);
  EXPECT_EQ(faults.not_a_number, "");
  ASSERT_EQ(faults.suspicious.size(), 2u);
  EXPECT_NE(faults.suspicious[0].find("log of v1 (operator 2 of 3) makes them"), std::string::npos)
      << faults.suspicious[0];
  EXPECT_EQ(faults.suspicious[1], "output1 is always 0, whatever is computed");
}

}  // namespace
}  // namespace kbench::reference
