#include "kbench/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

TEST(Graph, ErrorsNameOperatorAndShapes) {
  Graph g;
  auto a = g.input("a", {3, 5}), b = g.input("b", {7, 11});
  const std::string message = error_of([&] { matmul(a, b); }).what();
  EXPECT_THAT(message, HasSubstr("matmul"));
  EXPECT_THAT(message, HasSubstr("[3, 5]"));
  EXPECT_THAT(message, HasSubstr("[7, 11]"));
  EXPECT_THAT(
      error_of([&] {
        conv2d(g.input("x", {1, 3, 4, 4}), g.module("c"), {.out_channels = 2, .kernel = {5}});
      }).what(),
      HasSubstr("does not fit an input of 4"));
  EXPECT_THAT(error_of([&] { g.input("e", {3, 0}); }).what(), HasSubstr("empty"));
}

TEST(Graph, CountsFlopsAndLeastBytes) {
  Graph g;
  auto x = g.input("x", {3, 5});
  g.output(relu(linear(x, g.module("fc"), {.out = 7})));
  EXPECT_EQ(g.flops(), 3 * 7 * (2 * 5 + 1) + 3 * 7);
  EXPECT_EQ(g.least_bytes(), 4 * (3 * 5 + 7 * 5 + 7 + 3 * 7));
}

TEST(Graph, ModulesNameParametersAsAStateDictDoes) {
  Graph g;
  linear(g.input("x", {3, 5}), g.module("network").module("0"), {.out = 7});
  EXPECT_EQ(g.values()[1].name, "network.0.weight");
  EXPECT_EQ(g.values()[2].name, "network.0.bias");
}

TEST(Graph, RemembersWhichVariablesWereRead) {
  Graph g({{"n", int64_t{4}}, {"unused", int64_t{2}}, {"slope", 0.5}});
  g.output(leaky_relu(g.input("x", {g["n"]}), g.real("slope")));
  EXPECT_EQ(g.variables_read().size(), 2u);
  EXPECT_FALSE(g.variables_read().contains("unused"));
  EXPECT_THAT(error_of([&] { g["m"]; }).what(), HasSubstr("did you mean 'n'?"));
  EXPECT_THROW(g.list("n"), Error);
}

TEST(Graph, SeveralOutputsAreNumbered) {
  Graph g;
  auto x = g.input("x", {3});
  g.output(relu(x));
  EXPECT_EQ(g.output_name(0), "output");
  g.output(sigmoid(x));
  EXPECT_EQ(g.output_name(0), "output0");
  EXPECT_EQ(g.output_name(1), "output1");
}

}  // namespace
}  // namespace kbench
