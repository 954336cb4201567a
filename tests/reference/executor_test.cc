#include <malloc.h>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/reference.h"
#include "reference/schedule.h"
#include "tests/error_of.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

Tensor tensor(Shape shape, uint32_t seed = 1) {
  Tensor result(DType::f32, std::move(shape));
  const auto values = random_array<float>(result.elements(), seed);
  std::copy(values.begin(), values.end(), result.data<float>().begin());
  return result;
}

TEST(Executor, RunsAGraphInBothPrecisions) {
  Graph g;
  const Value x = g.input("x", {3, 5});
  g.output(relu(x * 2.0) + x);
  const Tensor data = tensor({3, 5});
  for (Precision precision : {Precision::f32, Precision::f64}) {
    const auto out = run_reference(g, {{"x", data}}, {.precision = precision});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].dtype(), precision == Precision::f32 ? DType::f32 : DType::f64);
    for (int64_t i = 0; i < data.elements(); ++i) {
      EXPECT_NEAR(out[0].at(i), std::max(2 * data.at(i), 0.0) + data.at(i), 1e-6);
    }
  }
}

TEST(Executor, LeavesWhatTheCallerKeepsUnchanged) {
  Graph g;
  const Value x = g.input("x", {33, 7});
  g.output(relu(reshape(x, {7, 33})) * -1.0);
  const Tensor data = tensor({33, 7});
  const Tensor copy = data.clone();
  run_reference(g, {{"x", data}});
  EXPECT_TRUE(std::ranges::equal(data.data<float>(), copy.data<float>()));
}

TEST(Executor, AViewSharesMemoryAndKeepsItsSourceAlive) {
  Graph g;
  const Value x = g.input("x", {3, 10});
  const Value doubled = x * 2.0;
  const Value view = reshape(doubled, {5, 6});
  const Value changed = doubled + 1.0;  // must not overwrite what the view still shows
  g.output(view);
  g.output(changed);
  const Tensor data = tensor({3, 10});
  const auto out = run_reference(g, {{"x", data}});
  EXPECT_EQ(out[0].shape(), (Shape{5, 6}));
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_FLOAT_EQ(out[0].at(i), 2 * data.at(i));
    EXPECT_FLOAT_EQ(out[1].at(i), 2 * data.at(i) + 1);
  }
}

TEST(Executor, AnOutputMayBeAnInputItself) {
  Graph g;
  g.output(g.input("x", {3}));
  const Tensor data = tensor({3});
  EXPECT_EQ(run_reference(g, {{"x", data}})[0].dtype(), DType::f32);
  const auto out = run_reference(g, {{"x", data}}, {.precision = Precision::f64});
  EXPECT_EQ(out[0].dtype(), DType::f64);
  EXPECT_EQ(out[0].at(2), data.at(2));
}

TEST(Executor, AnElementwiseChainRunsInOnePieceOfMemory) {
  Graph g;
  Value x = g.input("x", {1000, 1003});
  for (int i = 0; i < 20; ++i) x = relu(x) * 1.5;
  g.output(x);
  const int64_t one = 1000 * 1003 * 4;
  EXPECT_EQ(reference_peak_bytes(g, Precision::f32), 2 * one);  // the input and one intermediate
  // In float64: the input, its conversion; then the conversion and one intermediate.
  EXPECT_EQ(reference_peak_bytes(g, Precision::f64), 4 * one);
}

TEST(Executor, AnOperandThatIsReadAgainIsNotOverwritten) {
  Graph g;
  const Value x = g.input("x", {5, 3});
  const Value a = x + 1.0;
  g.output(a * a);
  g.output(relu(a) + a);
  const Tensor data = tensor({5, 3});
  const auto out = run_reference(g, {{"x", data}});
  for (int64_t i = 0; i < 15; ++i) {
    const double v = data.at(i) + 1;
    EXPECT_NEAR(out[0].at(i), v * v, 1e-5);
    EXPECT_NEAR(out[1].at(i), std::max(v, 0.0) + v, 1e-5);
  }
}

/// Bytes the C library has handed out, large mapped pieces included.
int64_t allocated_bytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

TEST(Executor, FreesIntermediatesAfterTheirLastReader) {
  // Products, which cannot run in place, so that without freeing eleven matrices would stand.
  Graph g;
  Value x = g.input("x", {301, 301});
  const Value w = g.parameter("w", {301, 301});
  for (int i = 0; i < 10; ++i) x = matmul(x, w);
  g.output(x);
  const int64_t one = 301 * 301 * 4;
  EXPECT_EQ(reference_peak_bytes(g, Precision::f32), 3 * one);  // w and two products
  const Schedule schedule = make_schedule(g, Precision::f32);
  int64_t live = 0;
  for (const NodeMemory& stage : schedule.nodes)
    live += 1 - static_cast<int64_t>(stage.release.size());
  EXPECT_LE(live, 1);

  const auto run = [&] {
    NamedTensors given = {{"x", tensor({301, 301})}, {"w", tensor({301, 301}, 2)}};
    return run_reference(g, std::move(given), {.threads = 1});
  };
  run();  // Products keep the memory of their panels for the next.
  const int64_t before = allocated_bytes();
  const auto out = run();
  // Afterwards only the output stands; half a matrix of slack covers caches of the libraries.
  EXPECT_LT(allocated_bytes() - before, one + one / 2);
}

TEST(Executor, GivesTheSameResultWhateverTheNumberOfThreads) {
  Graph g;
  const Value x = g.input("x", {67, 301});
  g.output(softmax(sum(x, {.axis = 0}), 0));
  g.output(layer_norm(x, g.module("ln"), 1));
  const NamedTensors given = draw_tensors(g, {1, 1}, 5);
  const auto one = run_reference(g, given, {.threads = 1});
  const auto all = run_reference(g, given);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(one[i].data<float>(), all[i].data<float>()));
  }
}

TEST(Executor, MissingAndMistypedTensorsAreErrorsThatNameThem) {
  Graph g;
  g.output(g.input("x", {3, 5}) + g.parameter("bias", {5}));
  EXPECT_EQ(code_of([&] { run_reference(g, {{"x", tensor({3, 5})}}); }), ErrorCode::kNotFound);
  const NamedTensors wrong_shape = {{"x", tensor({5, 3})}, {"bias", tensor({5})}};
  EXPECT_EQ(code_of([&] { run_reference(g, wrong_shape); }), ErrorCode::kShape);
  const NamedTensors wrong_type = {{"x", Tensor(DType::f64, {3, 5})}, {"bias", tensor({5})}};
  EXPECT_EQ(code_of([&] { run_reference(g, wrong_type); }), ErrorCode::kShape);
  EXPECT_EQ(code_of([&] { run_reference(g, {}, {.threads = -1}); }), ErrorCode::kInvalidArgument);
  try {
    run_reference(g, {{"x", tensor({3, 5})}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("bias"), std::string::npos);
  }
}

TEST(DrawTensors, DrawsInputsAndParametersByNameAndType) {
  Graph g;
  const Value x = g.input("x", {5, 3});
  const Value t = g.input("t", {5}, randint(0, 3), DType::i64);
  g.parameter("w", {7});
  g.output(cross_entropy(x, t));
  const NamedTensors drawn = draw_tensors(g, {1, 95}, 24301);
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn.at("x").type(), (TensorType{DType::f32, {5, 3}}));
  EXPECT_EQ(drawn.at("t").type(), (TensorType{DType::i64, {5}}));
  EXPECT_NE(drawn.at("x").at(0), draw_tensors(g, {1, 96}, 24301).at("x").at(0));
  EXPECT_EQ(run_reference(g, drawn)[0].shape(), Shape{});
}

}  // namespace
}  // namespace kbench::reference
