#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/evaluate/diagnose/steps.h"
#include "kbench/error.h"
#include "kbench/mutants.h"

namespace kbench::diagnose {
namespace {

constexpr int64_t kMostShown = 64;  ///< most values of an array
constexpr size_t kMostWrong = 8;

/// The integer variables of a graph: sizes, but also strides and the like, which are kept if other
/// values are invalid.
std::vector<std::string> integers_of(const Variables& variables) {
  std::vector<std::string> names;
  for (const auto& [name, value] : variables) {
    if (std::holds_alternative<int64_t>(value)) names.push_back(name);
  }
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::get<int64_t>(variables.find(a)->second) >
           std::get<int64_t>(variables.find(b)->second);
  });
  return names;
}

int64_t integer(const Variables& variables, const std::string& name) {
  return std::get<int64_t>(variables.find(name)->second);
}

template <class F>
Variables changed(Variables variables, const std::vector<std::string>& names, F change) {
  for (const std::string& name : names) {
    int64_t& value = std::get<int64_t>(variables.find(name)->second);
    value = std::max<int64_t>(1, change(value));
  }
  return variables;
}

/// Notes why the last look was refused, each reason once.
void note_refusal(const Looker& looker, const TaskAt& at, std::vector<std::string>& notes) {
  std::string text = "preset " + at.preset;
  for (const auto& [name, value] : at.variables) text += ", " + name + " = " + to_string(value);
  text += ": " + looker.refusal();
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

/// If preset smoke is too large: tries each of its variables at a half, a quarter and so on, then
/// all of them.
template <class F>
void find_smaller(const TaskAt& smoke, F fails, std::vector<std::string>& notes) {
  const auto graph = build_graph(smoke);
  const Variables& own = graph->variables();
  std::vector<std::string> names = integers_of(own);
  std::erase_if(names, [&](const std::string& name) {
    return !graph->variables_read().contains(name) || integer(own, name) < 2;
  });
  if (names.empty()) {
    notes.emplace_back("no shape variable of the task makes it smaller");
    return;
  }
  std::vector<std::vector<std::string>> groups;
  for (const std::string& name : names) groups.push_back({name});
  groups.push_back(names);
  const size_t told = notes.size();
  for (const std::vector<std::string>& group : groups) {
    for (const int64_t part : {2, 4, 8, 16}) {
      TaskAt smaller = smoke;
      for (const std::string& name : group) {
        smaller.variables[name] = std::max<int64_t>(1, integer(own, name) / part);
      }
      if (fails(smaller)) return;
    }
  }
  constexpr size_t kMost = 3;
  if (notes.size() <= told + kMost) return;
  const size_t more = notes.size() - told - kMost;
  notes.resize(told + kMost);
  notes.push_back("and " + std::to_string(more) + " smaller sizes");
}

}  // namespace

Failure find_failure(Looker& looker, const Result& result, const Variables& overrides,
                     const TimeLimit& deadline) {
  Failure failure;
  const auto fails = [&](const TaskAt& at) {
    if (deadline.passed()) return false;
    auto look = looker.look(at);
    if (!look) note_refusal(looker, at, failure.not_tried);
    if (!look || !look->failed() || !look->ran()) return false;
    failure.look = std::move(look);
    return true;
  };
  const auto at_smoke = [&](const Variables& variables) {
    return task_at(result.task, Preset::smoke, variables, result.dtype);
  };
  if (const auto failed = failed_on(result, overrides)) {
    auto look = looker.look(failed->first, failed->second);
    const bool ran = look && look->ran();
    failure.on_its_values = ran && look->failed() && !look->other_inputs;
    failure.right_alone = ran && !failure.on_its_values;
    if (ran && look->failed()) failure.look = std::move(look);
    if (failure.look) return failure;
  }
  if (fails({result.task, result.preset, overrides, result.dtype})) return failure;
  // The overrides may be possible at the judged preset only.
  const auto smoke = looker.look(at_smoke({}));
  if (!smoke) {
    note_refusal(looker, at_smoke({}), failure.not_tried);
    find_smaller(at_smoke({}), fails, failure.not_tried);
    return failure;
  }
  if (smoke->failed()) {
    fails(at_smoke({}));
    return failure;
  }
  failure.right_when_small = true;
  const std::vector<std::string> names = integers_of(smoke->variables);
  if (fails(at_smoke(changed(smoke->variables, names, [](int64_t v) { return v + 1; })))) {
    return failure;
  }
  for (const std::string& name : names) {
    constexpr int64_t kSizes = 4;  // smaller values are mostly options, not sizes
    if (integer(smoke->variables, name) < kSizes) continue;
    for (const int factor : {1, 4}) {
      const auto larger = [&](int64_t v) { return factor * v + 1; };
      if (fails(at_smoke(changed(smoke->variables, {name}, larger)))) return failure;
    }
  }
  return failure;
}

std::optional<Look> shrink(Looker& looker, const Look& failing, int tries,
                           const TimeLimit& deadline) {
  std::optional<Look> best;
  const auto now = [&]() -> const Look& { return best ? *best : failing; };
  const int begin = looker.looks();
  const auto spent = [&] { return looker.looks() - begin >= tries || deadline.passed(); };
  const auto accept = [&](const Variables& sizes) {
    if (spent() || sizes == now().variables) return false;
    auto look = looker.look({failing.task, failing.preset, sizes, failing.dtype});
    if (!look || !look->ran() || !alike(look->verdict, now().verdict)) return false;
    if (look->elements() >= now().elements()) return false;
    best = std::move(look);
    return true;
  };
  const std::vector<std::string> names = integers_of(failing.variables);
  const auto half = [](int64_t v) { return (v + 1) / 2; };
  for (const int64_t least : {1, 2, 3}) {
    if (accept(changed(failing.variables, names, [&](int64_t v) { return std::min(v, least); }))) {
      break;
    }
  }
  while (accept(changed(now().variables, names, half))) {
  }
  bool smaller = true;
  while (smaller && !spent()) {
    smaller = false;
    for (const std::string& name : names) {
      const int64_t value = integer(now().variables, name);
      if (value < 2) continue;
      smaller |= accept(changed(now().variables, {name}, [](int64_t) { return 1; })) ||
                 accept(changed(now().variables, {name}, half)) ||
                 accept(changed(now().variables, {name}, [](int64_t v) { return v - 1; }));
    }
  }
  return best;
}

FailingCase failing_case(const Look& look, double relative) {
  FailingCase found;
  found.overrides = look.variables;
  found.verdict = look.verdict;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    FailingCase::Array array{name, tensor.shape(), {}};
    for (int64_t i = 0; i < tensor.elements() && tensor.elements() <= kMostShown; ++i) {
      array.values.push_back(tensor.at(i));
    }
    found.arrays.push_back(std::move(array));
  };
  for (const auto kind : {Graph::Kind::input, Graph::Kind::parameter}) {
    for (const int id : look.graph->values_of(kind)) {
      const std::string& name = look.graph->value(id).name;
      add(name, look.given.at(name));
    }
  }
  for (size_t i = 0; i < look.expected.size(); ++i) {
    add(look.graph->output_name(i), look.got(i));
    add(look.graph->output_name(i) + " (expected)", look.expected[i]);
    const Compared compared = look.compared(i, relative);
    const std::vector<char> wrong = wrong_elements(compared);
    const std::vector<int64_t> strides = strides_of(compared.shape);
    for (size_t e = 0; e < wrong.size() && found.wrong.size() < kMostWrong; ++e) {
      if (!wrong[e]) continue;
      WrongElement element{{}, compared.got[e], compared.expected[e]};
      for (size_t axis = 0; axis < strides.size(); ++axis) {
        element.index.push_back(static_cast<int64_t>(e) / strides[axis] % compared.shape[axis]);
      }
      found.wrong.push_back(std::move(element));
    }
  }
  return found;
}

namespace {

/// The values, and which of them count.
struct Observed {
  std::vector<Compared> outputs;
  bool enough = false;
};

Observed observed_of(const Look& look, double relative) {
  Observed observed;
  int64_t written = 0, all = 0;
  for (size_t i = 0; i < look.expected.size(); ++i) {
    observed.outputs.push_back(look.compared(i, relative));
    const std::vector<char>& marks = observed.outputs.back().written;
    written += std::count(marks.begin(), marks.end(), 1);
    all += static_cast<int64_t>(marks.size());
  }
  observed.enough = 2 * written >= all && written > 0;
  return observed;
}

/// Whether the written elements equal the mutant's; false also if the output is right.
bool matches(const Observed& observed, const std::vector<Tensor>& mutant) {
  bool differs = false;
  for (size_t i = 0; i < mutant.size(); ++i) {
    Compared compared = observed.outputs[i];
    Compared truth = compared;
    for (size_t e = 0; e < compared.got.size(); ++e) {
      compared.expected[e] = mutant[i].at(static_cast<int64_t>(e));
      truth.got[e] = compared.expected[e];
      if (!compared.written[e]) compared.got[e] = compared.expected[e];
      // Two NaNs count as the same fault.
      if (std::isnan(compared.got[e]) && std::isnan(compared.expected[e])) {
        compared.got[e] = compared.expected[e] = 0;
      }
    }
    const std::vector<char> off = wrong_elements(compared), wrong = wrong_elements(truth);
    if (std::find(off.begin(), off.end(), 1) != off.end()) return false;
    differs |= std::find(wrong.begin(), wrong.end(), 1) != wrong.end();
  }
  return differs;
}

}  // namespace

Matches matching_mutants(const Look& look, double relative, size_t most,
                         const TimeLimit& deadline) {
  Matches found;
  const Observed observed = observed_of(look, relative);
  if (!observed.enough) return found;
  const std::vector<Mutation> all = mutations(*look.graph);
  found.all = static_cast<int>(all.size());
  for (const Mutation& mutation : all) {
    if (found.descriptions.size() >= most || deadline.passed()) break;
    ++found.tried;
    try {
      const auto graph = mutate(*look.graph, mutation);
      const auto outputs = run_reference(*graph, look.given, {.precision = Precision::f64});
      if (matches(observed, outputs)) found.descriptions.push_back(mutation.description);
    } catch (const Error&) {
      continue;  // the reference refuses these sizes
    }
  }
  return found;
}

}  // namespace kbench::diagnose
