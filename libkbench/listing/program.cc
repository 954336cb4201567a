#include "libkbench/listing/program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libkbench/listing/blocks.h"
#include "libkbench/listing/naming.h"

namespace kbench::listing {
namespace {

/// A fold must shorten the program to this share of its length; with lines that only some passes
/// have, to this share of the best exact fold's.
constexpr double kShorter = 0.97, kMuchShorter = 0.75;

/// A body in one of its runs.
struct Pass {
  Passes at;
  const Body* body = nullptr;
};

std::vector<Line> lines_from(const std::vector<Pass>& passes, int& next_id) {
  std::vector<Line> lines;
  for (size_t i = 0; i < passes.front().body->size(); ++i) {
    Line line;
    line.id = next_id++;
    if (passes.front().body->at(i).passes.empty()) {
      for (const Pass& pass : passes) {
        if (pass.body->at(i).absent) continue;
        line.at.push_back(pass.at);
        line.nodes.push_back(pass.body->at(i).node);
      }
    } else {
      for (const Pass& pass : passes) line.at.push_back(pass.at);
      line.kind = Line::Kind::loop;
      line.loop = std::make_shared<Loop>();
      std::vector<Pass> inside;
      for (const Pass& pass : passes) {
        const Item& item = pass.body->at(i);
        line.loop->times.push_back(int64_t(item.passes.size()));
        for (size_t k = 0; k < item.passes.size(); ++k) {
          inside.push_back({pass.at, &item.passes[k]});
          inside.back().at.push_back(int(k));
        }
      }
      line.loop->body = lines_from(inside, next_id);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<Program> program_of(const Graph& graph, const Body& body) {
  Program program;
  int next_id = 0;
  if (!body.empty()) program.lines = lines_from({{{}, &body}}, next_id);
  if (!name_variables(graph, program)) return std::nullopt;
  return program;
}

}  // namespace

Program fold(const Graph& graph, const Cost& cost, size_t most_unfolded) {
  const Body plain = unfolded(graph);
  Program best = program_of(graph, plain).value();
  if (graph.nodes().size() <= most_unfolded) return best;
  double least = cost(best);
  const auto take = [&](const Body& body, double share) {
    std::optional<Program> program = program_of(graph, body);
    if (!program) return false;
    const double price = cost(*program);
    if (price > share * least) return false;
    least = price;
    best = *std::move(program);
    return true;
  };
  const auto shorter = [&](const Body& body) { return take(body, kShorter); };
  fold_repeats(graph, plain, shorter);
  // Lines that only some passes have are harder to read, so they must save much.
  Program exact = best;
  const double least_exact = least;
  for (const size_t numbers : {1, 2}) {
    const Body modules = fold_modules(graph, plain, numbers);
    if (modules.size() == plain.size() || !take(modules, 10)) continue;
    fold_repeats(graph, modules, shorter);
    if (least < kMuchShorter * least_exact) {
      exact = best;
      continue;
    }
    best = exact;
    least = least_exact;
  }
  return exact;
}

}  // namespace kbench::listing
