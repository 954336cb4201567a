// The graph as a Python module that uses torch. kbench only prints it; tests run it.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "kbench/listing.h"
#include "libkbench/base/text.h"
#include "libkbench/listing/printer.h"

namespace kbench {
namespace listing {
namespace {

/// Whether an input's parameter in Python cannot have the name: Python's own words, and what the
/// programs use themselves.
bool is_taken(const std::string& name, bool constants) {
  static const std::set<std::string> words = {
      "False",  "None",   "True",     "and",    "as",   "assert", "async",  "await",    "break",
      "class",  "def",    "continue", "del",    "elif", "else",   "except", "finally",  "for",
      "from",   "global", "if",       "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",     "pass",   "raise",    "return", "try",  "while",  "with",   "yield",    "self",
      "locals", "range",  "dict",     "torch",  "F",    "p"};
  return words.contains(name) || (constants && name == "c");
}

std::set<std::string> with_inputs(const Graph& graph) {
  std::set<std::string> names = {"torch", "F", "p", "c", "all", "w", "end", "layer"};
  for (const auto& [id, name] : inputs_in_python(graph)) names.insert(name);
  return names;
}

class Code : public Printer {
 public:
  Code(const Graph& graph, const Program& program)
      : Printer(graph, program, with_inputs(graph)), inputs_(inputs_in_python(graph)) {}

  std::string text(const Task& task) {
    std::string inputs;
    for (const int id : graph_.values_of(Graph::Kind::input)) inputs += inputs_.at(id) + ", ";
    std::string text = "import torch\nimport torch.nn.functional as F\n\n\n# " + task.name +
                       ". p: the parameters by name";
    const bool constants = !graph_.values_of(Graph::Kind::constant).empty();
    if (constants) text += "; c: the constants";
    text += ".\ndef forward(" + inputs + "p" + (constants ? ", c" : "") + "):\n";
    for (const int variable : remembered_) {
      text += "  all_" + program_.variables[size_t(variable)] + " = []\n";
    }
    text += print("  ");
    text += "  return ";
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      text += (i ? ", " : "") + graph_.output_name(i);
    }
    return text + "\n";
  }

 private:
  /// An operator's operands and attributes as Python expressions.
  struct Arguments {
    std::vector<std::string> in;
    std::map<std::string, std::string> attributes;
    const std::string& operator[](const std::string& name) const { return attributes.at(name); }
    /// Throws kInternal where it changes from pass to pass.
    bool flag(const std::string& name) const {
      const std::string& text = attributes.at(name);
      if (text != "0" && text != "1") {
        throw Error(ErrorCode::kInternal, "'" + name + "' changes within a loop");
      }
      return text == "1";
    }
  };

  std::string operation(const Line& line) override {
    Arguments arguments{operands(line), {}};
    for (const AttributeSpec& spec : call(line).op->attributes) {
      const std::vector<std::string> numbers = attribute(line, spec.name);
      const bool is_list =
          std::holds_alternative<std::vector<int64_t>>(*call(line).attributes.find(spec.name));
      std::string text = is_list ? "(" : "";
      for (size_t i = 0; i < numbers.size(); ++i) text += (i ? ", " : "") + numbers[i];
      if (is_list) text += numbers.size() == 1 ? ",)" : ")";
      const bool tuple = is_list && spec.name != "shape" && spec.name != "axes";
      if (tuple && std::all_of(numbers.begin(), numbers.end(),
                               [&](const std::string& one) { return one == numbers[0]; })) {
        text = numbers[0];
      }
      arguments.attributes[spec.name] = text;
    }
    return python(line, arguments);
  }

  std::string python(const Line& line, const Arguments& a) {
    const std::string& op = call(line).op->name;
    const std::string& x = a.in[0];
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), op) != names.end();
    };
    const auto functional = [&](const std::string& rest) { return "F." + op + "(" + rest + ")"; };
    if (is({"relu", "sigmoid", "tanh", "exp", "log", "sin", "cos", "abs", "neg", "square", "sqrt",
            "triu", "tril", "maximum", "minimum"})) {
      return "torch." + op + "(" + joined(a.in) + ")";
    }
    if (op == "cube") return "torch.pow(" + x + ", 3)";
    if (op == "cast") return x + cast_to(a["dtype"]);
    if (is({"gelu", "selu", "softplus", "mish", "hardsigmoid", "hardswish"})) return functional(x);
    if (op == "leaky_relu") return functional(x + ", negative_slope=" + a["slope"]);
    if (op == "elu") return functional(x + ", alpha=" + a["alpha"]);
    if (op == "clamp") return "torch.clamp(" + x + ", " + a["lo"] + ", " + a["hi"] + ")";
    if (is({"clamp_min", "clamp_max"})) return x + "." + op + "(" + a["value"] + ")";
    if (const char* sign = infix(op)) {
      const std::string right = a.in.size() > 1 ? a.in[1] : a["value"];
      return x + sign + (right[0] == '-' ? "(" + right + ")" : right);
    }
    if (op == "reshape") return x + ".reshape(" + bare(a["shape"]) + ")";
    if (op == "permute") return x + ".permute(" + bare(a["axes"]) + ")";
    if (op == "expand") return x + ".expand(" + bare(a["shape"]) + ")";
    if (op == "slice") return sliced(a);
    if (op == "cat") return "torch.cat(" + list_of(a.in) + ", dim=" + a["axis"] + ")";
    if (op == "pad") return padded(line, a);
    if (op == "roll") return "torch.roll(" + x + ", " + a["shift"] + ", dims=" + a["axis"] + ")";
    if (op == "flip") return "torch.flip(" + x + ", [" + a["axis"] + "])";
    if (op == "index_rows") return "F.embedding(" + a.in[1] + ", " + x + ")";
    if (op == "gather") return "torch.gather(" + x + ", -1, " + a.in[1] + ")";
    if (is({"sum", "mean", "argmax", "argmin", "logsumexp"})) return reduced("torch." + op, a);
    if (is({"max", "min"})) return reduced("torch.a" + op, a);
    if (op == "norm") return reduced("torch.linalg.vector_norm", a);
    if (is({"cumsum", "cumprod", "softmax", "log_softmax"})) {
      return "torch." + op + "(" + x + ", dim=" + a["axis"] + ")";
    }
    if (op == "matmul") {
      return "torch.matmul(" + x + (a.flag("transpose_a") ? ".mT" : "") + ", " + a.in[1] +
             (a.flag("transpose_b") ? ".mT" : "") + ")";
    }
    if (is({"linear", "cross_entropy", "smooth_l1_loss"})) return functional(joined(a.in));
    if (op == "kl_div_batchmean") return "F.kl_div(" + joined(a.in) + ", reduction=\"batchmean\")";
    if (op == "triplet_margin_loss") return functional(joined(a.in) + ", margin=" + a["margin"]);
    if (op.starts_with("conv")) {
      return functional(
          joined(a.in) +
          keywords(line, a, {"stride", "padding", "output_padding", "dilation", "groups"}));
    }
    if (op == "adaptive_avg_pool2d") return functional(x + ", " + a["output"]);
    if (op.find("_pool") != std::string::npos) {
      return functional(x + ", " + a["kernel"] + ", stride=" + a["stride"] +
                        keywords(line, a, {"padding", "dilation"}) +
                        (a.flag("ceil_mode") ? ", ceil_mode=True" : ""));
    }
    const std::string weights = a.in.size() > 2 ? ", " + a.in[1] + ", " + a.in[2] : "";
    if (op == "batch_norm") {
      return functional(x + ", None, None" + weights + ", training=True, eps=" + a["eps"]);
    }
    if (op == "instance_norm") {
      return functional(x + (weights.empty() ? "" : ", None, None" + weights) +
                        ", eps=" + a["eps"]);
    }
    const std::string affine = weights.empty() ? ", None, None" : weights;
    if (op == "group_norm") return functional(x + ", " + a["groups"] + affine + ", " + a["eps"]);
    if (op == "layer_norm") {
      return functional(x + ", " + x + ".shape[-" + a["dims"] + ":]" + affine + ", " + a["eps"]);
    }
    if (is({"lstm", "gru"})) return recurrent(line, a, op);
    throw Error(ErrorCode::kInternal, "operator '" + op + "' has no form in Python");
  }

  /// PyTorch has no arithmetic on 32-bit integers without a sign.
  std::string cast_to(const std::string& name) const {
    if (name == "u32") return ".to(torch.int64) % 2**32";
    static const std::map<std::string, std::string> types = {
        {"f64", "float64"}, {"i64", "int64"},   {"i32", "int32"},    {"u8", "uint8"},
        {"bool", "bool"},   {"f16", "float16"}, {"bf16", "bfloat16"}};
    const auto found = types.find(name);
    // Floats of f32 are stored in the task's type.
    return ".to(torch." +
           (found == types.end() ? std::string(long_name_of(graph_.dtype())) : found->second) + ")";
  }

  static const char* infix(const std::string& op) {
    static const std::map<std::string, const char*> signs = {
        {"add", " + "},        {"sub", " - "},        {"mul", " * "},
        {"div", " / "},        {"add_scalar", " + "}, {"sub_scalar", " - "},
        {"mul_scalar", " * "}, {"div_scalar", " / "}, {"mul_mask", " * "}};
    const auto found = signs.find(op);
    return found == signs.end() ? nullptr : found->second;
  }

  /// "[v1, v2]"; a range of past values is a list as it is.
  static std::string list_of(const std::vector<std::string>& texts) {
    if (texts.size() == 1 && texts[0].starts_with('*')) return texts[0].substr(1);
    return "[" + joined(texts) + "]";
  }

  static std::string joined(const std::vector<std::string>& texts) {
    return listed(texts, std::identity());
  }

  /// "(1, 2)" without its parentheses.
  static std::string bare(const std::string& tuple) {
    std::string text = tuple.substr(1, tuple.size() - 2);
    if (text.ends_with(',')) text.pop_back();
    return text;
  }

  /// Attributes as keywords, without those that have their defaults; a list of equal numbers
  /// becomes one number.
  std::string keywords(const Line& line, const Arguments& a,
                       std::initializer_list<const char*> names) const {
    std::string text;
    for (const AttributeSpec& spec : call(line).op->attributes) {
      if (std::find(names.begin(), names.end(), spec.name) == names.end()) continue;
      bool needless = true;
      for (size_t run = 0; run < line.nodes.size() && needless; ++run) {
        needless = *call(line, run).attributes.find(spec.name) == spec.fallback;
      }
      if (!needless) text += ", " + spec.name + "=" + a[spec.name];
    }
    return text;
  }

  static std::string sliced(const Arguments& a) {
    const std::string range =
        a["start"] + ":" + a["stop"] + (a["step"] == "1" ? "" : ":" + a["step"]);
    if (a["axis"].find_first_not_of("0123456789") != std::string::npos) {
      return a.in[0] + ".movedim(" + a["axis"] + ", 0)[" + range + "].movedim(0, " + a["axis"] +
             ")";
    }
    std::string colons;
    for (int d = 0; d < std::stoi(a["axis"]); ++d) colons += ":, ";
    return a.in[0] + "[" + colons + range + "]";
  }

  std::string padded(const Line& line, const Arguments& a) const {
    if (a["axis"].find_first_not_of("0123456789") != std::string::npos) {
      throw Error(ErrorCode::kInternal, "a pad's axis changes within a loop");
    }
    const int64_t after = int64_t(call(line).inputs[0].shape.size()) - 1 - std::stoll(a["axis"]);
    std::string zeros;
    for (int64_t d = 0; d < after; ++d) zeros += "0, 0, ";
    return "F.pad(" + a.in[0] + ", (" + zeros + a["before"] + ", " + a["after"] + "))";
  }

  static std::string reduced(const std::string& function, const Arguments& a) {
    return function + "(" + a.in[0] + ", dim=" + a["axis"] +
           (a.flag("keepdim") ? ", keepdim=True" : "") + ")";
  }

  /// torch.lstm(x, (h0, c0), weights, has_biases, layers, dropout, train, bidirectional,
  /// batch_first)
  std::string recurrent(const Line& line, const Arguments& a, const std::string& op) {
    const size_t states = op == "lstm" ? 2 : 1;
    const std::string state = states == 2 ? "(" + a.in[1] + ", " + a.in[2] + ")" : a.in[1];
    return "torch." + op + "(" + a.in[0] + ", " + state + ", " + weights(line, a, 1 + states) +
           ", True, " + a["layers"] + ", 0.0, False, " +
           (a.flag("bidirectional") ? "True" : "False") + ", " +
           (a.flag("batch_first") ? "True" : "False") + ")";
  }

  /// The operands of a recurrent layer from `first` on as a list: a comprehension where their names
  /// are those of PyTorch's module, as "lstm.weight_ih_l0" and "lstm.bias_hh_l5_reverse".
  std::string weights(const Line& line, const Arguments& a, size_t first) {
    const std::string plain = list_of({a.in.begin() + long(first), a.in.end()});
    std::vector<std::string> names;
    for (size_t i = first; i < line.operands.size(); ++i) {
      const Reference& reference = line.operands[i];
      if (reference.kind != Reference::Kind::named || reference.names.size() != 1) return plain;
      names.push_back(reference.names[0]);
    }
    const std::string start = "weight_ih_l0";
    if (names.empty() || !names[0].ends_with(start)) return plain;
    const std::string prefix = names[0].substr(0, names[0].size() - start.size());
    const bool both = a.flag("bidirectional");
    const int64_t layers = call(line).attributes.integer("layers");
    std::vector<std::string> expected;
    for (int64_t layer = 0; layer < layers; ++layer) {
      for (const char* end : {"", "_reverse"}) {
        if (*end && !both) continue;
        for (const char* weight : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
          expected.push_back(prefix + weight + "_l" + std::to_string(layer) + end);
        }
      }
    }
    if (names != expected || layers == 1) return plain;
    return "[p[f\"" + prefix + "{w}_l{layer}" + (both ? "{end}" : "") + "\"] for layer in range(" +
           std::to_string(layers) + ")" + (both ? " for end in (\"\", \"_reverse\")" : "") +
           " for w in (\"weight_ih\", \"weight_hh\", \"bias_ih\", \"bias_hh\")]";
  }

  std::string named(const Line& line, const Reference& reference) override {
    const std::string name = series_.name(line.at, reference.names);
    Graph::Kind kind = Graph::Kind::parameter;
    for (size_t id = 0; id < graph_.values().size(); ++id) {
      const auto& value = graph_.values()[id];
      if (value.name != reference.names[0] || value.kind == Graph::Kind::intermediate) continue;
      kind = value.kind;
      if (kind == Graph::Kind::input && name == value.name) return inputs_.at(int(id));
    }
    const std::string format = name.find('{') == std::string::npos ? "\"" : "f\"";
    const std::string where = kind == Graph::Kind::parameter  ? "p"
                              : kind == Graph::Kind::constant ? "c"
                                                              : "locals()";
    return where + "[" + format + name + "\"]";
  }

  std::string past(const std::string& variable, const std::string& number) override {
    return "all_" + variable + "[" + number + "]";
  }
  std::string past_range(const std::string& variable, int64_t first, int64_t last) override {
    return "*all_" + variable + "[" + std::to_string(first) + ":" + std::to_string(last + 1) + "]";
  }
  std::string after(const std::string& variable) override {
    return "all_" + variable + ".append(" + variable + ")";
  }

  const std::map<int, std::string> inputs_;
};

}  // namespace

std::map<int, std::string> inputs_in_python(const Graph& graph) {
  std::map<int, std::string> names;
  std::set<std::string> taken;
  for (const Graph::ValueInfo& value : graph.values()) taken.insert(value.name);
  const bool constants = !graph.values_of(Graph::Kind::constant).empty();
  for (const int id : graph.values_of(Graph::Kind::input)) {
    std::string name = graph.value(id).name;
    if (is_taken(name, constants)) {
      do name += '_';
      while (taken.contains(name));
    }
    taken.insert(name);
    names[id] = name;
  }
  return names;
}

}  // namespace listing

std::string pytorch_code(const Task& task, const Graph& graph) {
  const listing::Program program = listing::folded(graph);
  return listing::Code(graph, program).text(task);
}

}  // namespace kbench
