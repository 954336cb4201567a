#include "tests/operators/definition.h"

#include <map>
#include <stdexcept>

namespace kbench::definitions {
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

Shape Dice::shape(int64_t min_rank, int64_t max_rank) {
  Shape shape(static_cast<size_t>(between(min_rank, max_rank)));
  for (int64_t& n : shape) n = between(1, 7);
  return shape;
}

Array Dice::normal(Shape shape, double mean, double deviation) {
  std::normal_distribution<double> distribution(mean, deviation);
  Array array(std::move(shape));
  for (double& v : array.values) v = static_cast<float>(distribution(engine_));
  return array;
}

Array Dice::uniform(Shape shape, double lo, double hi) {
  Array array(std::move(shape));
  for (double& v : array.values) {
    v = static_cast<float>(lo + (hi - lo) * static_cast<double>(engine_()) / 4294967296.0);
  }
  return array;
}

Array Dice::integers(Shape shape, int64_t lo, int64_t hi, DType dtype) {
  std::uniform_int_distribution<int64_t> distribution(lo, hi - 1);
  Array array(std::move(shape), dtype);
  for (double& v : array.values) v = static_cast<double>(distribution(engine_));
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

const Definition& definition_of(std::string_view op) {
  static const auto all = [] {
    std::map<std::string, Definition, std::less<>> all;
    for (const Family& family : families()) {
      for (const Definition& definition : family.definitions()) all[definition.op] = definition;
    }
    return all;
  }();
  return all.find(op)->second;
}

std::string text_of(const OperatorCall& call) {
  std::string text = call.op->name + "(";
  for (const TensorType& type : call.inputs) text += to_string(type) + ", ";
  for (const auto& [name, value] : call.attributes) text += name + "=" + to_string(value) + ", ";
  return text + ")";
}

}  // namespace kbench::definitions
