#include "libkbench/import/plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "kbench/candidate_limits.h"
#include "kbench/error.h"

namespace kbench::importing {
namespace {

constexpr size_t kMostSteps = 512;

constexpr const char* kFill =
    "// Not the file's own: stands for torch.zeros and the like.\n"
    "extern \"C\" __global__ void kbench_fill(float* y, float value, long long n) {\n"
    "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;\n"
    "       i += (long long)gridDim.x * blockDim.x) {\n"
    "    y[i] = value;\n"
    "  }\n"
    "}\n";
constexpr const char* kCopy =
    "// Not the file's own: stands for clone().\n"
    "extern \"C\" __global__ void kbench_copy(float* y, const float* x, long long n) {\n"
    "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;\n"
    "       i += (long long)gridDim.x * blockDim.x) {\n"
    "    y[i] = x[i];\n"
    "  }\n"
    "}\n";

/// Quoted where YAML would read it differently.
std::string quoted(const std::string& text) {
  const bool name = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
  double value = 0;
  const bool number = std::from_chars(text.data(), text.data() + text.size(), value).ptr ==
                      text.data() + text.size();
  return (name || number) && !text.empty() ? text : "\"" + text + "\"";
}

/// As a block under a key at four blanks: what a YAML block cannot hold is taken out.
std::string block(const std::string& source) {
  std::string text, line;
  const auto flush = [&] {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
    text += line.empty() ? "\n" : "      " + line + "\n";
    line.clear();
  };
  for (const char c : source) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\n') {
      flush();
    } else if (c == '\t') {
      line += "  ";
    } else if (u >= 0x20 && u < 0x7f) {
      line += c;
    } else if (u >= 0x80) {
      line += '?';
    }
  }
  if (!line.empty()) flush();
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace

Number product(const std::vector<Number>& shape, int line) {
  Number n = integer(1);
  for (const Number& extent : shape) n = combine("*", n, extent, false, line);
  return n;
}

int Plan::add_buffer(PlanBuffer buffer) {
  if (buffers.size() >= 4096) stop(ImportObstacle::limits, 0, "too many tensors");
  buffers.push_back(std::move(buffer));
  return static_cast<int>(buffers.size()) - 1;
}

int Plan::add_kernel(const std::string& entry, const std::string& source) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k].entry == entry && kernels[k].source == source) return static_cast<int>(k);
  }
  std::string name;
  for (char c : entry.substr(0, entry.find('<'))) {
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "k" + name;
  name = name.substr(0, 80);
  const std::string base = name;
  for (int n = 2;
       std::any_of(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == name; });
       ++n) {
    name = base + "_" + std::to_string(n);
  }
  kernels.push_back({name, entry, source});
  return static_cast<int>(kernels.size()) - 1;
}

void Plan::add_step(PlanStep step) {
  if (steps.size() >= kMostSteps) stop(ImportObstacle::limits, step.line, "more than 512 steps");
  steps.push_back(std::move(step));
}

void Plan::add_fill(int buffer, const std::vector<Number>& shape, const Number& value, int line) {
  if (buffers[static_cast<size_t>(buffer)].dtype != DType::f32) {
    stop(ImportObstacle::data_type, line, "a fill of a tensor that is not float32");
  }
  const Number n = product(shape, line);
  if (n.value(worlds_.primary()) == 0) return;  // a tensor of nothing stands for no tensor
  PlanStep step;
  step.line = line;
  step.kernel = add_kernel("kbench_fill", kFill);
  step.grid = {combine(
      "min", combine("/", combine("+", n, integer(255), true, line), integer(256), true, line),
      integer(65536), true, line)};
  step.block = {integer(256)};
  step.shared = integer(0);
  step.args = {{"", buffer, {}}, {"f32", -1, as_real(value)}, {"i64", -1, n}};
  add_step(std::move(step));
}

void Plan::add_copy(int from, int to, const std::vector<Number>& shape, int line) {
  const size_t before = steps.size();
  add_fill(to, shape, real_number(0), line);
  if (steps.size() == before) return;
  PlanStep& step = steps.back();
  step.kernel = add_kernel("kbench_copy", kCopy);
  step.args[1] = {"", from, {}};
}

void Plan::note(int line, const std::string& message) {
  for (const ImportFinding& known : notes_) {
    if (known.message == message && known.at.line == line) return;
  }
  if (notes_.size() >= 32) return;
  ImportFinding& finding = notes_.emplace_back();
  finding.obstacle = ImportObstacle::sizes;
  finding.at.file = file_;
  finding.at.line = line;
  finding.message = message;
}

void Plan::only_here(int line, const std::string& message) {
  note(line, message + "; the candidate is for the sizes of " +
                 std::string(worlds_.preset(worlds_.primary())) + " here");
}

std::string Plan::expression(const Number& n, bool real, int line, const std::string& what) {
  if (n.sym) {
    const std::string text = text_of(n.sym);
    bool right = text.size() <= limits::kExpressionBytes;
    for (size_t w = 0; right && w < worlds_.size(); ++w) {
      try {
        const double value = worlds_.evaluate(text, real, w);
        right =
            value == n.value(w) || (real && std::abs(value - n.value(w)) <= 1e-9 * std::abs(value));
      } catch (const Error&) {
        right = false;
      }
    }
    if (right) return text;
  }
  const std::string value = literal(n.value(worlds_.primary()), real && n.real);
  if (worlds_.differs(n)) {
    only_here(line, what + " is written as " + value);
  } else if (!n.same()) {
    note(line,
         what + " is written as " + value + "; the candidate is for the presets' sizes alone");
  }
  return value;
}
std::string Plan::number(const Number& n, bool real, int line, const std::string& what) {
  return quoted(expression(n, real, line, what));
}

std::string Plan::operand(const PlanOperand& operand, int line) {
  const PlanBuffer& buffer = buffers[static_cast<size_t>(operand.buffer)];
  bool same = operand.shape.size() == buffer.shape.size();
  std::string shape;
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    shape += (i ? ", " : "") + number(operand.shape[i], false, line, "an extent");
    for (size_t w = 0; same && w < worlds_.size(); ++w) {
      same = operand.shape[i].value(w) == buffer.shape[i].value(w);
    }
  }
  return same ? quoted(buffer.name) : "{name: " + quoted(buffer.name) + ", shape: [" + shape + "]}";
}

std::string Plan::step_text(const PlanStep& step) {
  const auto list = [&](const std::vector<Number>& numbers, const std::string& what) {
    std::string text;
    size_t count = numbers.size();
    while (count > 1 && numbers[count - 1].same() && numbers[count - 1].at[0] == 1) --count;
    for (size_t i = 0; i < count; ++i) {
      text += (i ? ", " : "") + number(numbers[i], false, step.line, what);
    }
    return "[" + text + "]";
  };
  std::string text;
  if (step.kernel >= 0) {
    text = "  - kernel: " + kernels[static_cast<size_t>(step.kernel)].name +
           "\n    grid: " + list(step.grid, "the grid") +
           "\n    block: " + list(step.block, "the block") + "\n";
    if (!(step.shared.same() && step.shared.at[0] == 0)) {
      text += "    shared: " + number(step.shared, false, step.line, "shared memory") + "\n";
      constexpr int kMost = 227;  // of any device
      if (step.shared.value(worlds_.primary()) > kMost * 1024) {
        note(step.line, "more than 227 KiB of shared memory, which no device has");
      }
    }
    text += "    args: [";
    for (size_t i = 0; i < step.args.size(); ++i) {
      const PlanArgument& a = step.args[i];
      const bool real = a.kind == "f32" || a.kind == "f64";
      text += i ? ", " : "";
      text += a.kind.empty()
                  ? importing::quoted(buffers[static_cast<size_t>(a.buffer)].name)
                  : "{" + a.kind + ": " + number(a.value, real, step.line, "an argument") + "}";
      if (a.kind == "i32" && a.value.value(worlds_.primary()) > 2147483647.0) {
        note(step.line,
             "an int argument is beyond 2^31 at " + std::string(worlds_.preset(worlds_.primary())));
      }
    }
    return text + "]\n";
  }
  const auto operands = [&](const std::vector<PlanOperand>& all) {
    if (all.size() == 1) return operand(all[0], step.line);
    std::string t;
    for (const auto& o : all) t += (t.empty() ? "" : ", ") + operand(o, step.line);
    return "[" + t + "]";
  };
  text = "  - {op: " + step.op + ", in: " + operands(step.in) + ", out: " + operands(step.out);
  std::string attributes;
  for (const PlanAttribute& a : step.attributes) {
    attributes += (attributes.empty() ? "" : ", ") + a.name + ": ";
    if (!a.word.empty()) {
      attributes += a.word;
    } else if (a.list) {
      std::string t;
      for (const Number& n : a.values) {
        t += (t.empty() ? "" : ", ") + number(n, false, step.line, "an attribute");
      }
      attributes += "[" + t + "]";
    } else {
      attributes += number(a.values[0], a.real, step.line, "an attribute");
    }
  }
  return text + (attributes.empty() ? "" : ", attributes: {" + attributes + "}") + "}\n";
}

void Plan::name_temporaries() {
  std::set<std::string> taken;
  for (const PlanBuffer& b : buffers) taken.insert(b.name);
  int next = 0;
  for (PlanBuffer& b : buffers) {
    if (!b.name.empty()) continue;
    do b.name = "t" + std::to_string(next++);
    while (!taken.insert(b.name).second);
  }
}

std::string Plan::yaml(const Task& task, const std::string& name) {
  name_temporaries();
  std::set<int> used;
  std::set<int> launched;
  for (const PlanStep& step : steps) {
    if (step.kernel >= 0) launched.insert(step.kernel);
    for (const auto& a : step.args) used.insert(a.buffer);
    for (const auto& o : step.in) used.insert(o.buffer);
    for (const auto& o : step.out) used.insert(o.buffer);
  }
  std::string dispatch;
  for (const PlanStep& step : steps) dispatch += step_text(step);
  std::string temps;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const PlanBuffer& buffer = buffers[b];
    if (buffer.kind != PlanBuffer::Kind::temporary || buffer.output ||
        !used.contains(static_cast<int>(b))) {
      continue;
    }
    std::string shape;
    for (const Number& n : buffer.shape) {
      shape += (shape.empty() ? "" : ", ") + number(n, false, 0, "an extent of a temporary");
    }
    temps += "  " + buffer.name + ": {dtype: " + std::string(name_of(buffer.dtype)) + ", shape: [" +
             shape + "]}\n";
  }
  std::string title;
  for (char c : name) {
    title +=
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ? c : '_';
  }
  std::string text =
      "kbench: 1\ntask: " + to_string(task.id) + "\nname: \"" + title.substr(0, 90) + "\"\n";
  text += "description: imported from KernelBench's form\n";
  std::string kernel_text;
  std::map<std::string, size_t> anchors;  // one source for several kernels is written once
  for (int k : launched) {
    const PlanKernel& kernel = kernels[static_cast<size_t>(k)];
    kernel_text +=
        "  " + kernel.name + ":\n    language: cuda\n    entry: \"" + kernel.entry + "\"\n";
    const auto [at, added] = anchors.emplace(kernel.source, anchors.size());
    const std::string anchor = "source" + std::to_string(at->second);
    kernel_text +=
        added ? "    source: &" + anchor + " |\n" + block("// " + anchor + "\n" + kernel.source)
              : "    source: *" + anchor + "\n";
  }
  if (!kernel_text.empty()) text += "kernels:\n" + kernel_text;
  if (!temps.empty()) text += "temps:\n" + temps;
  return text + "dispatch:\n" + dispatch;
}

}  // namespace kbench::importing
