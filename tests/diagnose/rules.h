// Single rules on small graphs: what they add to a node, run on the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/audit/shortcut_rules.h"
#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/reference.h"
#include "kbench/task.h"

namespace kbench {

using FindMutants = void (*)(const Graph& graph, int node, const AddMutant& add);

/// What a rule adds to a node, by its text.
inline std::map<std::string, Replacement> found(FindMutants rule, const Graph& graph, int node) {
  std::map<std::string, Replacement> all;
  rule(graph, node, [&](const std::string& text, Replacement replacement) {
    EXPECT_NE(text.find('@'), std::string::npos) << text;
    EXPECT_TRUE(all.emplace(text, std::move(replacement)).second) << text << " twice";
  });
  return all;
}

inline int last_node(const Graph& graph) { return static_cast<int>(graph.nodes().size()) - 1; }

/// A graph of float inputs x0, x1, ... and one result.
class SmallGraph {
 public:
  SmallGraph(const std::vector<Shape>& shapes,
             const std::function<std::vector<Value>(const std::vector<Value>&)>& build) {
    std::vector<Value> x;
    for (const Shape& shape : shapes) {
      const std::string name = "x" + std::to_string(x.size());
      x.push_back(graph.input(name, shape));
      given[name] = draw(normal(), {5, 1, name}, x.back().type());
    }
    for (const Value& value : build(x)) graph.output(value);
  }

  std::vector<Tensor> truth() const { return run(graph); }

  /// What stands in the last node's place by the rule of that text.
  std::vector<Tensor> with(FindMutants rule, const std::string& text) const {
    const auto all = found(rule, graph, last_node(graph));
    const auto it = all.find(text);
    if (it == all.end()) {
      std::string known = "there is no '" + text + "' but\n";
      for (const auto& [each, replacement] : all) known += each + "\n";
      throw std::runtime_error(known);
    }
    return run(*rewrite(graph, {{last_node(graph), it->second}}));
  }

  std::vector<Tensor> run(const Graph& which) const {
    return run_reference(which, given, {.precision = Precision::f64, .threads = 1});
  }

  float& at(int input, size_t element) {
    return given.at("x" + std::to_string(input)).data<float>()[element];
  }

  Graph graph;
  NamedTensors given;
};

/// The largest distance, relative to the truth's largest element.
inline double distance(const std::vector<Tensor>& got, const std::vector<Tensor>& truth) {
  double worst = 0;
  EXPECT_EQ(got.size(), truth.size());
  for (size_t o = 0; o < truth.size(); ++o) {
    double scale = 1e-30;
    EXPECT_EQ(got[o].shape(), truth[o].shape());
    for (int64_t i = 0; i < truth[o].elements(); ++i) {
      if (std::isfinite(truth[o].at(i))) scale = std::max(scale, std::abs(truth[o].at(i)));
    }
    for (int64_t i = 0; i < truth[o].elements(); ++i) {
      const double a = got[o].at(i), b = truth[o].at(i);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      worst = std::max(worst, std::isfinite(a - b) ? std::abs(a - b) / scale : 1e300);
    }
  }
  return worst;
}

}  // namespace kbench
