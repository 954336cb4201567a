#include "tests/operators/table.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "kbench/error.h"

namespace kbench::definitions {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == at && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<int64_t> numbers_of(std::string_view text, char at) {
  std::vector<int64_t> numbers;
  for (const std::string& part : split(text, at)) numbers.push_back(std::stoll(part));
  return numbers;
}

TensorType type_of(std::string_view word) {
  const size_t colon = word.find(':');
  const DType dtype =
      colon == word.npos ? DType::f32 : dtype_from_name(std::string(word.substr(0, colon)));
  const std::string_view shape = colon == word.npos ? word : word.substr(colon + 1);
  return {dtype, shape == "()" ? Shape{} : numbers_of(shape, 'x')};
}

AttributeValue value_of(const Operator& op, const std::string& name, const std::string& text) {
  for (const AttributeSpec& spec : op.attributes) {
    if (spec.name != name) continue;
    if (std::holds_alternative<int64_t>(spec.fallback)) return int64_t{std::stoll(text)};
    if (std::holds_alternative<double>(spec.fallback)) return std::stod(text);
    if (std::holds_alternative<std::string>(spec.fallback)) return text;
    return numbers_of(text, ',');
  }
  throw std::invalid_argument(op.name + " has no " + name);
}

/// States and weights of a recurrent layer behind its input.
void add_weights(const Operator& op, const Attributes& attributes, std::vector<TensorType>& types) {
  const auto number = [&](const char* name, int64_t otherwise) {
    return attributes.find(name) ? attributes.integer(name) : otherwise;
  };
  const int64_t hidden = number("hidden", 0), both = 1 + number("bidirectional", 0);
  const int64_t cells = number("layers", 1) * both, gates = op.name == "lstm" ? 4 : 3;
  const Shape x = types[0].shape;
  const int64_t batch = x.at(number("batch_first", 1) != 0 ? 0 : 1);
  for (int state = op.name == "lstm" ? 2 : 1; state > 0; --state) {
    types.push_back({DType::f32, {cells, batch, hidden}});
  }
  for (int64_t cell = 0; cell < cells; ++cell) {
    const int64_t in = cell < both ? x.at(2) : hidden * both;
    for (const Shape& shape : {Shape{gates * hidden, in},
                               {gates * hidden, hidden},
                               {gates * hidden},
                               {gates * hidden}}) {
      types.push_back({DType::f32, shape});
    }
  }
}

/// "1 2*3 nan": a number, three of another, and one that is none; again and again to the end.
Array array_of(const TensorType& type, std::string_view text) {
  Array array(type.shape, type.dtype);
  std::vector<double> numbers;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto parts = split(word, '*');
    numbers.resize(numbers.size() + (parts.size() > 1 ? std::stoul(parts[1]) : 1),
                   std::strtod(parts[0].c_str(), nullptr));
  }
  if (numbers.empty() || array.values.size() % numbers.size() != 0) {
    throw std::invalid_argument(std::to_string(numbers.size()) + " numbers for " + to_string(type));
  }
  for (size_t i = 0; i < array.values.size(); ++i) array.values[i] = numbers[i % numbers.size()];
  return array;
}

std::vector<Array> arrays_of(const std::vector<TensorType>& types, std::string_view text) {
  const auto parts = split(text, '/');
  std::vector<Array> arrays;
  for (size_t i = 0; i < types.size(); ++i) arrays.push_back(array_of(types[i], parts.at(i)));
  return arrays;
}

/// A product's row with each of its operands as it is and transposed.
void add_transposed(const Row& row, std::vector<Row>& rows) {
  for (const int flags : {0, 1, 2, 3}) {
    Row other = row;
    std::vector<TensorType> types = row.call.inputs;
    for (const int i : {0, 1}) {
      Shape& shape = types[i].shape;
      if (flags >> i & 1) std::swap(shape.end()[-1], shape.end()[-2]);
    }
    other.call =
        make_call(*row.call.op, types,
                  {{"transpose_a", int64_t{flags & 1}}, {"transpose_b", int64_t{flags / 2}}});
    rows.push_back(other);
  }
}

void expand(const std::string& line, std::vector<Row>& rows) {
  const size_t open = line.find('{');
  if (open == line.npos) {
    const Row row = row_of(line);
    if (row.has("transposes")) return add_transposed(row, rows);
    return rows.push_back(row);
  }
  size_t close = open;
  for (int depth = 0; close < line.size(); ++close) {
    depth += line[close] == '{' ? 1 : line[close] == '}' ? -1 : 0;
    if (depth == 0) break;
  }
  for (const std::string& part : split(line.substr(open + 1, close - open - 1), '|')) {
    expand(line.substr(0, open) + part + line.substr(close + 1), rows);
  }
}

Array floats_of(const Row& row, size_t i, Dice& dice) {
  const std::string& op = row.call.op->name;
  const Shape& shape = row.call.inputs[i].shape;
  const auto two = [&](const char* word) {
    const auto numbers = split(row.words.find(word)->second, ',');
    return std::pair{std::stod(numbers.at(0)), std::stod(numbers.at(1))};
  };
  if (row.has("normal")) return dice.normal(shape, two("normal").first, two("normal").second);
  if (row.has("uniform")) return dice.uniform(shape, two("uniform").first, two("uniform").second);
  if (op == "log" || op == "sqrt") return dice.uniform(shape, 0.001, 9);
  if (op == "cast") return dice.uniform(shape, -400, 400);
  if (op == "cumprod") return dice.uniform(shape, 0.98, 1.02);
  if (op == "div" && i == 1) return dice.uniform(shape, 0.5, 2);
  if (op == "lstm" || op == "gru") return dice.uniform(shape, -0.6, 0.6);
  if (op.ends_with("_norm") && i == 0) return dice.normal(shape, 5, 2);
  const bool bends = row.call.inputs.size() == 1 && row.call.outputs[0].shape == shape;
  Array array = dice.normal(shape, 0, bends || op == "logsumexp" ? 4 : 1);
  for (size_t k = 0; k < array.values.size(); ++k) {
    double& v = array.values[k];
    if (op == "kl_div_batchmean" && i == 1) v = k % 5 == 0 ? 0 : std::abs(v);
    // From below float16's smallest number to above its largest.
    if (op == "round_to") v = std::ldexp(v, static_cast<int>(dice.between(-27, 17)));
    if (op == "argmax" || op == "argmin" || op == "max" || op == "min") v = std::round(v);  // ties
  }
  return array;
}

Array integers_of(const Row& row, const TensorType& type, Dice& dice) {
  const std::string& op = row.call.op->name;
  const auto below = [&](int64_t most) { return dice.integers(type.shape, 0, most, type.dtype); };
  if (type.dtype == DType::boolean) return below(2);
  if (op == "cross_entropy") return below(row.call.inputs[0].shape[1]);
  if (op == "index_rows") return below(row.call.inputs[0].shape[0]);
  if (op == "gather") return below(row.call.inputs[0].shape.back());
  if (type.dtype == DType::u8 || type.dtype == DType::u32) return below(256);
  const int64_t most = type.dtype == DType::i64 ? int64_t{1} << 50 : 1000;
  return dice.integers(type.shape, -most, most, type.dtype);
}

}  // namespace

Row row_of(std::string_view line) {
  Row row;
  row.text = line;
  const size_t colon = line.find(" : ");
  std::istringstream words{std::string(line.substr(0, colon))};
  std::string word;
  words >> word;
  const Operator& op = find_operator(word);
  Attributes attributes;
  std::vector<TensorType> types;
  try {
    while (words >> word) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
      if (word[0] == '@') {
        row.words[name.substr(1)] = value;
      } else if (equals == word.npos) {
        types.push_back(type_of(word));
      } else {
        attributes.set(name, value_of(op, name, value));
      }
    }
    if (types.size() == 1 && (op.name == "lstm" || op.name == "gru")) {
      add_weights(op, attributes, types);
    }
    row.call = make_call(op, std::move(types), std::move(attributes));
    if (colon != line.npos) {
      const std::string_view numbers = line.substr(colon + 3);
      const size_t arrow = numbers.find("=>");
      row.inputs = arrays_of(row.call.inputs, numbers.substr(0, arrow));
      row.outputs = arrays_of(row.call.outputs, numbers.substr(arrow + 2));
    }
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string(line) + ": " + error.what());
  }
  return row;
}

std::vector<Row> rows_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream input{std::string(text)};
  for (std::string line; std::getline(input, line);) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(' ') == line.npos) continue;
    if (line[0] == ' ') {
      lines.back() += line.substr(line.find_first_not_of(' ') - 1);
    } else {
      lines.push_back(line);
    }
  }
  std::vector<Row> rows;
  for (const std::string& line : lines) expand(line, rows);
  return rows;
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    std::ifstream file(KBENCH_OPERATOR_TABLE);
    return rows_of(std::string(std::istreambuf_iterator<char>(file), {}));
  }();
  return rows;
}

std::vector<Row> table(const Family& family) {
  std::vector<Row> rows;
  for (const Row& row : table()) {
    for (const Definition& definition : family.definitions()) {
      if (definition.op == row.call.op->name) rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Array> inputs_of(const Row& row) {
  if (!row.inputs.empty()) return row.inputs;
  Dice dice(7);
  std::vector<Array> inputs;
  for (size_t i = 0; i < row.call.inputs.size(); ++i) {
    const TensorType& type = row.call.inputs[i];
    inputs.push_back(type.dtype == DType::f32 ? floats_of(row, i, dice)
                                              : integers_of(row, type, dice));
  }
  return inputs;
}

Example example_of(const Row& row) {
  std::vector<Array> inputs = inputs_of(row);
  Answer answer =
      row.inputs.empty() ? row.definition().work_out(row.call, inputs) : Answer{row.outputs, 0};
  return {row.call, std::move(inputs), std::move(answer)};
}

void Sizes::for_each_number(const std::function<int64_t(int64_t)>& change) {
  for (TensorType& type : inputs) {
    for (int64_t& extent : type.shape) extent = change(extent);
  }
  for (const auto& [name, value] : Attributes(attributes)) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      attributes.set(name, change(*number));
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      std::vector<int64_t> changed = *list;
      for (int64_t& each : changed) each = change(each);
      attributes.set(name, changed);
    }
  }
}

std::optional<Row> varied(const Row& row, Dice& dice) {
  Sizes sizes = sizes_of(row);
  std::map<int64_t, int64_t> changed;
  sizes.for_each_number([&](int64_t n) {
    const int64_t other = n < 2 || dice.coin() ? n : n + dice.between(-1, 3);
    return changed.emplace(n, other).first->second;
  });
  try {
    Row other = row;
    other.call = make_call(*row.call.op, sizes.inputs, sizes.attributes);
    return other;
  } catch (const Error&) {
    return {};
  }
}

bool is_quick(const OperatorCall& call) {
  if (call.op->flops != nullptr && !(call.op->flops(call) < 1e5)) return false;
  double elements = 0;
  for (const auto* types : {&call.inputs, &call.outputs}) {
    for (const TensorType& type : *types) elements += static_cast<double>(type.elements());
  }
  for (const auto& [name, value] : call.attributes) {
    const auto* integer = std::get_if<int64_t>(&value);
    const auto* list = std::get_if<std::vector<int64_t>>(&value);
    for (int64_t n : list ? *list : std::vector<int64_t>{integer ? *integer : 0}) {
      if (n > 10000 || n < -10000) return false;
    }
  }
  return elements < 1e5;
}

}  // namespace kbench::definitions
