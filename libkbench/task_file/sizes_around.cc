// A task's graph at sizes around its presets: what depends on which variable shows in them.
#include <algorithm>

#include "kbench/error.h"
#include "libkbench/task_file/write.h"

namespace kbench::written {
namespace {

/// Larger graphs are built at fewer sizes: of more operators, or with more data in them.
constexpr size_t kManyNodes = 400;
constexpr int64_t kManyBytes = 1 << 20;

bool is_large(const Graph& graph) {
  int64_t bytes = 0;
  for (const int id : graph.values_of(Graph::Kind::constant)) bytes += graph.value(id).type.bytes();
  return graph.nodes().size() > kManyNodes || bytes > kManyBytes;
}

VariableValue changed(const VariableValue& value, int64_t step) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole + step;
  if (const auto* real = std::get_if<double>(&value)) {
    return *real + 0.125 * static_cast<double>(step);
  }
  auto list = std::get<std::vector<int64_t>>(value);
  for (int64_t& item : list) item += step;
  return list;
}

VariableValue times(const VariableValue& value, int64_t factor) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole * factor;
  if (const auto* real = std::get_if<double>(&value)) return *real * static_cast<double>(factor);
  auto list = std::get<std::vector<int64_t>>(value);
  for (int64_t& item : list) item *= factor;
  return list;
}

}  // namespace

SizesAround::SizesAround(const Task& task) : task_(task) {
  for (const Preset preset : kAllPresets) {
    if (!add(preset, {})) build_graph(task, preset);  // throws what is wrong
  }
  const bool large = is_large(*graphs_.back());  // that of v0.1
  vary(Preset::smoke, is_large(*graphs_[0]) ? std::vector<int64_t>{1, 2, 3, -1}
                                            : std::vector<int64_t>{1, 2, 3, 5, 8, -1});
  if (!large) vary(Preset::v0_1, {1, 2, 8});
  vary_together(Preset::smoke);
}

bool SizesAround::may_vary(const VariableSpec& spec) const {
  return spec.follows.empty() && graphs_[0]->variables_read().contains(spec.name);
}

/// Builds the graph, where the sizes go together.
bool SizesAround::add(Preset preset, const Variables& overrides) {
  try {
    auto graph = build_graph(task_, preset, overrides);
    Variables variables;
    for (const VariableSpec& spec : task_.variables) {
      const bool read = graphs_.empty() ? graph->variables_read().contains(spec.name)
                                        : graphs_[0]->variables_read().contains(spec.name);
      if (spec.follows.empty() && read) {
        variables[spec.name] = graph->variables().find(spec.name)->second;
      }
    }
    built_.push_back({std::move(variables), graph.get()});
    graphs_.push_back(std::move(graph));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Changes one variable after another, or one element of a list.
void SizesAround::vary(Preset preset, const std::vector<int64_t>& steps) {
  for (const VariableSpec& spec : task_.variables) {
    if (!may_vary(spec)) continue;
    const VariableValue& own = spec.at(preset);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&own)) {
      for (size_t i = 0; i < list->size(); ++i) {
        for (const int64_t step : {1, 2, 3, 5, -1}) {
          auto other = *list;
          other[i] += step;
          if (other[i] >= 0) add(preset, {{spec.name, other}});
        }
        auto twice = *list;
        twice[i] *= 2;
        add(preset, {{spec.name, twice}});
      }
      continue;
    }
    for (const int64_t step : steps) {
      const auto* whole = std::get_if<int64_t>(&own);
      // A negative one may count from the end.
      if (whole == nullptr || *whole + step >= 0) add(preset, {{spec.name, changed(own, step)}});
    }
    for (const int64_t factor : {2, 3}) add(preset, {{spec.name, times(own, factor)}});
  }
}

/// Changes several: sizes that only go together in pairs, and all by different steps.
void SizesAround::vary_together(Preset preset) {
  std::vector<const VariableSpec*> specs;
  for (const VariableSpec& spec : task_.variables) {
    if (may_vary(spec)) specs.push_back(&spec);
  }
  for (const int64_t factor : {2, 3}) {
    Variables all;
    for (const VariableSpec* spec : specs) all[spec->name] = times(spec->at(preset), factor);
    add(preset, all);
  }
  for (const int64_t most : {1, 8}) {
    Variables all;
    int64_t step = most;
    for (const VariableSpec* spec : specs) all[spec->name] = changed(spec->at(preset), step++);
    add(preset, all);
  }
  for (size_t a = 0; a < specs.size(); ++a) {
    for (size_t b = a + 1; b < specs.size(); ++b) {
      const VariableValue &one = specs[a]->at(preset), &other = specs[b]->at(preset);
      if (one != other || std::holds_alternative<double>(one)) continue;
      for (const int64_t step : {1, 2}) {
        add(preset, {{specs[a]->name, changed(one, step)}, {specs[b]->name, changed(other, step)}});
      }
    }
  }
}

}  // namespace kbench::written
