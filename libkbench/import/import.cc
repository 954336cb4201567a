#include "kbench/import.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "kbench/error.h"
#include "libkbench/import/evaluator.h"

namespace kbench {
namespace importing {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

void collect_types(const Block& module, std::map<std::string, std::shared_ptr<Stmt>>& types) {
  for (const auto& s : module) {
    if (s->kind == Stmt::Kind::type) types[s->name] = s;
    if (s->kind == Stmt::Kind::block || s->kind == Stmt::Kind::branch)
      collect_types(s->body, types);
  }
}

bool reads_name(const Expr& e, std::string_view name) {
  if (e.kind == Expr::Kind::name && e.text == name) return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const ExprPtr& part) { return part && reads_name(*part, name); });
}

double elements(const std::vector<Number>& shape, size_t world) {
  double n = 1;
  for (const Number& extent : shape) n *= extent.value(world);
  return n;
}

}  // namespace

void Evaluator::name_parameters(const Object& object, const std::string& prefix, int depth) {
  if (depth > 16) return;
  for (const std::string& name : object.order) {
    const Value& v = object.attributes.at(name);
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    if (v.kind == Value::Kind::tensor) {
      PlanBuffer& b = plan_.buffers[static_cast<size_t>(v.view.buffer)];
      if (b.kind == PlanBuffer::Kind::temporary) b.kind = PlanBuffer::Kind::parameter;  // a buffer
      if (b.kind == PlanBuffer::Kind::parameter && b.path.empty()) b.path = path;
    }
    if (v.kind == Value::Kind::object && v.object.get() != &object)
      name_parameters(*v.object, path, depth + 1);
  }
}

/// Which of the task's parameters each of ModelNew's is: that of its name, else of its name's end,
/// else the next of its shape (as KernelBench, which draws both models' from one seed, has it).
void Evaluator::match_parameters() {
  std::vector<int> of_task;
  for (int id : worlds_.graph().values_of(Graph::Kind::parameter)) of_task.push_back(id);
  std::vector<bool> taken(of_task.size());
  const auto fits = [&](const PlanBuffer& b, size_t i, bool exact) {
    const auto& type = worlds_.graph().value(of_task[i]).type;
    if (!b.shaped) return true;
    if (exact) {
      if (b.shape.size() != type.shape.size()) return false;
      for (size_t d = 0; d < type.shape.size(); ++d) {
        if (b.shape[d].value(worlds_.primary()) != static_cast<double>(type.shape[d])) return false;
      }
      return true;
    }
    return elements(b.shape, worlds_.primary()) == static_cast<double>(type.elements());
  };
  const auto name_of_task = [&](size_t i) { return worlds_.graph().value(of_task[i]).name; };
  const auto last = [](const std::string& path) {
    return path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
  };
  for (int pass = 0; pass < 4; ++pass) {
    for (PlanBuffer& b : plan_.buffers) {
      if (b.kind != PlanBuffer::Kind::parameter || !b.name.empty()) continue;
      for (size_t i = 0; i < of_task.size(); ++i) {
        const bool named = pass == 0   ? b.path == name_of_task(i)
                           : pass == 1 ? last(b.path) == last(name_of_task(i))
                                       : true;
        const bool shaped = pass == 2   ? b.shaped && fits(b, i, true)
                            : pass == 3 ? b.shaped && fits(b, i, false)
                                        : fits(b, i, false);
        if (taken[i] || !named || !shaped) continue;
        taken[i] = true;
        b.name = name_of_task(i);
        if (pass > 0) {
          plan_.note(0, (b.path.empty() ? "a weight that no attribute of ModelNew names"
                                        : "'" + shown(b.path, 60) + "'") +
                            " is taken for the task's " + b.name);
        }
        if (!b.shaped) {
          std::vector<int> ids(worlds_.size(), of_task[i]);
          b.shape = worlds_.shape(ids);
          b.shaped = b.from_task = true;
        }
        break;
      }
    }
  }
}

/// Weights whose shape the file does not say have the task's.
void Evaluator::shape_parameters(Object& object, int depth) {
  if (depth > 16) return;
  for (auto& [name, v] : object.attributes) {
    if (v.kind == Value::Kind::tensor) {
      const PlanBuffer& b = plan_.buffers[static_cast<size_t>(v.view.buffer)];
      if (b.from_task) v.view.shape = b.shape;
    }
    if (v.kind == Value::Kind::object && v.object.get() != &object) {
      shape_parameters(*v.object, depth + 1);
    }
  }
}

/// What KernelBench's get_init_inputs has as a plain number, where the file leaves it out: the
/// attribute that all of the task's operators agree in.
std::optional<Value> Evaluator::fixed_by_task(const std::string& name) const {
  static const std::map<std::string, std::string, std::less<>> kOther = {
      {"dim", "axis"}, {"negative_slope", "slope"}, {"num_groups", "groups"}};
  const auto other = kOther.find(name);
  const std::string wanted = other == kOther.end() ? name : other->second;
  std::optional<double> found;
  bool real = false;
  for (const Graph::Node& node : worlds_.graph().nodes()) {
    const AttributeValue* value = node.call.attributes.find(wanted);
    if (value == nullptr) continue;
    const auto* i = std::get_if<int64_t>(value);
    const auto* r = std::get_if<double>(value);
    if (i == nullptr && r == nullptr) return std::nullopt;
    const double v = i != nullptr ? static_cast<double>(*i) : *r;
    if (found && *found != v) return std::nullopt;
    found = v;
    real = r != nullptr;
  }
  if (!found) return std::nullopt;
  return number_value(real ? real_number(*found) : integer(static_cast<int64_t>(*found)));
}

Value Evaluator::bind_model() {
  const auto model = types_.find("ModelNew");
  if (model == types_.end()) stop(ImportObstacle::no_model, 0, "there is no class ModelNew");
  // What __init__ is given: the task's variable of that name, else what get_init_inputs says.
  std::vector<Value> given;
  if (const Value* inputs = find("get_init_inputs", globals_); inputs && inputs->function) {
    try {
      const Value list = call_function(*inputs->function, {}, {}, globals_, 0);
      if (list.kind == Value::Kind::list) given = list.items;
    } catch (const NotFollowed&) {  // the names may do
    }
  }
  std::vector<Value> args;
  const Function* init = method(*model->second, "__init__");
  for (size_t i = 1; init && i < init->parameters.size(); ++i) {
    const Parameter& p = init->parameters[i];
    if (p.rest) break;
    Value v;
    if (const auto* variable = worlds_.variable(p.name)) {
      std::vector<Value> items;
      for (const Number& n : *variable) items.push_back(number_value(n));
      v = worlds_.is_list(p.name) ? list_value(std::move(items)) : items[0];
    } else if (i - 1 < given.size()) {
      v = given[i - 1];
    } else if (p.fallback) {
      v = evaluate(*p.fallback, globals_);
    } else if (const auto fixed = fixed_by_task(p.name)) {
      v = *fixed;
    } else {
      v.kind = Value::Kind::poison;
      v.why = std::make_shared<NotFollowed>(
          NotFollowed{ImportObstacle::python, init->line,
                      "nothing says what '" + shown(p.name, 40) + "' of __init__ is"});
    }
    args.push_back(std::move(v));
  }
  return instantiate(model->second, std::move(args), {}, model->second->line);
}

void Evaluator::bind_outputs(const Value& returned, int line) {
  std::vector<Value> all =
      returned.kind == Value::Kind::list ? returned.items : std::vector<Value>{returned};
  const auto& outputs = worlds_.graph().outputs();
  if (all.size() != outputs.size()) {
    stop(ImportObstacle::sizes, line,
         "forward returns " + std::to_string(all.size()) + " values, the task has " +
             std::to_string(outputs.size()) + " outputs");
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Value v = dense(tensor(all[i], "what forward returns", line), line);
    PlanBuffer& b = plan_.buffers[static_cast<size_t>(v.view.buffer)];
    if (b.kind != PlanBuffer::Kind::temporary || b.output) {
      stop(ImportObstacle::sizes, line, "forward returns a tensor that it was given");
    }
    const auto& type = worlds_.graph().value(outputs[i]).type;
    if (b.dtype != type.dtype)
      stop(ImportObstacle::data_type, line, "an output of another type than the task's");
    for (size_t w = 0; w < Worlds::kPresets; ++w) {
      const Graph& graph = worlds_.graph(w);
      const auto& at = graph.value(graph.outputs()[i]).type;
      if (elements(v.view.shape, w) == static_cast<double>(at.elements())) continue;
      const std::string message = "the output has " + literal(elements(v.view.shape, w), false) +
                                  " elements, the task's " + std::to_string(at.elements());
      if (w == worlds_.primary()) stop(ImportObstacle::sizes, line, message);
      plan_.note(line, message + " at " + std::string(worlds_.preset(w)));
    }
    b.output = true;
    b.name = worlds_.graph().output_name(i);
    std::vector<int> ids;
    for (size_t w = 0; w < worlds_.size(); ++w) ids.push_back(worlds_.graph(w).outputs()[i]);
    b.shape = worlds_.shape(ids);
  }
}

void Evaluator::run(const Block& module) {
  collect_types(module, types_);
  for (const auto& s : module) {
    if (s->kind == Stmt::Kind::branch && reads_name(*s->value, "__name__")) continue;
    if (s->kind == Stmt::Kind::block) {
      for (const auto& inner : s->body) run_module_statement(*inner, globals_);
    } else {
      run_module_statement(*s, globals_);
    }
  }
  Value model = bind_model();
  name_parameters(*model.object, "", 0);
  match_parameters();
  shape_parameters(*model.object, 0);
  const Function* forward = method(*model.object->declared, "forward");
  if (!forward)
    stop(ImportObstacle::no_model, model.object->declared->line, "ModelNew has no forward");
  forward_ = true;
  std::vector<Value> args = {model};
  for (int id : worlds_.graph().values_of(Graph::Kind::input)) {
    const auto& info = worlds_.graph().value(id);
    PlanBuffer buffer;
    buffer.kind = PlanBuffer::Kind::task;
    buffer.name = info.name;
    buffer.dtype = info.type.dtype;
    buffer.shape = worlds_.shape(std::vector<int>(worlds_.size(), id));
    View view;
    view.shape = buffer.shape;
    view.buffer = plan_.add_buffer(std::move(buffer));
    args.push_back(tensor_value(std::move(view)));
  }
  for (size_t i = args.size(); i < forward->parameters.size(); ++i) {  // numbers beside the tensors
    const auto* variable = worlds_.variable(forward->parameters[i].name);
    if (!variable || forward->parameters[i].rest) break;
    args.push_back(number_value((*variable)[0]));
  }
  if (forward->parameters.size() < args.size()) {
    stop(ImportObstacle::sizes, forward->line, "forward takes fewer inputs than the task has");
  }
  const Value returned = call_function(*forward, std::move(args), {}, globals_, forward->line);
  bind_outputs(returned, forward->line);
  require_parameters();
}

/// A parameter of the task that no step reads means that a layer was lost, unless the task declares
/// that its outputs do not depend on it.
void Evaluator::require_parameters() {
  if (!worlds_.task().trivial.empty()) return;
  std::set<int> read;
  for (const PlanStep& step : plan_.steps) {
    for (const PlanArgument& a : step.args) read.insert(a.buffer);
    for (const PlanOperand& o : step.in) read.insert(o.buffer);
  }
  std::set<std::string> named;
  for (const int b : read) {
    if (b >= 0) named.insert(plan_.buffers[static_cast<size_t>(b)].name);
  }
  const bool dead_bias =
      std::any_of(worlds_.task().dead.begin(), worlds_.task().dead.end(), [](const Dead& dead) {
        return std::any_of(dead.variants.begin(), dead.variants.end(),
                           [](const std::string& v) { return v.starts_with("without the bias"); });
      });
  std::set<int> used;  // KernelBench has parameters that its own forward leaves out
  for (const Graph::Node& node : worlds_.graph().nodes()) {
    used.insert(node.inputs.begin(), node.inputs.end());
  }
  std::vector<std::string> lost;
  for (const int id : worlds_.graph().values_of(Graph::Kind::parameter)) {
    if (!used.contains(id)) continue;
    const std::string& name = worlds_.graph().value(id).name;
    if (!named.contains(name) && !(dead_bias && name.ends_with("bias"))) lost.push_back(name);
  }
  if (lost.empty()) return;
  std::string message = "no step reads the task's parameter " + lost[0];
  if (lost.size() > 1) message += " (nor " + std::to_string(lost.size() - 1) + " others)";
  stop(ImportObstacle::parameters, 0,
       message + ": the file leaves it out, or uses it in a way that was not followed");
}

}  // namespace importing

std::string_view name_of(ImportObstacle obstacle) {
  switch (obstacle) {
    case ImportObstacle::no_model:
      return "no_model";
    case ImportObstacle::no_cuda:
      return "no_cuda";
    case ImportObstacle::syntax:
      return "syntax";
    case ImportObstacle::python:
      return "python";
    case ImportObstacle::cpp:
      return "cpp";
    case ImportObstacle::torch_operator:
      return "torch_operator";
    case ImportObstacle::library_call:
      return "library_call";
    case ImportObstacle::data_type:
      return "data_type";
    case ImportObstacle::layout:
      return "layout";
    case ImportObstacle::launch:
      return "launch";
    case ImportObstacle::kernel_parameter:
      return "kernel_parameter";
    case ImportObstacle::device_code:
      return "device_code";
    case ImportObstacle::parameters:
      return "parameters";
    case ImportObstacle::sizes:
      return "sizes";
    case ImportObstacle::limits:
      return "limits";
  }
  return "";
}

Imported import_kernelbench(const std::string& text, const std::string& file, const Task& task,
                            const ImportOptions& options) {
  using namespace importing;
  Imported result;
  const auto add = [&](const NotFollowed& why) {
    ImportFinding& finding = result.obstacles.emplace_back();
    finding.obstacle = why.obstacle;
    finding.at.file = file;
    finding.at.line = why.line;
    finding.message = why.message;
  };
  const Worlds worlds(task, options.preset);
  Plan plan(worlds, file);
  try {
    if (text.size() > kMostBytes) stop(ImportObstacle::limits, 0, "the file has more than 1 MiB");
    if (text.find("@triton.jit") != std::string::npos &&
        text.find("load_inline") == std::string::npos) {
      stop(ImportObstacle::no_cuda, 0,
           "its kernels are Triton's, and an import takes inline CUDA; a candidate names Triton "
           "kernels with `language: triton`");
    }
    const Block module = parse_python(python_tokens(text));
    Evaluator(worlds, plan, file).run(module);
    for (const PlanStep& step : plan.steps) {
      if (step.kernel < 0) {
        result.operators.push_back(step.op);
      } else {
        result.launches +=
            !plan.kernels[static_cast<size_t>(step.kernel)].entry.starts_with("kbench_");
      }
    }
    if (result.launches == 0)
      stop(ImportObstacle::no_cuda, 0, "ModelNew launches no kernel of its own");
    result.yaml = plan.yaml(task, std::filesystem::path(file).stem().string());
  } catch (const NotFollowed& why) {
    add(why);
  } catch (const std::out_of_range&) {
    add({ImportObstacle::python, 0, "a call with too few arguments"});
  }
  result.notes = plan.notes();
  return result;
}

std::optional<TaskId> task_of_kernel_file(std::string_view path) {
  // The last of "level", "_problem_" and a number at a name's beginning counts.
  std::string lower;
  for (char c : path) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto number_at = [&](size_t at) {
    int n = 0;
    size_t digits = 0;
    for (; at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])) && digits < 4;
         ++at, ++digits) {
      n = n * 10 + (lower[at] - '0');
    }
    return digits == 0 ? -1 : n;
  };
  const auto after = [&](std::string_view word) {
    for (size_t at = lower.rfind(word); at != std::string::npos;
         at = at == 0 ? std::string::npos : lower.rfind(word, at - 1)) {
      size_t k = at + word.size();
      while (k < lower.size() && (lower[k] == '_' || lower[k] == '-')) ++k;
      if (const int n = number_at(k); n >= 0) return n;
    }
    return -1;
  };
  const int level = after("level");
  int problem = after("problem");
  if (problem < 0) {
    const size_t slash = lower.rfind('/');
    problem = number_at(slash == std::string::npos ? 0 : slash + 1);
  }
  if (level < 0 || problem < 0) return std::nullopt;
  return TaskId{level, problem};
}

}  // namespace kbench
