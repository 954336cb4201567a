// The text of `kbench show`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kbench/ops.h"
#include "kbench/task.h"
#include "libkbench/core/in_words.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Line breaks and runs of spaces as one space.
std::string joined_lines(const std::string& text) {
  std::string joined;
  for (char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || joined.empty() || joined.back() != ' ') joined += space ? ' ' : c;
  }
  return joined;
}

TEST(Describe, ExplainsEveryOperatorAndValueOfEveryTask) {
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::v0_1);
    const std::string text = joined_lines(describe(task, *graph));
    SCOPED_TRACE(to_string(task.id));
    EXPECT_THAT(text, HasSubstr(task.name));
    EXPECT_THAT(text, HasSubstr("(preset v0.1)"));
    for (const auto& node : graph->nodes()) {
      EXPECT_THAT(text, HasSubstr(joined_lines(node.call.op->formula)));
      EXPECT_THAT(text, HasSubstr("as PyTorch's " + joined_lines(node.call.op->follows)));
      std::string types;
      for (const TensorType& type : node.call.outputs) {
        types += (types.empty() ? "" : ", ") + to_string(type);
      }
      EXPECT_THAT(text, HasSubstr(") -> " + types));
    }
    for (const auto& value : graph->values()) {
      if (value.kind == Graph::Kind::intermediate) continue;
      EXPECT_THAT(text, HasSubstr(" " + value.name + " " + to_string(value.type) + " "));
    }
  }
}

void sample_task(Graph& g) {
  const Value x = g.input("x", {g["rows"], 6});
  g.parameter("a parameter of a long name", {5});
  Tensor mask(DType::f32, {6, 6});
  for (int64_t i = 0; i < 36; ++i) mask.data<float>()[i] = i % 6 > i / 6 ? -100.0f : 0.0f;
  const Value y = matmul(x, g.constant("mask", mask));
  const RecurrentValues z = gru(reshape(y, {1, -1, 6}), g.input("h", {1, 1, 7}, uniform(0, 1)),
                                g.module("gru"), {.hidden = 7});
  g.output(z.output);
  g.output(z.hidden);
}

const Task kSample = {{1, 1},      "Sample",
                      "test",      {{"rows", int64_t{3}, int64_t{5}, int64_t{9}}},
                      sample_task, {2e-3, "it is only a sample"}};

TEST(Describe, SaysWhatIsNotInTheShapes) {
  const std::string text = describe(kSample, *build_graph(kSample, Preset::v0));
  EXPECT_THAT(text,
              HasSubstr("  a parameter of a long name  f32 [5]  drawn from uniform(-0.5, 0.5); "
                        "no operator reads it\n"));
  EXPECT_THAT(text,
              HasSubstr("  mask                        f32 [6, 6]  0 on and below the diagonal, "
                        "-100 above\n"));
  EXPECT_THAT(text, HasSubstr("output0, output1 = gru("));
  EXPECT_THAT(text, HasSubstr("->  f32 [1, 5, 7], f32 [1, 1, 7]\n"));
  EXPECT_THAT(text, HasSubstr("  matmul: 1 call, "));
  EXPECT_THAT(text, HasSubstr("  reshape: 1 call; as PyTorch's"));
  EXPECT_THAT(text, HasSubstr("  normal: mean 0 and standard deviation 1"));
  EXPECT_THAT(text, HasSubstr("<= 0.002 * (s + |r|) for every element, s the RMS of the output "
                              "(it is only a sample)"));
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    EXPECT_LE(end - at, 110u) << text.substr(at, end - at);
  }
}

TEST(Describe, NamesThePresetAndWhatIsSetOtherwise) {
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{3}}}), "preset smoke");
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{9}}}), "preset v0.1");
  EXPECT_EQ(sizes_of(kSample, {{"rows", int64_t{4}}}), "preset v0.1 with rows=4");
  const Task& conv = find_task({2, 1});
  const auto graph = build_graph(conv, Preset::smoke, {{"height", int64_t{65}}});
  EXPECT_THAT(describe(conv, *graph), HasSubstr("(preset smoke with height=65)"));
}

TEST(Describe, SharesOfTheWorkAreCounted) {
  const Task& task = find_task({1, 93});  // a product and a sum an element
  const std::string text = describe(task, *build_graph(task, Preset::smoke));
  EXPECT_THAT(text, HasSubstr("cumsum: 1 call, 50.0% of the work;"));
  EXPECT_THAT(text, HasSubstr("mul_mask: 1 call, 50.0% of the work;"));
}

TEST(Describe, AmountsHaveUnits) {
  const Task& relu = find_task({1, 19});
  const std::string text = describe(
      relu, *build_graph(relu, Preset::smoke, {{"batch_size", int64_t{2}}, {"dim", int64_t{200}}}));
  EXPECT_THAT(text, HasSubstr("  400 FLOP (a multiply-add is two), at least 3.20 kB moved"));
}

TEST(Describe, DistributionsAreExplainedWhereTheyOccur) {
  const auto text_of = [](TaskId id) {
    return describe(find_task(id), *build_graph(find_task(id), Preset::smoke));
  };
  EXPECT_THAT(text_of({1, 13}), HasSubstr("  symmetrize: then (X + its transpose) / 2"));
  EXPECT_THAT(text_of({1, 14}), HasSubstr("  triu: then zero below the diagonal"));
  EXPECT_THAT(text_of({1, 15}), HasSubstr("  tril: then zero above the diagonal"));
  EXPECT_THAT(text_of({1, 98}), HasSubstr("  softmax_last: then softmax over the last dimension"));
  EXPECT_THAT(text_of({1, 100}), HasSubstr("  plus_minus_one: then 2 x - 1"));
  EXPECT_THAT(text_of({1, 37}), HasSubstr("  offset: plus a number for each index"));
  EXPECT_THAT(text_of({1, 100}), HasSubstr("  randint(lo, hi): an integer, lo <= n < hi"));
  EXPECT_THAT(text_of({1, 1}), Not(HasSubstr("symmetrize")));
}

TEST(Describe, ConstantsAreSummedUp) {
  const auto contents = [](const Shape& shape, const std::vector<float>& values) {
    Tensor tensor(DType::f32, shape);
    std::copy(values.begin(), values.end(), tensor.data<float>().begin());
    return contents_of(tensor);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(contents({2, 2}, {0, -kInfinity, 0, 0}), "0 on and below the diagonal, -inf above");
  EXPECT_EQ(contents({2, 2}, {1, 0, 0, 0}), "0 at 3 places, 1 at 1 place");
  EXPECT_EQ(contents({4}, {1, 0, 0, 0}), "0 at 3 places, 1 at 1 place");
  EXPECT_EQ(contents({2, 2}, {7, 7, 7, 7}), "7 at 4 places");
  EXPECT_EQ(contents({5}, {3, -2, 0.5, 1, 0}), "values from -2 to 3");
}

}  // namespace
}  // namespace kbench
