#include "libkbench/candidate/starter.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/candidate/eager_steps.h"
#include "libkbench/candidate/starter_kernel.h"
#include "libkbench/candidate/starter_operators.h"
#include "libkbench/candidate/starter_sizes.h"

namespace kbench {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;     ///< that an `int` can count
constexpr int64_t kMostBound = (int64_t{1} << 32) - 4;  ///< bytes of one binding, on most GPUs

/// The node that the starter's kernel computes.
struct Chosen {
  size_t node = 0;
  bool copies = false;  ///< no node has a kernel: one copies an output of the last one
  size_t output = 0;    ///< which
};

bool is_elementwise(const OperatorCall& call) {
  return std::ranges::all_of(call.inputs,
                             [&](const TensorType& type) { return type == call.outputs[0]; });
}

/// The last operator that has a kernel; an elementwise one is preferred to one that a single
/// invocation would compute.
Chosen choose(const Graph& graph) {
  std::optional<size_t> last, serial;
  for (size_t n = graph.nodes().size(); n-- > 0 && !last;) {
    const OperatorCall& call = graph.nodes()[n].call;
    if (call.op->is_view || !has_starter_kernel(call)) continue;
    const bool alone = call.outputs[0].elements() == 1 && !loss_end(call) && !is_elementwise(call);
    (alone ? serial : last) = (alone && serial) ? *serial : n;
  }
  if (last) return {*last};
  if (serial) return {*serial};
  for (size_t n = graph.nodes().size(); n-- > 0;) {
    const Graph::Node& node = graph.nodes()[n];
    if (node.call.op->is_view) continue;
    const auto shown = std::ranges::find_first_of(node.outputs, graph.outputs());
    const bool none = shown == node.outputs.end();
    return {n, true, none ? 0 : static_cast<size_t>(shown - node.outputs.begin())};
  }
  throw Error(ErrorCode::kUnsupported, "the task has no operator that a kernel could be put for");
}

const char* suffix_of(StarterLanguage language) {
  constexpr const char* kSuffixes[] = {".comp", ".hlsl", ".cu", ".py"};
  return kSuffixes[static_cast<size_t>(language)];
}

/// A starter at the sizes of one graph, with its numbers marked.
class Writer {
 public:
  Writer(const Task& task, const Graph& graph, const Chosen& chosen, StarterLanguage language,
         bool addresses)
      : graph_(graph),
        chosen_(chosen),
        language_(language),
        kernel_(language, marks_, is_half(graph.dtype())),
        steps_(task, graph,
               {[this](const Shape& shape) { return marks_.mark(shape); },
                [this](const AttributeValue& value) { return marks_.mark(value); }}) {
    addresses_ = addresses;
    if (addresses) kernel_.by_address();
    steps_.write([this](size_t node) { return node == chosen_.node ? replacement() : ""; });
  }

  const std::string& name() const { return name_; }
  const std::string& kernel_text() const { return kernel_text_; }

  /// The manifest from `constants` to its end; `kernel` is the text behind the kernel's name.
  MarkedText body(const std::string& kernel) const {
    std::string text = "constants:\n";
    for (const auto& [name, value] : kernel_.constants()) text += "  " + name + ": " + value + "\n";
    if (language_ != StarterLanguage::triton) text += "  THREADS: 256\n";
    if (is_shader()) {
      text += "  GROUPS: \"ceil_div(" + outputs_ + ", THREADS)\"\n" +
              "  GROUPS_X: \"min(GROUPS, 32768)\"  # a device may take no more than 65535\n";
    }
    text += "kernels:\n  " + name_ + ":" + kernel;
    if (!steps_.temps().empty()) text += "temps:\n" + steps_.temps();
    text += "dispatch:\n" + steps_.steps();
    return {&graph_, text, marks_.numbers()};
  }

 private:
  bool is_shader() const {
    return language_ == StarterLanguage::glsl || language_ == StarterLanguage::hlsl;
  }

  std::string replacement() {
    const Graph::Node& node = graph_.nodes()[chosen_.node];
    const OperatorCall& call = node.call;
    name_ = chosen_.copies ? "copy" : call.op->name;
    const std::string out = steps_.buffer(node.outputs[chosen_.output]);
    if (chosen_.copies) {
      const TensorType& type = call.outputs[chosen_.output];
      const std::string before = steps_.declare_temporary(type);
      std::string outputs;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        outputs += (i > 0 ? ", " : "") +
                   (i == chosen_.output ? before : steps_.operands({node.outputs[i]}));
      }
      if (node.outputs.size() > 1) outputs = "[" + outputs + "]";
      outputs_ = write_copy(kernel_, type, {before, out});
      return steps_.step(call, steps_.operands(node.inputs), outputs) + launch({before, out});
    }
    std::vector<std::string> buffers;
    for (const int id : node.inputs) buffers.push_back(steps_.buffer(id));
    const std::optional<LossEnd> end = loss_end(call);
    if (!end) {
      buffers.push_back(out);
      outputs_ = write_operator(kernel_, call, buffers);
      return launch(buffers);
    }
    std::string from = steps_.declare_temporary(end->partial);
    buffers.push_back(from);
    outputs_ = write_operator(kernel_, call, buffers);
    std::string text = launch(buffers);
    TensorType type = end->partial;
    for (size_t i = 0; i < end->followed.size(); ++i) {
      const auto& [op, attributes] = end->followed[i];
      const OperatorCall next = make_call(find_operator(op), {type}, attributes);
      const bool last = i + 1 == end->followed.size();
      const std::string to = last ? out : steps_.declare_temporary(next.outputs[0]);
      text += steps_.step(next, from, to);
      type = next.outputs[0];
      from = to;
    }
    return text;
  }

  std::string launch(const std::vector<std::string>& buffers) {
    kernel_text_ = kernel_.file(name_, note(), outputs_);
    std::string list;
    for (const std::string& each : buffers) {
      list += (list.empty() ? "" : ", ") + (addresses_ ? "{address: " + each + "}" : each);
    }
    std::string text = "  - kernel: " + name_ + "\n";
    if (is_shader()) {
      return text + (addresses_ ? "    push: [" : "    bind: [") + list +
             "]\n    groups: [GROUPS_X, \"ceil_div(GROUPS, GROUPS_X)\"]\n";
    }
    text += "    args: [" + list + "]\n";
    if (language_ == StarterLanguage::triton) return text + "    grid: " + outputs_ + "\n";
    return text + "    grid: \"ceil_div(" + outputs_ + ", THREADS)\"\n    block: THREADS\n";
  }

  std::string note() const {
    if (chosen_.copies) return "Copies: put work of your own in its place, and take steps out.";
    const std::string& formula = graph_.nodes()[chosen_.node].call.op->formula;
    return name_ + ": " + formula.substr(0, formula.find(';'));
  }

  const Graph& graph_;
  Chosen chosen_;
  StarterLanguage language_;
  SizeMarks marks_;
  KernelText kernel_;
  EagerSteps steps_;
  bool addresses_ = false;
  std::string name_, outputs_, kernel_text_;
};

/// Graphs at the chosen sizes, at the presets, and at the chosen sizes with one variable changed.
std::vector<std::unique_ptr<Graph>> graphs_of(const TaskAt& at, std::span<const Task> suite) {
  std::vector<std::unique_ptr<Graph>> graphs;
  graphs.push_back(build_graph(at, suite));
  const auto add = [&](const TaskAt& other) {
    try {
      graphs.push_back(build_graph(other, suite));
      return true;
    } catch (const Error&) {  // A combination that makes no sense.
      return false;
    }
  };
  for (const Preset each : kAllPresets) {
    if (name_of(each) != at.preset) add(task_at(at.task, each, at.variables, at.dtype));
  }
  const std::set<std::string, std::less<>> names = graphs.front()->variables_read();
  for (const std::string& name : names) {
    const VariableValue value = graphs.front()->variables().find(name)->second;
    TaskAt changed = at;
    VariableValue& to = changed.variables[name];
    if (const auto* number = std::get_if<int64_t>(&value)) {
      // Not only a multiple: it would keep extents divisible that are so by chance.
      to = *number * 2;
      add(changed);
      for (const int64_t other : {*number + 1, *number + 2, *number * 3}) {
        to = other;
        if (add(changed)) break;
      }
    } else if (const auto* real = std::get_if<double>(&value)) {
      to = *real * 1.5 + 0.125;
      add(changed);
    } else {
      const auto& list = std::get<std::vector<int64_t>>(value);
      for (size_t i = 0; i < list.size(); ++i) {
        for (const int64_t other : {list[i] * 2, list[i] + 1, list[i] + 2}) {
          std::vector<int64_t> longer = list;
          longer[i] = other;
          to = longer;
          if (add(changed)) break;
        }
      }
    }
  }
  return graphs;
}

/// Whether buffers need addresses because they exceed a binding's range. Throws where a tensor is
/// too large for the kernel's arithmetic or the language.
bool needs_addresses(const Graph& graph, const Chosen& chosen, StarterLanguage language) {
  const Graph::Node& node = graph.nodes()[chosen.node];
  int64_t elements = 0, bytes = 0;
  for (const auto* ids : {&node.inputs, &node.outputs}) {
    for (const int id : *ids) {
      elements = std::max(elements, graph.value(id).type.elements());
      bytes = std::max(bytes, graph.stored_type(id).bytes());
    }
  }
  const bool shader = language == StarterLanguage::glsl || language == StarterLanguage::hlsl;
  if (elements >= kMostElements) {
    throw Error(ErrorCode::kUnsupported,
                "a tensor has " + std::to_string(elements) +
                    " elements, and the kernel would count with 32 bits; take a smaller --preset");
  }
  if (language == StarterLanguage::hlsl && bytes > kMostBound) {
    throw Error(ErrorCode::kUnsupported,
                "a tensor of " + std::to_string(bytes) +
                    " bytes is too large for one binding, and HLSL knows no other way; take a "
                    "smaller --preset, or --language glsl");
  }
  return shader && bytes > kMostBound;
}

std::string heading(const Task& task, const Graph& graph, const Writer& writer, bool any_size) {
  return "# A start for " + to_string(task.id) + " (" + task.name + "): " + writer.name() +
         " as a kernel of your own, the rest as built-in operators.\n# " +
         (any_size ? "Its sizes are expressions: it runs at every preset."
                   : "Its sizes are those of " + sizes_read(graph) + ".") +
         "\nkbench: 1\ntask: " + to_string(task.id) + "\n" + dtype_line(graph) +
         "name: started by kbench new\n";
}

/// A preprocessor check (#error) that the sizes are those the numbers in the file are for.
std::string size_guard(const Graph& graph) {
  std::string differs, sizes;
  for (const std::string& name : graph.variables_read()) {
    const auto* value = std::get_if<int64_t>(&graph.variables().find(name)->second);
    if (value == nullptr) continue;
    const std::string number = std::to_string(*value);
    differs += (differs.empty() ? "KB_" : " || KB_") + name + " != " + number;
    sizes += (sizes.empty() ? "" : ", ") + name + "=" + number;
  }
  if (differs.empty()) return "";
  return "#if " + differs + "\n#error the numbers of this candidate are those of " + sizes +
         "\n#endif\n";
}

/// Inserts the guard behind a line that must be first (#version).
void insert_guard(std::string& kernel, const std::string& guard) {
  kernel.insert(kernel.starts_with("#version") ? kernel.find('\n') + 1 : 0, guard);
}

std::string indented(const std::string& text, const std::string& by) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) result += by + text.substr(begin, end - begin);
    result += "\n";
    begin = end + 1;
  }
  return result;
}

}  // namespace

std::string_view name_of(StarterLanguage language) {
  return name_in<StarterLanguage::triton>({"glsl", "hlsl", "cuda", "triton"}, language);
}

Starter write_starter(const TaskAt& at, StarterLanguage language, std::span<const Task> suite) {
  const Task& task = find_task(at.task, suite);
  const auto graphs = graphs_of(at, suite);
  const Graph& graph = *graphs.front();
  const Chosen chosen = choose(graph);
  const bool addresses = needs_addresses(graph, chosen, language);
  Writer writer(task, graph, chosen, language, addresses);

  Starter starter;
  starter.replaced = writer.name();
  starter.kernel_file = writer.name() + suffix_of(language);
  starter.kernel = writer.kernel_text();
  const std::string file = " {file: " + starter.kernel_file + "}\n";
  const auto inline_source = [&] {
    return "\n    language: " + std::string(name_of(language)) + "\n    source: |\n" +
           indented(starter.kernel, "      ");
  };
  std::vector<MarkedText> texts;
  bool same = true;
  for (const auto& each : graphs) {
    try {
      const Writer other(task, *each, chosen, language, addresses);
      same = same && other.kernel_text() == starter.kernel;
      const auto body = other.body(file);
      texts.push_back({each.get(), body.text, body.numbers});
    } catch (const std::exception&) {  // Another number of nodes, or other operators.
      same = false;
    }
  }
  const auto filled = same ? fill_with_expressions(texts) : std::nullopt;
  starter.any_size = filled.has_value();
  if (!starter.any_size && language != StarterLanguage::triton) {
    insert_guard(starter.kernel, size_guard(graph));
  }
  const std::string head = heading(task, graph, writer, starter.any_size);
  starter.manifest = head + (filled ? *filled : fill_with_numbers(texts.front()));
  starter.one_file = starter.manifest;
  const size_t place = starter.one_file.find(file);
  starter.one_file.replace(place, file.size(), inline_source());
  return starter;
}

}  // namespace kbench
