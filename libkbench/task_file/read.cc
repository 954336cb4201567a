// From YAML to a TaskFile.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/yaml_reader.h"
#include "libkbench/task_file/task_file.h"

namespace kbench {
namespace {

constexpr int64_t kFormatVersion = 1;
constexpr size_t kMostBytes = size_t{4} << 20;  ///< of a file

/// Adds what a node means to the hash: kinds, keys and scalars, not comments or layout.
void add_meaning(const YAML::Node& node, Sha256& hash) {
  if (node.IsMap()) {
    hash.add("map" + std::to_string(node.size()));
    for (const auto& entry : node) {
      hash.add(entry.first.Scalar());
      add_meaning(entry.second, hash);
    }
  } else if (node.IsSequence()) {
    hash.add("list" + std::to_string(node.size()));
    for (const auto& item : node) add_meaning(item, hash);
  } else {
    hash.add(node.IsScalar() ? node.Scalar() : "");
  }
}

class TaskFileReader {
 public:
  TaskFileReader(const std::string& text, const std::string& file)
      : yaml_(text, file, "a task's file"), steps_(text, file, "", {}) {
    file_->path = file;
  }

  std::shared_ptr<const TaskFile> read() {
    const YamlFields top =
        yaml_.fields(yaml_.root(), "the task's file",
                     {"kbench_task", "name", "title", "family", "description", "module",
                      "variables", "constants", "inputs", "parameters", "data", "operators",
                      "outputs", "tolerance", "honest_error"},
                     {"kbench_task", "name", "inputs", "operators", "outputs"}, steps_.errors());
    const YAML::Node version = top.find("kbench_task")->value;
    if (yaml_.integer(version, "kbench_task (the format's version)") != kFormatVersion) {
      fail_parse(yaml_.at(version), "this build reads version 1 of a task's file");
    }
    keep([&] { read_names(top); });
    each_of(top, "variables", [&](const YamlEntry& each) { read_variable(each); });
    each_of(top, "constants", [&](const YamlEntry& each) {
      check_constant_name(each, "constant");
      file_->constants.emplace_back(each.key, yaml_.text(each.value, "a constant"));
    });
    each_of(top, "inputs",
            [&](const YamlEntry& each) { file_->inputs.push_back(tensor(each, true)); });
    each_of(top, "parameters",
            [&](const YamlEntry& each) { file_->parameters.push_back(tensor(each, false)); });
    each_of(top, "data", [&](const YamlEntry& each) { file_->data.push_back(data(each)); });
    keep([&] { file_->operators = steps_.task_steps(top.find("operators")->value); });
    for (const auto& each : yaml_.list_or_one(top.find("outputs")->value)) {
      keep([&] { file_->outputs.push_back(yaml_.text(each, "an output")); });
    }
    for (const char* key : {"inputs", "operators", "outputs"}) {
      const YamlEntry& entry = *top.find(key);
      const bool empty = !entry.value.IsScalar() && entry.value.size() == 0;
      if (empty) keep([&] { fail_parse(entry.at, "a task has " + entry.key); });
    }
    if (const auto* entry = top.find("tolerance")) keep([&] { read_tolerance(*entry); });
    each_of(top, "honest_error", [&](const YamlEntry& each) { read_honest(each); });
    steps_.errors().throw_all();
    hash();
    return file_;
  }

 private:
  template <class Read>
  void keep(Read&& read) {
    steps_.errors().keep(read);
  }
  /// Calls `read` for each entry of the map of that key, where there is one.
  template <class Read>
  void each_of(const YamlFields& top, const char* key, Read read) {
    const YamlEntry* entry = top.find(key);
    if (entry == nullptr) return;
    keep([&] {
      for (const YamlEntry& each : yaml_.entries(entry->value, key)) keep([&] { read(each); });
    });
  }

  void read_names(const YamlFields& top) {
    const Sourced name = yaml_.text(top, "name");
    if (!is_own_name(name.text) || name.text.size() > limits::kNameBytes) {
      fail_parse(name.at,
                 quoted(name.text) + " cannot name a task; write a set and a name, as in my/mlp");
    }
    file_->id.own = name.text;
    const auto title = yaml_.text_if_any(top, "title");
    file_->title = title ? title->text : name.text.substr(name.text.find('/') + 1);
    const auto family = yaml_.text_if_any(top, "family");
    file_->family = family ? family->text : "own";
    if (const auto module = yaml_.text_if_any(top, "module")) file_->module = module->text;
  }

  VariableValue variable(const YAML::Node& node) {
    if (node.IsSequence()) {
      std::vector<int64_t> list;
      for (const auto& item : node) list.push_back(yaml_.integer(item, "an item of a list"));
      return list;
    }
    const Sourced text = yaml_.text(node, "a variable's value");
    int64_t integer = 0;
    double real = 0;
    if (read_number(text.text, integer)) return integer;
    if (read_number(text.text, real) && std::isfinite(real)) return real;
    fail_parse(text.at, quoted(text.text) + " is no integer, real number or list of integers");
  }

  void read_variable(const YamlEntry& entry) {
    check_constant_name(entry, "variable");
    if (!entry.value.IsMap()) {
      file_->variables.emplace_back(entry.key, variable(entry.value));
      return;
    }
    const YamlFields presets =
        yaml_.fields(entry.value, "a variable", names_to(Preset::v0_1), {"smoke", "v0.1"});
    const VariableValue large = variable(presets.find("v0.1")->value);
    const auto* v0 = presets.find("v0");
    VariableSpec& spec =
        file_->variables.emplace_back(entry.key, variable(presets.find("smoke")->value),
                                      v0 != nullptr ? variable(v0->value) : large, large);
    if (const auto* train = presets.find("train")) spec.train = variable(train->value);
  }

  DType dtype(const YamlFields& fields) {
    const auto text = yaml_.text_if_any(fields, "dtype");
    if (!text) return DType::f32;
    try {
      const DType dtype = dtype_from_name(text->text);
      if (!is_half(dtype)) return dtype;
    } catch (const Error& error) {
      fail_parse(text->at, error.message());
    }
    fail_parse(text->at, "floating tensors are written f32; --dtype " + text->text +
                             " makes the task one of " + text->text);
  }

  DeclaredTensor tensor(const YamlEntry& entry, bool input) {
    std::vector<std::string> allowed = {"shape", "distribution", "repeat"};
    if (input) allowed.push_back("dtype");
    const YamlFields fields =
        yaml_.fields(entry.value, quoted(entry.key), allowed, {"shape"}, steps_.errors());
    DeclaredTensor tensor;
    tensor.name = {entry.key, entry.at};
    tensor.shape = steps_.extents(fields);
    tensor.dtype = dtype(fields);
    constexpr DType kDrawn[] = {DType::f32, DType::i64, DType::u8, DType::boolean};
    if (std::ranges::count(kDrawn, tensor.dtype) == 0) {
      fail_parse(entry.at,
                 "an input is of f32, i64, u8 or bool, not " + std::string(name_of(tensor.dtype)));
    }
    if (const auto* repeat = fields.find("repeat")) {
      tensor.repeats = steps_.task_repeats(*repeat);
    }
    tensor.distribution.at = entry.at;
    if (const auto text = yaml_.text_if_any(fields, "distribution")) {
      tensor.distribution = drawn(*text);
    } else if (!input) {
      tensor.distribution = drawn({"uniform(-0.5, 0.5)", entry.at});
    }
    return tensor;
  }

  /// "normal", "uniform(-1, 1)", "normal(0, 2), triu", "weights(1 / sqrt(width))".
  static DrawnFrom drawn(const Sourced& text) {
    DrawnFrom result;
    result.at = text.at;
    const auto trimmed = [](std::string_view word) { return std::string(kbench::trimmed(word)); };
    // Commas outside of parentheses part the drawing from what follows it, inside its numbers.
    std::vector<std::string> parts(1), numbers(1);
    int depth = 0;
    std::string kind;
    for (const char c : text.text) {
      if (c == '(' && depth++ == 0) {
        kind = trimmed(parts.back());
        continue;
      }
      if (c == ')' && --depth == 0) continue;
      if (depth < 0) break;
      std::vector<std::string>& into = depth > 0 ? numbers : parts;
      if (c == ',' && depth <= 1) {
        into.emplace_back();
      } else {
        into.back() += c;
      }
    }
    if (kind.empty()) kind = trimmed(parts.front());
    const std::string all = quoted(text.text);
    if (depth != 0 || parts.size() > 2) {
      fail_parse(text.at, all + " is no distribution; write uniform(-1, 1) or normal");
    }
    result.weights = kind == "weights";
    result.fan_in = kind == "fan_in";
    const bool one_number = result.weights || result.fan_in;
    const auto named = one_number ? std::optional(Distribution::Kind::uniform)
                                  : value_named(kind, Distribution::Kind::randint);
    if (!named) {
      fail_parse(text.at, "there is no distribution " + kbench::quoted(kind) +
                              " (known: uniform, normal, randint, weights, fan_in)");
    }
    result.kind = *named;
    const bool has_numbers = numbers.size() > 1 || !trimmed(numbers[0]).empty();
    const size_t taken = one_number ? 1 : 2;
    if (has_numbers ? numbers.size() != taken : result.kind != Distribution::Kind::normal) {
      fail_parse(text.at, all + (one_number ? " takes one number, as in " + kind + "(1)"
                                            : " takes two numbers, as in " + kind + "(-1, 1)"));
    }
    if (has_numbers) {
      for (const std::string& number : numbers) {
        result.numbers.push_back({trimmed(number), text.at});
      }
    }
    if (parts.size() == 2) {
      const auto then = value_named(trimmed(parts[1]), Distribution::Then::offset);
      if (!then) {
        fail_parse(text.at, "nothing called " + kbench::quoted(parts[1]) + " follows a drawing");
      }
      result.then = *then;
    }
    return result;
  }

  /// "0*48 -100 inf": numbers, each as often as the factor before it says.
  void read_values(const Sourced& text, DeclaredData& data) {
    std::istringstream words(text.text);
    for (std::string word; words >> word;) {
      int64_t times = 1;
      const size_t star = word.find('*');
      bool good = true;
      if (star != std::string::npos) {
        good = read_number(word.substr(0, star), times) && times >= 1;
        word.erase(0, star + 1);
      }
      double real = 0;
      int64_t integer = 0;
      if (word == "inf" || word == "-inf") {
        real = (word[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
      } else {
        good = good &&
               (data.dtype == DType::f32 ? read_number(word, real) : read_number(word, integer));
      }
      if (!good) fail_parse(text.at, kbench::quoted(word) + " is no value");
      if (times > kMostDataValues - data_values_) {
        fail_parse(text.at, "the file's data has more than 2^24 values");
      }
      data_values_ += times;
      data.values.push_back({data.dtype == DType::f32
                                 ? std::bit_cast<uint32_t>(static_cast<float>(real))
                                 : std::bit_cast<uint64_t>(integer),
                             static_cast<uint32_t>(times)});
    }
  }

  DeclaredData data(const YamlEntry& entry) {
    const YamlFields fields = yaml_.fields(entry.value, quoted(entry.key),
                                           {"shape", "dtype", "causal", "values"}, {"shape"});
    DeclaredData data;
    data.name = {entry.key, entry.at};
    data.at = entry.at;
    data.shape = steps_.extents(fields);
    data.dtype = dtype(fields);
    if (data.dtype != DType::f32 && data.dtype != DType::i64) {
      fail_parse(entry.at, "data is of f32 or i64");
    }
    const auto* causal = fields.find("causal");
    const auto values = yaml_.text_if_any(fields, "values");
    if ((causal != nullptr) == values.has_value()) {
      fail_parse(entry.at, "data has either 'values' or 'causal: true'");
    }
    if (causal != nullptr) {
      data.causal = yaml_.boolean(causal->value, "causal");
      if (!data.causal || data.dtype != DType::f32) {
        fail_parse(causal->at, "'causal: true' is a mask of f32");
      }
    } else {
      read_values(*values, data);
    }
    return data;
  }

  void read_tolerance(const YamlEntry& entry) {
    const YamlFields fields =
        yaml_.fields(entry.value, "tolerance", {"relative", "reason"}, {"relative", "reason"});
    const Sourced relative = yaml_.text(fields, "relative");
    if (!read_number(relative.text, file_->tolerance.relative) ||
        !(file_->tolerance.relative > 0 && file_->tolerance.relative < 1)) {
      fail_parse(relative.at, "a tolerance is between 0 and 1, got " + quoted(relative.text));
    }
    file_->tolerance.reason = yaml_.text(fields, "reason").text;
  }

  /// What honest computing in a half is off by.
  void read_honest(const YamlEntry& entry) {
    const bool half = entry.key == name_of(DType::f16) || entry.key == name_of(DType::bf16);
    if (!half) fail_parse(entry.at, "honest_error is of f16 or bf16, not " + quoted(entry.key));
    const std::string what = "honest_error of " + entry.key;
    const YamlFields fields =
        yaml_.fields(entry.value, what, {"relative", "rms", "elements", "undefined"});
    HonestError& honest = file_->honest[dtype_from_name(entry.key)];
    if (const auto* undefined = fields.find("undefined")) {
      honest.undefined = yaml_.text(undefined->value, "undefined").text;
      return;
    }
    const auto error = [&](const char* name) {
      const auto* given = fields.find(name);
      if (given == nullptr) fail_parse(entry.at, what + " needs '" + name + "'");
      const Sourced number = yaml_.text(given->value, name);
      double value = 0;
      if (!read_number(number.text, value) || !(value >= 0 && std::isfinite(value))) {
        fail_parse(number.at, what + ": " + name + " is 0 or more, got " + quoted(number.text));
      }
      return value;
    };
    honest.relative = error("relative");
    honest.rms = error("rms");
    if (const auto* elements = fields.find("elements")) {
      honest.elements = yaml_.integer(elements->value, "elements");
      if (honest.elements < 1) fail_parse(elements->at, what + ": elements is 1 at least");
    }
  }

  void hash() {
    Sha256 hash;
    for (const auto& entry : yaml_.root()) {
      const std::string& key = entry.first.Scalar();
      if (key == "description" || key == "module") continue;
      hash.add(key);
      add_meaning(entry.second, hash);
    }
    file_->id.meaning = std::stoull(hash.hex().substr(0, 16), nullptr, 16) | 1;
  }

  int64_t data_values_ = 0;  ///< read so far
  YamlReader yaml_;
  CandidateParser steps_;  ///< the steps' language is a candidate's
  std::shared_ptr<TaskFile> file_ = std::make_shared<TaskFile>();
};

}  // namespace

std::shared_ptr<const TaskFile> read_task_file(const std::string& text, const std::string& file) {
  if (text.size() > kMostBytes) {
    fail_parse({file, 0, 0}, "a task's file has at most 4 MiB, this one " +
                                 std::to_string(text.size()) + " bytes");
  }
  return TaskFileReader(text, file).read();
}

}  // namespace kbench
