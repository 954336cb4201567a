#include "harness/evaluate/diagnose/look.h"

#include <cstring>
#include <utility>

#include "harness/measure/trial/secret.h"
#include "kbench/compare.h"
#include "kbench/error.h"

namespace kbench::diagnose {
namespace {

/// So that the float64 reference takes well under a second on two slow cores.
constexpr double kMostFlops = 5e8;
constexpr int64_t kMostBytes = int64_t{512} << 20;

int64_t output_elements(const Graph& graph) {
  int64_t elements = 0;
  for (const int id : graph.outputs()) {
    elements += graph.value(id).type.elements();
  }
  return elements;
}

/// Why the graph is too large to be run; empty if it is not.
std::string too_much(const Graph& graph) {
  const int64_t elements = output_elements(graph);
  if (elements > judge::kMostInspected) {
    return "its outputs have " + std::to_string(elements) + " elements, and at most " +
           std::to_string(judge::kMostInspected) + " can be looked at";
  }
  if (graph.flops() > kMostFlops || reference_peak_bytes(graph, Precision::f64) > kMostBytes) {
    return "the reference on the CPU takes too long or too much memory for it";
  }
  return "";
}

bool element_equal(const Tensor& a, const Tensor& b, int64_t i) {
  const size_t size = size_of(a.dtype());
  const auto at = static_cast<size_t>(i) * size;
  return std::memcmp(a.raw() + at, b.raw() + at, size) == 0;
}

/// The elements that were written. Bools and small integers may equal the fill by chance.
std::vector<char> written_of(const judge::Inspection::Output& output) {
  std::vector<char> written(static_cast<size_t>(output.got.elements()), 1);
  if (output.got.dtype() == DType::boolean) return written;
  for (int64_t i = 0; i < output.got.elements(); ++i) {
    written[static_cast<size_t>(i)] = element_equal(output.got, output.before, i) ? 0 : 1;
  }
  return written;
}

NamedTensors drawn(const Graph& graph, TaskId task, uint64_t parameters, uint64_t inputs) {
  NamedTensors given = draw_tensors(graph, task, inputs);
  for (const int id : graph.values_of(Graph::Kind::parameter)) {
    given[graph.value(id).name] = draw_tensor(graph, graph.value(id), task, parameters);
  }
  return given;
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.elements()));
  for (int64_t i = 0; i < tensor.elements(); ++i) values[static_cast<size_t>(i)] = tensor.at(i);
  return values;
}

}  // namespace

std::optional<std::pair<TaskAt, judge::InspectedDraws>> failed_on(const Result& result,
                                                                  const Variables& overrides) {
  const auto wrong = result.holds_at ? result.holds_at->first_wrong : std::nullopt;
  if (!result.seed || !is_about_values(wrong ? wrong->verdict : result.verdict)) return {};
  trial::SecretStream secret(result.seed);
  TaskAt at{result.task, result.preset, overrides, result.dtype};
  if (wrong) {
    at = task_at(result.task, Preset::smoke, wrong->sizes, result.dtype);
    secret = trial::SecretStream(trial::SecretStream(secret.beside(0)).at_sizes(wrong->sizes));
  }
  const int draw = result.failed_sample;  // 0 at further sizes, whose inputs are draw 0, too
  return {{at, {secret.of_draw(0), secret.of_draw(draw), secret.of_draw(draw + 1)}}};
}

int64_t Look::elements() const {
  int64_t elements = output_elements(*graph);
  for (const auto& [name, tensor] : given) elements += tensor.elements();
  return elements;
}

int64_t Look::racing() const {
  int64_t racing = 0;
  for (const judge::Inspection::Output& output : inspection.outputs) {
    for (int64_t i = 0; i < output.again.elements(); ++i) {
      racing += element_equal(output.again, output.repeated, i) ? 0 : 1;
    }
  }
  return racing;
}

const Tensor& Look::got(size_t output) const {
  const judge::Inspection::Output& seen = inspection.outputs.at(output);
  return other_inputs ? seen.other : second_run ? seen.again : seen.got;
}

Compared Look::compared(size_t output, double relative) const {
  const judge::Inspection::Output& seen = inspection.outputs.at(output);
  Compared compared = {.shape = got(output).shape(),
                       .got = values_of(got(output)),
                       .expected = values_of(expected.at(output)),
                       .relative = relative};
  if (other_inputs) return compared;  // No other run had these inputs.
  compared.again = values_of(second_run ? seen.got : seen.again);
  if (!second_run) compared.written = written_of(seen);
  return compared;
}

Looker::Looker(client::JudgeClient& judge, const Task& task, Question question, uint64_t seed)
    : judge_(judge), task_(task), question_(std::move(question)), seed_(seed) {
  question_.recorded.reset();
  question_.plan.seed.reset();
}

std::optional<Look> Looker::look(const TaskAt& at,
                                 const std::optional<judge::InspectedDraws>& draws) {
  Look look;
  look.draws = draws.value_or(judge::InspectedDraws{seed_, seed_, seed_ + 1});
  static_cast<TaskAt&>(look) = at;
  try {
    look.graph = build_graph(at);
  } catch (const Error& error) {
    refusal_ = error.message();
    return std::nullopt;
  }
  const Graph& graph = *look.graph;
  refusal_ = too_much(graph);
  if (!refusal_.empty()) return std::nullopt;
  for (const std::string& name : graph.variables_read()) {
    look.variables[name] = graph.variables().find(name)->second;
  }
  judge::EvaluateRequest request{.question = question_, .more = true};
  request.question.preset = at.preset;
  request.question.overrides = at.variables;
  request.question.dtype = at.dtype;
  request.inspect = look.draws;
  judge::Findings findings;
  ++looks_;
  const Result result = judge_.run(request, {}, &findings);
  look.verdict = result.verdict;
  look.message = result.message;
  if (!findings.inspection) return look;
  look.inspection = *std::move(findings.inspection);
  look.given = drawn(graph, task_.id, look.draws.parameters, look.draws.inputs);
  look.expected = run_reference(graph, look.given, {.precision = Precision::f64});
  const Bounds bounds = bounds_of(task_, at.dtype);
  if (look.failed()) return look;
  for (const bool second : {false, true}) {
    for (size_t i = 0; i < look.expected.size(); ++i) {
      const judge::Inspection::Output& output = look.inspection.outputs.at(i);
      Comparison found = compare(second ? output.again : output.got, look.expected[i], bounds,
                                 question_.rule.tolerance);
      if (!second) {
        for (const char written : written_of(output)) found.untouched += written ? 0 : 1;
      }
      look.verdict = classify(found, bounds);
      if (!look.failed()) continue;
      look.second_run = second;
      look.message =
          graph.output_name(i) + ": " + describe(found, look.expected[i].shape(), bounds);
      return look;
    }
  }
  compare_on_other_inputs(look, bounds);
  return look;
}

void Looker::compare_on_other_inputs(Look& look, const Bounds& bounds) const {
  NamedTensors given = drawn(*look.graph, task_.id, look.draws.parameters, look.draws.other_inputs);
  std::vector<Tensor> expected = run_reference(*look.graph, given, {.precision = Precision::f64});
  bool repeats = true;
  for (size_t i = 0; i < expected.size(); ++i) {
    const judge::Inspection::Output& output = look.inspection.outputs.at(i);
    for (int64_t e = 0; e < output.got.elements(); ++e) {
      repeats = repeats && element_equal(output.got, output.other, e);
    }
    if (look.failed()) continue;
    const Comparison found = compare(output.other, expected[i], bounds, question_.rule.tolerance);
    look.verdict = classify(found, bounds);
    if (!look.failed()) continue;
    look.message = look.graph->output_name(i) + ": " + describe(found, expected[i].shape(), bounds);
  }
  if (!look.failed()) return;
  look.other_inputs = true;
  look.repeats_first = repeats;
  look.given = std::move(given);
  look.expected = std::move(expected);
}

bool alike(Verdict a, Verdict b) {
  const auto precise = [](Verdict v) {
    return v == Verdict::low_precision ? Verdict::wrong_values : v;
  };
  return precise(a) == precise(b);
}

}  // namespace kbench::diagnose
