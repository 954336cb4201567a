// The same bits on any number of threads, and wherever a tensor lies: every operator, at extents
// that reach each of its parallel paths.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstring>
#include <map>

#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

using List = std::vector<int64_t>;

/// A call by its inputs' shapes, which are floats unless `last` says what the last one is.
struct ThreadCase {
  std::vector<Shape> shapes;
  Attributes attributes = {};
  DType last = DType::f32;
};

/// Values of both signs and no zero, or indices and masks below `shape`'s least extents.
template <class T>
Tensor input_of(const ThreadCase& c, size_t i) {
  const Shape& shape = c.shapes[i];
  if (i + 1 < c.shapes.size() || c.last == DType::f32) {
    return random_tensor<T>(shape, static_cast<uint32_t>(i + 1));
  }
  std::vector<int64_t> values(element_count(shape));
  for (size_t j = 0; j < values.size(); ++j) values[j] = static_cast<int64_t>(j * 7 % 5);
  if (c.last == DType::i64) return tensor_of<int64_t>(shape, values);
  for (int64_t& v : values) v %= 2;
  return tensor_of<bool>(shape, values);
}

std::map<std::string, std::vector<ThreadCase>> thread_cases() {
  std::map<std::string, std::vector<ThreadCase>> all;
  const auto add = [&](std::initializer_list<const char*> names,
                       const std::vector<ThreadCase>& more) {
    for (const char* name : names) {
      all[name].insert(all[name].end(), more.begin(), more.end());
    }
  };
  const auto axis = [](int64_t a) { return Attributes{{"axis", a}}; };

  // Several tasks and a short last block.
  const Shape kFlat = {100003};
  add({"abs", "cos", "exp", "gelu", "hardsigmoid", "hardswish", "log", "mish", "neg", "relu",
       "selu", "sigmoid", "sin", "softplus", "sqrt", "square", "tanh"},
      {{{kFlat}}});
  add({"add_scalar", "sub_scalar", "mul_scalar", "div_scalar", "clamp_min", "clamp_max"},
      {{{kFlat}, {{"value", 0.7}}}});
  add({"leaky_relu"}, {{{kFlat}, {{"slope", 0.3}}}});
  add({"elu"}, {{{kFlat}, {{"alpha", 0.3}}}});
  add({"clamp"}, {{{kFlat}, {{"lo", -0.5}, {"hi", 0.5}}}});
  add({"round_to"}, {{{kFlat}, {{"format", std::string("float16")}}},
                     {{kFlat}, {{"format", std::string("tf32")}}}});
  add({"cast"},
      {{{kFlat}, {{"dtype", std::string("f16")}}}, {{kFlat}, {{"dtype", std::string("u8")}}}});
  add({"mul_mask"}, {{{kFlat, kFlat}, {}, DType::boolean}});
  add({"add", "sub", "mul", "div", "maximum", "minimum"},
      {{{kFlat, kFlat}}, {{{37, 41, 67}, {41, 1}}}, {{{41, 67}, {37, 1, 1}}}});

  // Rows in many and in few, long rows in pieces; columns of one block and several, in pieces.
  const std::vector<Shape> kRows = {{300, 701}, {3, 70001}, {1, 300007}};
  const std::vector<Shape> kColumns = {{3, 50, 500}, {2, 9001, 67}, {1, 20011, 3}};
  for (const char* op : {"sum", "mean", "norm", "max", "min", "argmax", "argmin", "logsumexp",
                         "cumsum", "cumprod", "softmax", "log_softmax"}) {
    for (const Shape& shape : kRows) add({op}, {{{shape}, axis(1)}});
    for (const Shape& shape : kColumns) add({op}, {{{shape}, axis(1)}});
  }

  // Many rows, few and long ones, and rows too long for a core's cache.
  for (const Shape& shape : kRows) {
    const Shape last = {shape[1]};
    add({"layer_norm"}, {{{shape, last, last}}, {{shape}}});
  }
  for (const Shape& shape : {Shape{1, 8, 100000}, {3, 8, 5003}, {40, 8, 301}, {50, 24, 1}}) {
    add({"group_norm"}, {{{shape, {shape[1]}, {shape[1]}}, {{"groups", int64_t{2}}}},
                         {{shape}, {{"groups", int64_t{4}}}}});
    if (shape[2] > 1) add({"instance_norm"}, {{{shape, {shape[1]}, {shape[1]}}}, {{shape}}});
    if (shape[0] > 1) add({"batch_norm"}, {{{shape, {shape[1]}, {shape[1]}}}, {{shape}}});
  }
  add({"batch_norm"}, {{{{700, 333, 1}, {333}, {333}}}, {{{501, 40, 7}}}});

  add({"cross_entropy"},
      {{{{5003, 11}, {5003}}, {}, DType::i64}, {{{31, 5003}, {31}}, {}, DType::i64}});
  add({"smooth_l1_loss", "kl_div_batchmean"}, {{{{7, 30011}, {7, 30011}}}});
  add({"triplet_margin_loss"}, {{{{301, 503}, {301, 503}, {301, 503}}}});

  for (const auto& [dims, shape] :
       std::map<int, Shape>{{1, {7, 31, 501}}, {2, {3, 17, 61, 53}}, {3, {2, 9, 17, 19, 23}}}) {
    const List three(dims, 3), two(dims, 2), one(dims, 1);
    const Attributes window = {{"kernel", three}, {"stride", two}, {"padding", one}};
    const std::string suffix = std::to_string(dims) + "d";
    all["max_pool" + suffix] = all["avg_pool" + suffix] = {{{shape}, window}};
    // Dense, of groups, one channel a group; the first wide enough for products of many columns.
    const auto convolution = [&, &shape = shape](int64_t in, int64_t out, int64_t groups,
                                                 bool transposed) {
      Shape x = shape, weight(shape.size(), 3);
      x[1] = in;
      weight[0] = transposed ? in : out;
      weight[1] = (transposed ? out : in) / groups;
      return ThreadCase{{x, weight, {out}},
                        {{"stride", two}, {"padding", one}, {"groups", groups}}};
    };
    for (const auto& [in, out, groups] :
         {std::array<int64_t, 3>{12, 34, 1}, {12, 18, 3}, {12, 12, 12}}) {
      all["conv" + suffix].push_back(convolution(in, out, groups, false));
      all["conv_transpose" + suffix].push_back(convolution(in, out, groups, true));
    }
  }
  // Few positions and much work: cut along output channels.
  all["conv2d"].push_back({{{1, 600, 3, 3}, {300, 600, 3, 3}}, {{"padding", List{1, 1}}}});
  add({"adaptive_avg_pool2d"}, {{{{3, 17, 61, 53}}, {{"output", List{7, 5}}}}});

  const auto product = [](bool a, bool b) {
    return Attributes{{"transpose_a", int64_t{a}}, {"transpose_b", int64_t{b}}};
  };
  // One large product, many small, deep ones, few rows, a vector, one matrix for all.
  add({"matmul"}, {{{{301, 203}, {203, 307}}},
                   {{{37, 50, 40}, {37, 40, 60}}},
                   {{{3, 24, 20011}, {3, 20011, 24}}},
                   {{{24, 32768}, {32768, 24}}},
                   {{{5, 700}, {700, 900}}},
                   {{{503, 701}, {701, 1}}},
                   {{{1, 701}, {701, 503}}},
                   {{{9, 50, 64}, {64, 70}}},
                   {{{203, 301}, {307, 203}}, product(true, true)},
                   {{{7, 90, 80}, {7, 60, 80}}, product(false, true)}});
  add({"linear"}, {{{{301, 203}, {307, 203}, {307}}},
                   {{{3, 2001}, {1003, 2001}, {1003}}},
                   {{{1000, 37}, {11, 37}}}});
  for (const char* op : {"lstm", "gru"}) {
    const bool cell = op[0] == 'l';
    const int64_t gates = cell ? 4 : 3, in = 19, hidden = 37, batch = 11;
    for (int64_t directions : {1, 2}) {
      ThreadCase c = {{{batch, 23, in}, {2 * directions, batch, hidden}}};
      if (cell) c.shapes.push_back({2 * directions, batch, hidden});
      for (int64_t layer = 0; layer < 2; ++layer) {
        for (int64_t d = 0; d < directions; ++d) {
          c.shapes.push_back({gates * hidden, layer == 0 ? in : directions * hidden});
          c.shapes.push_back({gates * hidden, hidden});
          c.shapes.push_back({gates * hidden});
          c.shapes.push_back({gates * hidden});
        }
      }
      c.attributes = {
          {"hidden", hidden}, {"layers", int64_t{2}}, {"bidirectional", int64_t{directions == 2}}};
      all[op].push_back(c);
    }
  }

  const Shape kCube = {41, 53, 67};
  add({"permute"}, {{{kCube}, {{"axes", List{2, 0, 1}}}}, {{kCube}, {{"axes", List{1, 0, 2}}}}});
  add({"slice"}, {{{kCube},
                   {{"axis", int64_t{2}},
                    {"start", int64_t{1}},
                    {"stop", int64_t{60}},
                    {"step", int64_t{3}}}}});
  add({"cat"}, {{{kCube, {41, 11, 67}}, axis(1)}});
  add({"pad"}, {{{kCube}, {{"axis", int64_t{1}}, {"before", int64_t{3}}, {"after", int64_t{2}}}}});
  add({"roll"}, {{{kCube}, {{"axis", int64_t{1}}, {"shift", int64_t{5}}}}});
  add({"flip"}, {{{kCube}, axis(2)}});
  add({"expand"}, {{{{53, 1}}, {{"shape", List{41, 53, 67}}}}});
  add({"triu", "tril"}, {{{kCube}}});
  add({"index_rows"}, {{{{5, 67}, {3001}}, {}, DType::i64}});
  return all;
}

template <class T>
std::vector<std::byte> bytes_of(const std::string& name, const std::vector<Tensor>& inputs,
                                const Attributes& attributes) {
  std::vector<std::byte> bytes;
  for (const Tensor& y : run_call<T>(name, inputs, attributes)) {
    bytes.insert(bytes.end(), y.raw(), y.raw() + y.bytes());
  }
  return bytes;
}

template <class T>
void expect_same_bits(const std::string& name, const ThreadCase& c) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.shapes.size(); ++i) inputs.push_back(input_of<T>(c, i));
  std::vector<std::byte> one;
  for (int threads : {1, 2, 3, 8, 16}) {
    tbb::task_arena arena(threads);
    const auto bytes = arena.execute([&] { return bytes_of<T>(name, inputs, c.attributes); });
    if (threads == 1) one = bytes;
    EXPECT_TRUE(bytes == one) << name << " of " << to_string(c.shapes[0]) << " in "
                              << name_of(dtype_of<T>()) << " on " << threads << " threads";
  }
}

class Threads : public ::testing::TestWithParam<std::string> {};

TEST_P(Threads, GiveTheSameBits) {
  // As many as the largest arena has places for, however few cores there are.
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 16);
  const auto all = thread_cases();
  const auto found = all.find(GetParam());
  ASSERT_NE(found, all.end()) << "an operator without a case here";
  for (const ThreadCase& c : found->second) {
    expect_same_bits<float>(GetParam(), c);
    expect_same_bits<double>(GetParam(), c);
  }
}

/// What is computed from equal rows is equal, though they begin at every distance from an aligned
/// address.
template <class T>
void expect_same_rows(const std::string& name, const Attributes& attributes) {
  constexpr int64_t kRows = 9, kExtent = 1501;
  const auto row = random_array<T>(kExtent);
  std::vector<T> x;
  for (int64_t i = 0; i < kRows; ++i) x.insert(x.end(), row.begin(), row.end());
  const auto y = bytes_of<T>(name, {tensor_of<T>({kRows, kExtent}, x)}, attributes);
  const auto size = static_cast<std::ptrdiff_t>(y.size()) / kRows;
  for (auto at = y.begin(); at != y.end(); at += size) {
    EXPECT_TRUE(std::equal(at, at + size, y.begin())) << name << ", " << name_of(dtype_of<T>());
  }
}

TEST(Addresses, DoNotChangeARowsBits) {
  for (const char* op :
       {"exp", "gelu", "log", "mish", "selu", "sigmoid", "softplus", "sqrt", "tanh"}) {
    expect_same_rows<float>(op, {});
    expect_same_rows<double>(op, {});
  }
  for (const char* op : {"sum", "mean", "norm", "max", "logsumexp", "softmax", "log_softmax"}) {
    expect_same_rows<float>(op, {{"axis", int64_t{1}}});
    expect_same_rows<double>(op, {{"axis", int64_t{1}}});
  }
  expect_same_rows<float>("layer_norm", {});
  expect_same_rows<double>("layer_norm", {});
}

std::vector<std::string> implemented() {
  std::vector<std::string> names;
  for (const Operator* op : operators()) {
    if (!op->is_view) names.push_back(op->name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Operators, Threads, ::testing::ValuesIn(implemented()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kbench::reference
