// Launches in host code: kernel<<<grid, block, shared>>>(arguments).
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "libkbench/import/evaluator.h"

namespace kbench::importing {
namespace {

/// The kind of a candidate's argument for a parameter of that type; "" where there is none.
std::string kind_of(const std::string& type) {
  static const std::map<std::string, std::string, std::less<>> kKinds = {
      {"int", "i32"},           {"int32_t", "i32"},
      {"signed", "i32"},        {"signed int", "i32"},
      {"unsigned", "u32"},      {"unsigned int", "u32"},
      {"uint32_t", "u32"},      {"uint", "u32"},
      {"long", "i64"},          {"long long", "i64"},
      {"long int", "i64"},      {"long long int", "i64"},
      {"int64_t", "i64"},       {"std::int64_t", "i64"},
      {"ptrdiff_t", "i64"},     {"ssize_t", "i64"},
      {"size_t", "u64"},        {"std::size_t", "u64"},
      {"unsigned long", "u64"}, {"unsigned long long", "u64"},
      {"uint64_t", "u64"},      {"float", "f32"},
      {"double", "f64"},        {"bool", "bool"}};
  const auto found = kKinds.find(type);
  return found == kKinds.end() ? "" : found->second;
}

/// Words of `text` that are keys of `with` replaced.
std::string replaced(const std::string& text, const std::map<std::string, std::string>& with) {
  std::string out, word;
  const auto flush = [&] {
    const auto found = with.find(word);
    out += found == with.end() ? word : found->second;
    word.clear();
  };
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else {
      flush();
      out += c;
    }
  }
  flush();
  return out;
}

bool has_word(const std::string& text, const std::string& word) {
  return replaced(text, {{word, "\x01"}}).find('\x01') != std::string::npos;
}

}  // namespace

/// AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "name", [&] { .. }): only float is followed.
Value Evaluator::dispatch_types(const Expr& e, NameScope& scope) {
  for (size_t i = 1; i < e.args.size(); ++i) {
    if (e.args[i]->kind != Expr::Kind::lambda) continue;
    NameScope inner = NameScope::inside(scope);
    inner.types["scalar_t"] = "float";
    const Flow flow = run_block(e.args[i]->body, inner);
    return flow == Flow::result ? result_ : Value();
  }
  stop(ImportObstacle::cpp, e.line, "a dispatch over types without a lambda");
}

PlanArgument Evaluator::argument(const Value& v, const std::string& type, const std::string& what,
                                 int line) {
  if (type.find('*') != std::string::npos) {
    if (v.kind == Value::Kind::none) return {"u64", -1, integer(0)};
    if (v.kind == Value::Kind::number && v.number.same() && v.number.at[0] == 0)
      return {"u64", -1, integer(0)};
    if (v.kind != Value::Kind::pointer) {
      if (v.kind == Value::Kind::opaque && (v.text == "torch::Tensor" || v.text == "at::Tensor")) {
        return {"u64", -1, integer(0)};
      }
      stop(ImportObstacle::kernel_parameter, line, what + " is no pointer that was followed");
    }
    // torch::empty({0}) stands for a missing tensor.
    if (product(v.view.shape, line).value(worlds_.primary()) == 0) return {"u64", -1, integer(0)};
    const std::string element = type.substr(0, type.find('*'));
    const DType dtype = plan_.buffers[static_cast<size_t>(v.view.buffer)].dtype;
    const bool fits = dtype == DType::f32
                          ? element.find("float") != std::string::npos || element == "void" ||
                                element == "int4" || element == "uint4"
                          : element.find("float") == std::string::npos;
    if (!fits) {
      stop(
          ImportObstacle::data_type, line,
          what + " points to " + quote(element) + ", the tensor is " + std::string(name_of(dtype)));
    }
    return {"", use(v.view, line), {}};
  }
  const std::string kind = kind_of(type);
  if (kind.empty()) {
    stop(ImportObstacle::kernel_parameter, line,
         what + " is of type " + quote(type) + ", which no argument of a candidate is");
  }
  Number n = number(v, what, line);
  n = kind == "f32" || kind == "f64" ? as_real(n) : as_integer(n);
  return {kind, -1, n};
}

Value Evaluator::launch(const Expr& e, NameScope& scope) {
  no_sized_loop(e.line);
  const Expr& callee = *e.args[0];
  if (callee.kind != Expr::Kind::name || !scope.extension) {
    stop(ImportObstacle::launch, e.line, "a launch of what is no kernel's name");
  }
  const std::string name = callee.text.substr(
      callee.text.rfind(':') == std::string::npos ? 0 : callee.text.rfind(':') + 1);
  const KernelSignature* kernel = nullptr;
  const CudaSource* source = nullptr;
  for (const auto& s : scope.extension->sources) {
    const auto found = s->kernels.find(name);
    if (found != s->kernels.end() && !s->device.empty()) kernel = &found->second, source = s.get();
  }
  if (!kernel) stop(ImportObstacle::launch, e.line, "there is no kernel " + quote(name));
  if (e.config.size() < 2) stop(ImportObstacle::launch, e.line, "a launch without grid and block");
  if (e.args.size() - 1 != kernel->parameters.size()) {
    stop(ImportObstacle::kernel_parameter, e.line,
         quote(name) + " is launched with " + std::to_string(e.args.size() - 1) +
             " arguments and takes " + std::to_string(kernel->parameters.size()));
  }
  PlanStep step;
  step.line = e.line;
  for (size_t i = 0; i < 2; ++i) {
    Value v = evaluate(*e.config[i], scope);
    v = convert(v, "dim3", e.line);
    if (v.kind != Value::Kind::dim3)
      stop(ImportObstacle::launch, e.line, "a grid or block that was not followed");
    auto& to = i ? step.block : step.grid;
    for (const Value& item : v.items) to.push_back(as_integer(number(item, "an extent", e.line)));
  }
  step.shared = e.config.size() > 2
                    ? as_integer(number(evaluate(*e.config[2], scope), "shared memory", e.line))
                    : integer(0);
  std::vector<Value> args;
  for (size_t i = 1; i < e.args.size(); ++i) args.push_back(evaluate(*e.args[i], scope));

  // Template arguments: given, else deduced from the arguments, else the default.
  std::map<std::string, std::string> with;
  std::string list;
  for (size_t t = 0; t < kernel->templates.size(); ++t) {
    const TemplateParameter& p = kernel->templates[t];
    std::string value;
    if (t < callee.template_args.size()) {
      value = replaced(callee.template_args[t], scope.types);
      if (!p.is_type) {
        const Value v = evaluate(*parse_cpp_expression(cpp_tokens(value, e.line)), scope);
        const Number n = number(v, "a template argument", e.line);
        if (!n.same()) plan_.only_here(e.line, "a template argument follows from a size");
        value = literal(n.value(worlds_.primary()), false);
        if (n.truth) value = n.value(worlds_.primary()) != 0 ? "true" : "false";
      }
    } else {
      for (size_t i = 0; i < args.size() && value.empty() && p.is_type; ++i) {
        const std::string& type = kernel->parameters[i].type;
        if (!has_word(type, p.name)) continue;
        if (args[i].kind == Value::Kind::pointer) {
          value = args[i].element.empty() ? "float" : args[i].element;
        } else if (args[i].kind == Value::Kind::number) {
          value = args[i].number.real ? "float" : "int";
        }
      }
      if (value.empty()) value = p.fallback;
    }
    if (value.empty())
      stop(ImportObstacle::launch, e.line,
           "the template argument " + quote(p.name) + " is not said");
    for (char c : value) {
      if (!std::isalnum(static_cast<unsigned char>(c)) &&
          std::string_view("_:<>, *").find(c) == std::string_view::npos) {
        stop(ImportObstacle::launch, e.line, "the template argument " + quote(value));
      }
    }
    with[p.name] = value;
    list += (list.empty() ? "" : ", ") + value;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const Parameter& p = kernel->parameters[i];
    std::string type = replaced(p.type, with);
    for (const auto& [word, what] : source->macros) {
      if (type == word && what.size() >= 2) type = what[0].text;
    }
    step.args.push_back(
        argument(args[i], type, "parameter " + quote(p.name) + " of " + quote(name), e.line));
  }
  step.kernel =
      plan_.add_kernel(kernel->name + (list.empty() ? "" : "<" + list + ">"), source->device);
  plan_.add_step(std::move(step));
  return {};
}

}  // namespace kbench::importing
