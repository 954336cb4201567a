// Where values live: pure, no device.
#include <gtest/gtest.h>

#include <random>

#include "harness/measure/eager/graph_layout.h"
#include "kbench/ops.h"

namespace kbench::eager {
namespace {

TEST(Arena, TakesTheFirstGapThatFits) {
  Arena arena;
  EXPECT_EQ(arena.allocate(1000), 0);
  EXPECT_EQ(arena.allocate(1), 1024);
  EXPECT_EQ(arena.allocate(256), 1280);
  arena.release(0);
  EXPECT_EQ(arena.allocate(300), 0);
  EXPECT_EQ(arena.allocate(600), 1536);
  EXPECT_EQ(arena.allocate(512), 512);
  EXPECT_EQ(arena.high_water(), 1536 + 768);
}

/// A random graph of a few operators, views among them.
void grow(Graph& graph, std::mt19937& random) {
  const auto pick = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  std::vector<Value> values = {graph.input("a", {3, 5}), graph.input("b", {3, 5}),
                               graph.parameter("c", {3, 1})};
  for (size_t i = 0; i < 20; ++i) {
    const Value x = values[pick(values.size())];
    switch (pick(4)) {
      case 0:
        values.push_back(relu(x));
        break;
      case 1:
        values.push_back(flatten(x));
        break;
      case 2:
        values.push_back(reshape(x, {x.type().elements(), 1}) + reshape(values[pick(2)], {1, 15}));
        break;
      default:
        values.push_back(sum(x, {.axis = 0, .keepdim = true}));
    }
  }
  for (size_t i = 0; i < 3; ++i) graph.output(values[pick(values.size())]);
}

TEST(GraphLayout, NothingLiveIsOverwrittenInRandomGraphs) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Graph graph;
    grow(graph, random);
    std::vector<int64_t> scratch;
    for (size_t i = 0; i < graph.nodes().size(); ++i) scratch.push_back(random() % 3 * 700);
    const GraphLayout layout = lay_out(graph, scratch);

    // Which value's elements each byte of the arena holds, followed step by step.
    std::vector<int> owner(layout.arena_bytes, -1);
    std::vector<bool> given(graph.values().size(), false), written(graph.values().size(), false);
    for (size_t id = 0; id < given.size(); ++id) {
      given[id] = graph.values()[id].kind != Graph::Kind::intermediate;
    }
    for (const int id : graph.outputs()) given[id] = true;
    const auto bytes_of = [&](int id) { return graph.values()[id].type.bytes(); };
    const auto mark = [&](int64_t offset, int64_t bytes, int id) {
      ASSERT_GE(offset, 0);
      ASSERT_EQ(offset % 256, 0);
      ASSERT_LE(offset + bytes, layout.arena_bytes);
      std::fill_n(owner.begin() + offset, bytes, id);
    };
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const Graph::Node& node = graph.nodes()[i];
      if (node.call.op->is_view) {
        ASSERT_EQ(layout.root[node.outputs[0]], layout.root[node.inputs[0]]);
        continue;
      }
      // Outputs and scratch are written while inputs are read: marked first.
      for (const int id : node.outputs) {
        const int root = layout.root[id];
        if (layout.offset[root] >= 0) {
          mark(layout.offset[root], bytes_of(id), root);
        } else {
          ASSERT_TRUE(given[root]) << "value " << id << " has no memory";
          ASSERT_FALSE(written[root]) << "an output is written twice";
          ASSERT_EQ(graph.values()[root].kind, Graph::Kind::intermediate) << "an input is written";
        }
        written[root] = true;
      }
      if (scratch[i] > 0) mark(layout.scratch[i], scratch[i], -2);
      for (const auto* ids : {&node.inputs, &node.outputs}) {
        for (const int id : *ids) {
          const int root = layout.root[id];
          if (layout.offset[root] < 0) {
            ASSERT_TRUE(given[root]);
            continue;
          }
          for (int64_t b = 0; b < bytes_of(id); ++b) {
            ASSERT_EQ(owner[layout.offset[root] + b], root) << "node " << i << ", value " << id;
          }
        }
      }
    }
    for (const auto& [from, to] : layout.copies) {
      ASSERT_TRUE(given[from] && given[to]);
      ASSERT_EQ(bytes_of(from), bytes_of(to));
      written[to] = true;
    }
    for (const int id : graph.outputs()) {
      ASSERT_TRUE(written[id] || graph.values()[id].kind != Graph::Kind::intermediate)
          << "output " << id << " is never written";
    }
  }
}

TEST(GraphLayout, MemoryOfDeadValuesIsUsedAgain) {
  Graph graph;
  Value x = graph.input("x", {1024});
  for (int i = 0; i < 9; ++i) x = relu(x);
  graph.output(x);
  EXPECT_EQ(lay_out(graph, std::vector<int64_t>(9, 0)).arena_bytes, 2 * 4096);
}

TEST(GraphLayout, AnOutputThatViewsAResultIsThatResultsMemory) {
  Graph graph;
  const Value y = flatten(relu(graph.input("x", {3, 5})));
  graph.output(y);
  const GraphLayout layout = lay_out(graph, {0, 0});
  EXPECT_EQ(layout.arena_bytes, 0);
  EXPECT_TRUE(layout.copies.empty());
  EXPECT_EQ(layout.root[graph.nodes()[0].outputs[0]], y.id());
}

TEST(GraphLayout, OutputsThatShareMemoryAreCopied) {
  Graph graph;
  const Value x = graph.input("x", {3, 5});
  const Value y = relu(x), flat = flatten(y), seen = flatten(x);
  for (const Value& value : {flat, y, seen}) graph.output(value);
  const GraphLayout layout = lay_out(graph, {0, 0, 0});
  const std::vector<std::pair<int, int>> copies = {{flat.id(), y.id()}, {x.id(), seen.id()}};
  EXPECT_EQ(layout.copies, copies);
}

}  // namespace
}  // namespace kbench::eager
