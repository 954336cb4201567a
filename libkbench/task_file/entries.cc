#include "libkbench/task_file/entries.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "libkbench/base/text.h"

namespace kbench::written {
namespace {

/// A name with its whole numbers apart.
Text name_text(const std::string& name, std::string label = "number") {
  constexpr size_t kMostDigits = 15;
  Text text{Text::Kind::name, std::move(label), {""}, {}};
  const auto digit = [&](size_t i) {
    return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i]));
  };
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (digit(end)) ++end;
    // "007" is no number that could be written again.
    const bool counts = end > i && end - i <= kMostDigits && (end == i + 1 || name[i] != '0');
    if (counts) {
      text.numbers.emplace_back(int64_t{std::stoll(name.substr(i, end - i))});
      text.words.emplace_back();
      i = end;
    } else {
      end = std::max(end, i + 1);
      text.words.back() += name.substr(i, end - i);
      i = end;
    }
  }
  return text;
}

/// "[2, 3]" behind the words `before`.
Text list_text(Text::Kind kind, std::string label, const std::string& before,
               const std::vector<int64_t>& values) {
  Text text{kind, std::move(label), {before + "["}, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    text.numbers.emplace_back(values[i]);
    text.words.emplace_back(i + 1 < values.size() ? ", " : "]");
  }
  if (values.empty()) text.words[0] += "]";
  return text;
}

/// The node that takes the value as its weights, if it is a convolution.
const Graph::Node* convolution_with(const Graph& graph, int weights) {
  for (const Graph::Node& node : graph.nodes()) {
    if (node.inputs.size() > 1 && node.inputs[1] == weights) {
      return node.call.op->name.starts_with("conv") ? &node : nullptr;
    }
  }
  return nullptr;
}

/// How many numbers go into an element of the output: of what a transposed convolution slides over
/// its output with a stride, only every stride-th.
int64_t fan_in_of(const OperatorCall& call) {
  const Shape& weight = call.inputs[1].shape;
  const bool transposed = call.op->name.starts_with("conv_transpose");
  int64_t fan_in = transposed ? weight[0] / call.attributes.integer("groups") : weight[1];
  for (size_t i = 2; i < weight.size(); ++i) fan_in *= weight[i];
  if (transposed) {
    int64_t strides = 1;
    for (const int64_t stride : call.attributes.list("stride")) strides *= stride;
    fan_in /= strides;
  }
  return fan_in;
}

/// The number of those that a parameter's distribution was made for (weight_init()).
std::optional<int64_t> fan_in(const Graph& graph, int id) {
  const Graph::ValueInfo& info = graph.value(id);
  const Shape& shape = info.type.shape;
  if (shape.size() < 2 || info.distribution.kind != Distribution::Kind::uniform) return {};
  std::vector<int64_t> candidates;
  if (const Graph::Node* node = convolution_with(graph, id)) {
    candidates.push_back(fan_in_of(node->call));
  }
  candidates.push_back(shape[1]);
  candidates.push_back(shape[0]);
  for (const int64_t candidate : candidates) {
    if (weight_init(std::max<int64_t>(candidate, 1)) == info.distribution) return candidate;
  }
  return {};
}

class Reader {
 public:
  Reader(const Graph& graph, const std::set<std::string>& weights, const std::string& task)
      : graph_(graph), weights_(weights), task_(task) {}

  Entries entries() const {
    Entries all;
    for (const int id : graph_.values_of(Graph::Kind::input)) all.inputs.push_back(tensor(id));
    for (const int id : graph_.values_of(Graph::Kind::parameter)) {
      all.parameters.push_back(tensor(id));
    }
    for (const int id : graph_.values_of(Graph::Kind::constant)) all.data.push_back(data(id));
    for (const Graph::Node& node : graph_.nodes()) all.operators.push_back(operation(node));
    Entry& outputs = all.outputs.emplace_back();
    for (const int id : graph_.outputs()) outputs.operands.push_back(name(id));
    return all;
  }

 private:
  Text name(int id) const { return name_text(graph_.value(id).name); }

  Text distribution(int id) const {
    const Graph::ValueInfo& info = graph_.value(id);
    const Distribution& drawn = info.distribution;
    Text text{Text::Kind::distribution, info.name, {}, {}};
    if (weights_.contains(info.name)) {
      text.label += "_fan_in";
      text.words = {"fan_in(", ")"};
      text.numbers = {*fan_in(graph_, id)};
      return text;
    }
    text.words = {std::string(name_of(drawn.kind)) + "(", ", ", ")"};
    for (const double number : {drawn.lo, drawn.hi}) {
      if (drawn.kind == Distribution::Kind::randint) {
        text.numbers.emplace_back(static_cast<int64_t>(number));
      } else {
        text.numbers.emplace_back(number);
      }
    }
    if (drawn.then != Distribution::Then::nothing) {
      text.words.back() += ", " + std::string(name_of(drawn.then));
    }
    return text;
  }

  Entry tensor(int id) const {
    const Graph::ValueInfo& info = graph_.value(id);
    Entry entry;
    if (info.type.dtype != DType::f32) entry.head = name_of(info.type.dtype);
    entry.texts = {name(id), list_text(Text::Kind::shape, info.name + "_dim", "", info.type.shape),
                   distribution(id)};
    entry.texts[0].label = entry.texts[0].words[0] + "_number";
    return entry;
  }

  Entry data(int id) const {
    const Graph::ValueInfo& info = graph_.value(id);
    Entry entry;
    if (info.type.dtype != DType::f32) {
      entry.head = "    dtype: " + std::string(name_of(info.type.dtype)) + "\n";
    }
    entry.head +=
        is_causal(info) ? "    causal: true\n" : "    values: \"" + values_text(info.data) + "\"\n";
    entry.texts = {name(id), list_text(Text::Kind::shape, info.name + "_dim", "", info.type.shape)};
    return entry;
  }

  static bool is_causal(const Graph::ValueInfo& info) {
    const Shape& shape = info.type.shape;
    if (info.type.dtype != DType::f32 || shape.size() != 2) return false;
    const auto values = info.data.data<float>();
    for (int64_t i = 0; i < info.type.elements(); ++i) {
      const float value = values[static_cast<size_t>(i)];
      const bool above = i % shape[1] > i / shape[1];
      if (above ? !(std::isinf(value) && value < 0) : value != 0) return false;
    }
    return true;
  }

  std::string values_text(const Tensor& tensor) const {
    std::string text;
    const auto put = [&](const std::string& value, int64_t times) {
      text += (text.empty() ? "" : " ") + (times > 1 ? std::to_string(times) + "*" : "") + value;
    };
    const auto runs = [&](auto values, const auto& written) {
      for (size_t i = 0; i < values.size();) {
        size_t end = i + 1;
        // By bits: 0 is not -0.
        while (end < values.size() &&
               std::memcmp(&values[end], &values[i], sizeof values[i]) == 0) {
          ++end;
        }
        put(written(values[i]), static_cast<int64_t>(end - i));
        i = end;
      }
    };
    if (tensor.dtype() == DType::f32) {
      runs(tensor.data<float>(), [](float value) {
        return std::isinf(value) ? std::string(value < 0 ? "-inf" : "inf") : number_text(value);
      });
    } else if (tensor.dtype() == DType::i64) {
      runs(tensor.data<int64_t>(), [](int64_t value) { return std::to_string(value); });
    } else {
      throw Error(ErrorCode::kUnsupported,
                  task_ + ": a task's file has no data of " + std::string(name_of(tensor.dtype())));
    }
    return text;
  }

  Entry operation(const Graph::Node& node) const {
    Entry entry;
    const OperatorCall& call = node.call;
    entry.head = call.op->name;
    for (const int id : node.inputs) entry.operands.push_back(name(id));
    for (const int id : node.outputs) {
      entry.texts.push_back(name_text(graph_.value(id).name, call.op->name + "_number"));
    }
    entry.extents.in = call.inputs[0].shape;
    entry.extents.out = call.outputs[0].shape;
    if (call.inputs.size() > 1) entry.extents.second = call.inputs[1].shape;
    if (call.op->name.starts_with("conv")) entry.extents.fan_in = fan_in_of(call);
    for (const AttributeSpec& spec : call.op->attributes) {
      const AttributeValue* given = call.attributes.find(spec.name);
      if (given == nullptr) continue;
      const std::string label = call.op->name + "_" + spec.name;
      if (std::holds_alternative<std::string>(*given)) {
        if (spec.required || *given != spec.fallback) {
          entry.texts.push_back(
              {Text::Kind::attribute, label, {spec.name + ": " + to_string(*given)}, {}});
        }
        continue;
      }
      Text text = attribute(label, spec.name, *given);
      if (!spec.required) {
        text.has_fallback = true;
        text.fallback = attribute(label, spec.name, spec.fallback).numbers;
      }
      entry.texts.push_back(std::move(text));
    }
    return entry;
  }

  static Text attribute(const std::string& label, const std::string& name,
                        const AttributeValue& value) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      return list_text(Text::Kind::attribute, label, name + ": ", *list);
    }
    Text text{Text::Kind::attribute, label, {name + ": ", ""}, {}};
    if (const auto* real = std::get_if<double>(&value)) {
      text.numbers.emplace_back(*real);
    } else {
      text.numbers.emplace_back(std::get<int64_t>(value));
    }
    return text;
  }

  const Graph& graph_;
  const std::set<std::string>& weights_;  ///< parameters whose distribution is weight_init()
  const std::string& task_;
};

/// Numbers for texts: the same for equal ones.
class Forms {
 public:
  void number(std::vector<Entry>& entries) {
    for (Entry& entry : entries) {
      entry.form = form_of(entry.head);
      for (std::vector<Text>* texts : {&entry.texts, &entry.operands}) {
        for (Text& text : *texts) {
          std::string words;
          for (const std::string& word : text.words) words += word + '\1';
          text.form = form_of(words);
        }
      }
    }
  }

 private:
  int form_of(const std::string& text) {
    return forms_.try_emplace(text, static_cast<int>(forms_.size())).first->second;
  }
  std::unordered_map<std::string, int> forms_;
};

}  // namespace

std::vector<Entries> entries_of(const std::vector<const Graph*>& graphs, const std::string& task) {
  // Not those that have such a bound at one size by chance.
  std::map<std::string, bool> weights;
  for (const Graph* graph : graphs) {
    for (const int id : graph->values_of(Graph::Kind::parameter)) {
      const auto known = weights.emplace(graph->value(id).name, true).first;
      known->second = known->second && fan_in(*graph, id).has_value();
    }
  }
  std::set<std::string> names;
  for (const auto& [name, all] : weights) {
    if (all) names.insert(name);
  }
  std::vector<Entries> result;
  Forms forms;
  for (const Graph* graph : graphs) {
    Entries& all = result.emplace_back(Reader(*graph, names, task).entries());
    for (auto* list : {&all.inputs, &all.parameters, &all.data, &all.operators, &all.outputs}) {
      forms.number(*list);
    }
  }
  return result;
}

}  // namespace kbench::written
