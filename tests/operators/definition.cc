#include "tests/operators/definition.h"

#include <stdexcept>

namespace kbench::definitions {
namespace {

bool power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

Array::Array(Shape extents, DType type) : dtype(type), shape(std::move(extents)) {
  values.assign(static_cast<size_t>(element_count(shape)), 0.0);
}

size_t Array::offset(const Index& index) const {
  if (index.size() != shape.size()) throw std::out_of_range("an index of another rank");
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) throw std::out_of_range("an index outside its array");
    at = at * shape[d] + index[d];
  }
  return static_cast<size_t>(at);
}

int64_t Dice::between(int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(engine_() % static_cast<uint64_t>(hi - lo + 1));
}

double Dice::real(double lo, double hi) {
  return lo + (hi - lo) * static_cast<double>(engine_()) / 4294967296.0;
}

int64_t Dice::extent(int64_t factor) {
  return extents_ == Extents::any ? factor * between(1, 7) : unused(used_, factor, 4);
}

int64_t Dice::kernel() {
  return extents_ == Extents::any ? between(1, 4) : unused(used_kernels_, 1, 2);
}

int64_t Dice::unused(std::set<int64_t>& used, int64_t factor, int64_t choices) {
  std::vector<int64_t> free;
  for (int64_t n = factor; static_cast<int64_t>(free.size()) < choices; n += factor) {
    if (!power_of_two(n) && !used.contains(n)) free.push_back(n);
  }
  const int64_t chosen = free[static_cast<size_t>(between(0, choices - 1))];
  used.insert(chosen);
  return chosen;
}

Shape Dice::shape(int64_t min_rank, int64_t max_rank) {
  Shape shape(static_cast<size_t>(between(min_rank, max_rank)));
  for (int64_t& n : shape) n = extent();
  return shape;
}

Array Dice::normal(Shape shape, double deviation) {
  std::normal_distribution<double> distribution(0, deviation);
  Array array(std::move(shape));
  for (double& v : array.values) v = static_cast<float>(distribution(engine_));
  return array;
}

Array Dice::uniform(Shape shape, double lo, double hi) {
  Array array(std::move(shape));
  for (double& v : array.values) v = static_cast<float>(real(lo, hi));
  return array;
}

Array Dice::integers(Shape shape, int64_t below, DType dtype) {
  Array array(std::move(shape), dtype);
  for (double& v : array.values) v = static_cast<double>(between(0, below - 1));
  return array;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"elementwise", elementwise_definitions},
      {"shape", shape_definitions},
      {"reduction", reduction_definitions},
      {"matmul", matmul_definitions},
      {"convolution", convolution_definitions},
      {"pooling", pooling_definitions},
      {"norm", norm_definitions},
      {"loss", loss_definitions},
      {"recurrent", recurrent_definitions},
  };
  return all;
}

OperatorCall call_of(const Definition& definition, const Sample& sample) {
  std::vector<TensorType> types;
  for (const Array& input : sample.inputs) types.push_back(input.type());
  return make_call(find_operator(definition.op), std::move(types), sample.attributes);
}

std::string text_of(const OperatorCall& call) {
  std::string text = call.op->name + "(";
  for (const TensorType& type : call.inputs) text += to_string(type) + ", ";
  for (const auto& [name, value] : call.attributes) text += name + "=" + to_string(value) + ", ";
  return text + ")";
}

}  // namespace kbench::definitions
