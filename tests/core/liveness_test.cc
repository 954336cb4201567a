#include <gtest/gtest.h>

#include "kbench/ops.h"
#include "libkbench/core/graph_facts.h"

namespace kbench {
namespace {

/// x, and relu(x) seen as a row, whose sigmoid is the output:
/// values 0: x, 1: relu, 2: a view of 1, 3: sigmoid; nodes 0: relu, 1: the view, 2: sigmoid.
void add_chain(Graph& g) {
  const Value x = g.input("x", {3, 5});
  g.output(sigmoid(reshape(relu(x), {15})));
}

TEST(Liveness, AViewSharesTheMemoryOfWhatItShows) {
  Graph g;
  add_chain(g);
  EXPECT_EQ(memory_owners(g), (std::vector<int>{0, 1, 1, 3}));
}

TEST(Liveness, AViewOfAViewSharesTheFirstOnesMemory) {
  Graph g;
  const Value x = g.input("x", {3, 5});
  g.output(relu(reshape(reshape(x, {15}), {5, 3})));
  EXPECT_EQ(memory_owners(g), (std::vector<int>{0, 0, 0, 3}));
}

TEST(Liveness, MemoryLivesUntilItsLastViewIsRead) {
  Graph g;
  add_chain(g);
  EXPECT_EQ(last_uses(g, memory_owners(g)), (std::vector<int>{0, 2, -1, 3}));
}

TEST(Liveness, AnOutputOutlivesEveryNodeThoughItIsAView) {
  Graph g;
  const Value x = g.input("x", {3, 5});
  g.output(reshape(relu(x), {15}));
  EXPECT_EQ(last_uses(g, memory_owners(g)), (std::vector<int>{0, 2, -1}));
}

TEST(Liveness, WhatNothingTouchesHasNoLastUse) {
  Graph g;
  g.input("unused", {2});
  g.output(relu(g.input("x", {3})));
  EXPECT_EQ(last_uses(g, memory_owners(g)), (std::vector<int>{-1, 0, 1}));
}

TEST(Liveness, FollowsOwnersThatACallerHasMoved) {
  Graph g;
  add_chain(g);
  // The view's memory is the caller's: what it shows lives there as well.
  EXPECT_EQ(last_uses(g, {0, 2, 2, 3}), (std::vector<int>{0, -1, 2, 3}));
}

}  // namespace
}  // namespace kbench
