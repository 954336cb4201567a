// Shortcuts of norms: statistics of some of the elements, of others, or none.
#include "libkbench/mutants/mutant_rules.h"

namespace kbench {
namespace {

struct Statistics {
  Value mean, variance;
};

Statistics statistics_of(const NormView& view, Value x) {
  const Value average = mean_over(view, x);
  return {average, mean_over(view, square(x - average))};
}

std::vector<Value> normalised(const Rewriting& rewriting, int number, const NormView& view,
                              const Statistics& s) {
  return {norm_result(rewriting, number, (view.x - s.mean) / sqrt(s.variance + view.eps))};
}

/// The node's result with its statistics passed through `change`.
Replacement changed(Statistics (*change)(const NormView& view, const Statistics& own)) {
  return [change](const Rewriting& rewriting, int number) {
    const NormView view = norm_view(rewriting, number);
    return normalised(rewriting, number, view, change(view, statistics_of(view, view.x)));
  };
}

Statistics rolled(const Statistics& s, int axis, int64_t by) {
  return {roll(s.mean, axis, by), roll(s.variance, axis, by)};
}

/// The extents of a norm's view: rows, channels, n.
struct Extents {
  bool batch = false;
  int64_t samples = 1, rows = 1, channels = 1, n = 1;
};

Extents extents_of(const Graph& graph, int number) {
  Graph scratch(graph.variables());  // a view is of a graph's values
  const Rewriting trial{
      graph, scratch,
      [&](int id) { return scratch.input("i" + std::to_string(id), graph.value(id).type.shape); }};
  const NormView view = norm_view(trial, number);
  return {view.batch, view.samples, view.x.dim(0), view.x.dim(1), view.x.dim(2)};
}

void add_parts(const std::vector<AxisPart>& parts, const AddMutant& add) {
  for (const AxisPart& part : parts) {
    add("@ with the statistics of " + part.text, [part](const Rewriting& rewriting, int number) {
      const NormView whole = norm_view(rewriting, number);
      return normalised(rewriting, number, whole, statistics_of(whole, part_of(whole.x, part)));
    });
  }
}

/// Parts of the dimensions that the statistics are over.
std::vector<AxisPart> parts_of(const Extents& view,
                               std::vector<AxisPart> (*parts)(int axis, int64_t extent)) {
  std::vector<AxisPart> all = parts(2, view.n);
  if (!view.batch) return all;
  for (AxisPart part : parts(0, view.rows)) {
    part.text += " of the samples";
    all.push_back(part);
  }
  return all;
}

}  // namespace

void leave_out_of_statistics(const Graph& graph, int number, const AddMutant& add) {
  if (!is_norm(*graph.node(number).call.op)) return;
  add_parts(parts_of(extents_of(graph, number), most_of), add);
}

void shorten_statistics(const Graph& graph, int number, const AddMutant& add) {
  const Graph::Node& node = graph.node(number);
  if (!is_norm(*node.call.op)) return;
  const Extents view = extents_of(graph, number);
  std::vector<AxisPart> parts = parts_of(view, halves_of);
  if (view.batch && view.rows > 2) {
    parts.push_back({"the first sample", {.axis = 0, .start = 0, .stop = 1}});
  }
  add_parts(parts, add);
  if (!view.batch && view.samples > 1) {
    add("@ with the statistics of another sample",
        changed([](const NormView& v, const Statistics& own) {
          return rolled(own, 0, v.x.dim(0) / v.samples);
        }));
    add("@ with the first sample's statistics for all",
        changed([](const NormView& v, const Statistics& own) -> Statistics {
          const int64_t each = v.x.dim(0) / v.samples;
          const auto first = [&](Value value) {
            const Value some = reshape(first_of(value, 0, each), {1, each, 1});
            return reshape(expand(some, {v.samples, each, 1}), value.shape());
          };
          return {first(own.mean), first(own.variance)};
        }));
  }
  if (!view.batch && view.rows > view.samples) {
    add("@ with the statistics of its neighbour",
        changed([](const NormView&, const Statistics& own) { return rolled(own, 0, 1); }));
  }
  if (view.batch && view.channels > 1) {
    add("@ with the statistics of another channel",
        changed([](const NormView&, const Statistics& own) { return rolled(own, 1, 1); }));
  }
  add("@ with a mean of 0", [](const Rewriting& rewriting, int number) {
    const NormView v = norm_view(rewriting, number);
    const Value variance = mean_over(v, square(v.x));
    return std::vector<Value>{norm_result(rewriting, number, v.x / sqrt(variance + v.eps))};
  });
  add("@ with a variance of 1", changed([](const NormView&, const Statistics& own) -> Statistics {
        return {own.mean, own.variance * 0.0 + 1.0};
      }));
  add("@ with a mean of 0 and a variance of 1", [](const Rewriting& rewriting, int number) {
    return std::vector<Value>{norm_result(rewriting, number, norm_view(rewriting, number).x * 1.0)};
  });
}

}  // namespace kbench
