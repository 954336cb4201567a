// Shortcuts by fewer bits.
#include "tests/diagnose/rules.h"

namespace kbench {
namespace {

double rounded(double x, int bits) {
  const double place = std::ldexp(1, std::ilogb(x) - bits);
  return std::nearbyint(x / place) * place;
}

TEST(PrecisionRules, RoundBothOperandsOfAProductAndNoBias) {
  const SmallGraph g({{3, 5}, {4, 5}, {4}},
                     [](auto x) { return std::vector<Value>{linear(x[0], x[1], x[2])}; });
  const Tensor &x = g.given.at("x0"), &w = g.given.at("x1"), &b = g.given.at("x2");
  for (const auto& [format, bits] :
       std::map<std::string, int>{{"float16", 10}, {"bfloat16", 7}, {"tf32", 10}}) {
    const Tensor y = g.with(round_operands, "@ with operands rounded to " + format)[0];
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        double sum = b.at(j);
        for (int64_t k = 0; k < 5; ++k) {
          sum += rounded(x.at(i * 5 + k), bits) * rounded(w.at(j * 5 + k), bits);
        }
        EXPECT_NEAR(y.at(i * 4 + j), sum, 1e-12);
      }
    }
  }
}

TEST(PrecisionRules, RoundResults) {
  const SmallGraph g({{3, 5}}, [](auto x) { return std::vector<Value>{exp(x[0])}; });
  const Tensor truth = g.truth()[0];
  const Tensor y = g.with(round_results, "@ with its result rounded to bfloat16")[0];
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(y.at(i), rounded(static_cast<float>(truth.at(i)), 7));
  }
}

/// What is read from the task's input is stored in fewer bits; what comes from a node is not.
TEST(PrecisionRules, RoundInputsWhereTheyAreRead) {
  const SmallGraph g({{3, 5}},
                     [](auto x) { return std::vector<Value>{relu(reshape(x[0], {15}))}; });
  const Tensor y = g.with(round_operands, "@ with operands rounded to float16")[0];
  for (int64_t i = 0; i < 15; ++i) {
    EXPECT_EQ(y.at(i), std::max(0.0, rounded(g.given.at("x0").at(i), 10)));
  }
  const SmallGraph later({{3, 5}}, [](auto x) { return std::vector<Value>{relu(exp(x[0]))}; });
  EXPECT_TRUE(found(round_operands, later.graph, 1).empty());
}

/// With one step there are no states between steps; with several they matter.
TEST(PrecisionRules, RoundTheStatesBetweenSteps) {
  const int64_t hidden = 3;
  for (const std::string op : {"lstm", "gru"}) {
    for (const int64_t batch_first : {0, 1}) {
      std::vector<Shape> shapes = {{4, 4, 5}, {2, 4, hidden}};
      if (op == "lstm") shapes.push_back(shapes[1]);
      const int64_t rows = (op == "lstm" ? 4 : 3) * hidden;
      for (const int64_t in : {int64_t{5}, hidden}) {
        shapes.insert(shapes.end(), {{rows, in}, {rows, hidden}, {rows}, {rows}});
      }
      const SmallGraph g(shapes, [&](auto x) {
        return x[0].graph()->apply(
            find_operator(op), x,
            {{"hidden", hidden}, {"layers", int64_t{2}}, {"batch_first", batch_first}});
      });
      const auto between =
          g.with(round_operands, "@ with operands and the states between steps rounded to float16");
      const auto operands = g.with(round_operands, "@ with operands rounded to float16");
      EXPECT_GT(distance(between, operands), 1e-6);
      EXPECT_LT(distance(between, g.truth()), 0.01);
      // The last step's output is the last layer's state.
      const Tensor &y = between[0], &h = between[1];
      for (int64_t b = 0; b < 4; ++b) {
        const int64_t last = batch_first ? (b * 4 + 3) * hidden : (3 * 4 + b) * hidden;
        for (int64_t i = 0; i < hidden; ++i) {
          EXPECT_NEAR(y.at(last + i), h.at((4 + b) * hidden + i), 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kbench
