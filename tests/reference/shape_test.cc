// Operators that move elements, against the rule that each element's index obeys.
#include "kbench/error.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

template <class T>
class ShapeCopy : public ::testing::Test {};
TYPED_TEST_SUITE(ShapeCopy, RealTypes);

using Index = std::vector<int64_t>;

Index index_of(int64_t at, const Shape& shape) {
  Index index(shape.size());
  for (size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
  return index;
}

int64_t offset_of(const Index& index, const Shape& shape) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

/// y at every index is x at source(index), or zero where that returns an empty one.
template <class T, class Source>
void expect_moved(const Tensor& x, const Tensor& y, const Source& source) {
  for (int64_t i = 0; i < y.elements(); ++i) {
    const Index from = source(index_of(i, y.shape()));
    const T truth = from.empty() ? T(0) : x.data<T>()[offset_of(from, x.shape())];
    ASSERT_EQ(y.data<T>()[i], truth) << to_string(y.shape()) << " element " << i;
  }
}

TYPED_TEST(ShapeCopy, PermuteReordersDimensions) {
  using T = TypeParam;
  const std::pair<Shape, Index> cases[] = {{{5, 7}, {1, 0}},
                                           {{130, 67}, {1, 0}},
                                           {{3, 130, 67}, {0, 2, 1}},
                                           {{3, 5, 7}, {2, 0, 1}},
                                           {{3, 5, 7}, {0, 1, 2}},
                                           {{3, 1, 5, 7}, {3, 1, 2, 0}},
                                           {{3, 5, 6, 7}, {0, 2, 1, 3}},
                                           {{19, 3, 5, 23}, {3, 2, 0, 1}},
                                           {{7}, {0}},
                                           {{3, 5, 2, 6, 7}, {4, 2, 0, 3, 1}}};
  for (const auto& [shape, axes] : cases) {
    const Tensor x = random_tensor<T>(shape);
    const Tensor y = run_call<T>("permute", {x}, {{"axes", axes}})[0];
    expect_moved<T>(x, y, [&axes = axes](const Index& index) {
      Index from(index.size());
      for (size_t d = 0; d < index.size(); ++d) from[axes[d]] = index[d];
      return from;
    });
  }
}

TYPED_TEST(ShapeCopy, MovesElementsAlongAnyAxis) {
  using T = TypeParam;
  const Shape shape = {5, 11, 7};
  const Tensor x = random_tensor<T>(shape);
  for (int64_t axis = 0; axis < 3; ++axis) {
    const int64_t extent = shape[axis];
    const auto expect = [&](const char* name, Attributes attributes, const auto& source) {
      attributes.set("axis", axis);
      SCOPED_TRACE(std::string(name) + " along axis " + std::to_string(axis));
      const Tensor y = run_call<T>(name, {x}, attributes)[0];
      expect_moved<T>(x, y, [&](Index index) {
        index[axis] = source(index[axis]);
        return index[axis] < 0 ? Index{} : index;
      });
    };
    expect("slice", {{"start", int64_t{1}}, {"stop", extent - 1}}, [](int64_t i) { return i + 1; });
    expect("slice", {{"start", int64_t{1}}, {"stop", extent}, {"step", int64_t{3}}},
           [](int64_t i) { return 1 + 3 * i; });
    expect("flip", {}, [=](int64_t i) { return extent - 1 - i; });
    for (int64_t shift : {0, 2, -3, 17}) {
      expect("roll", {{"shift", shift}},
             [=](int64_t i) { return ((i - shift) % extent + extent) % extent; });
    }
    for (const auto& [before, after] :
         {std::pair<int64_t, int64_t>{2, 3}, {0, 1}, {3, 0}, {0, 0}}) {
      expect("pad", {{"before", before}, {"after", after}},
             [=, b = before](int64_t i) { return i >= b && i < b + extent ? i - b : int64_t{-1}; });
    }
  }
}

TYPED_TEST(ShapeCopy, CatPutsInputsOneAfterTheOther) {
  using T = TypeParam;
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<Tensor> parts;
    for (int64_t extent : {3, 1, 6}) {
      Shape shape = {5, 2, 7};
      shape[axis] = extent;
      parts.push_back(random_tensor<T>(shape, static_cast<uint32_t>(extent)));
    }
    const Tensor y = run_call<T>("cat", parts, {{"axis", axis}})[0];
    ASSERT_EQ(y.shape()[axis], 10);
    for (int64_t i = 0; i < y.elements(); ++i) {
      Index index = index_of(i, y.shape());
      size_t part = 0;
      while (index[axis] >= parts[part].shape()[axis]) {
        index[axis] -= parts[part++].shape()[axis];
      }
      ASSERT_EQ(y.data<T>()[i], parts[part].data<T>()[offset_of(index, parts[part].shape())]);
    }
  }
}

TYPED_TEST(ShapeCopy, ExpandRepeatsExtentsOfOne) {
  using T = TypeParam;
  for (const auto& [from, to] : {std::pair<Shape, Shape>{{1, 5, 1}, {3, 5, 7}},
                                 {{5, 1}, {3, 5, 7}},
                                 {{}, {3, 5}},
                                 {{3, 5}, {3, 5}}}) {
    const Tensor x = random_tensor<T>(from);
    const Tensor y = run_call<T>("expand", {x}, {{"shape", to}})[0];
    for (int64_t i = 0; i < y.elements(); ++i) {
      const Index index = index_of(i, to);
      Index source(from.size());
      for (size_t d = 0; d < from.size(); ++d) {
        source[d] = from[d] == 1 ? 0 : index[to.size() - from.size() + d];
      }
      ASSERT_EQ(y.data<T>()[i], x.data<T>()[offset_of(source, from)]);
    }
  }
}

TYPED_TEST(ShapeCopy, TrianglesClearOneSideOfTheDiagonal) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{5, 7}, {7, 5}, {3, 6, 6}}) {
    const Tensor x = random_tensor<T>(shape);
    for (bool upper : {true, false}) {
      const Tensor y = run_call<T>(upper ? "triu" : "tril", {x})[0];
      expect_moved<T>(x, y, [&](const Index& index) {
        const int64_t below = index[index.size() - 2] - index.back();
        return (upper ? below > 0 : below < 0) ? Index{} : index;
      });
    }
  }
}

TYPED_TEST(ShapeCopy, IndexRowsLooksRowsUpAndRefusesOthers) {
  using T = TypeParam;
  const Tensor table = random_tensor<T>({11, 7});
  const std::vector<int64_t> index = {10, 0, 3, 3, 7, 1};
  const Tensor y = run_call<T>("index_rows", {table, tensor_of<int64_t>({2, 3}, index)})[0];
  expect_moved<T>(table, y, [&](const Index& i) { return Index{index[i[0] * 3 + i[1]], i[2]}; });
  for (int64_t beyond : {int64_t{11}, int64_t{-1}}) {
    const std::vector<int64_t> bad = {0, beyond};
    EXPECT_THROW(run_call<T>("index_rows", {table, tensor_of<int64_t>({2}, bad)}), Error);
  }
}

TEST(ShapeCopyOfOtherTypes, MovesIndicesAndMasks) {
  std::vector<int64_t> values(35);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i % 2 ? i : -i);
  const auto transposed = [](int64_t i) { return i % 5 * 7 + i / 5; };
  const Attributes axes = {{"axes", Index{1, 0}}};
  const Tensor index = run_call<float>("permute", {tensor_of<int64_t>({5, 7}, values)}, axes)[0];
  const Tensor mask = run_call<float>("permute", {tensor_of<bool>({5, 7}, values)}, axes)[0];
  for (int64_t i = 0; i < 35; ++i) {
    EXPECT_EQ(index.data<int64_t>()[i], values[transposed(i)]);
    EXPECT_EQ(mask.data<bool>()[i], values[transposed(i)] != 0);
  }
}

}  // namespace
}  // namespace kbench::reference
