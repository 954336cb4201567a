// Level 3: NetVLAD, which sums up a set of features by their distances to learned clusters.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Ghost clusters take their share of a feature and are then dropped.
void net_vlad(Graph& g) {
  const int64_t batch = g["batch_size"], features = g["num_features"], d = g["feature_size"];
  const int64_t clusters = g["num_clusters"], all = clusters + g["ghost_clusters"];
  auto x = g.input("x", {batch, features, d});
  auto share =
      matmul(reshape(x, {batch * features, d}), g.parameter("clusters", {d, all}, uniform(-1, 1)));
  share = softmax(batch_norm(share, g.module("batch_norm")), 1);
  if (all > clusters) share = slice(share, {.axis = 1, .stop = clusters});
  share = reshape(share, {batch, features, clusters});
  auto centres = sum(share, {.axis = 1, .keepdim = true}) *
                 g.parameter("clusters2", {1, d, clusters}, uniform(-1, 1));
  auto vlad = transpose(matmul(share, x, {.transpose_a = true}), 1, 2) - centres;
  g.output(normalize(flatten(normalize(vlad, 1), 1), 1));
}

/// In fewer bits that root is another number, which is not excused.
std::vector<Dead> dead_norm() {
  return {
      {{"*norm (number 2 of 2)", "norm (number 2 of 2) o*", "*clamp_min (number 2 of 2)",
        "clamp_min (number 2 of 2) o*"},
       "each cluster has norm 1 before it, so that the norm of all is the root of their number"},
      {{"without *clamp_min*"},
       "a guard against a division by 0: no norm of a vector that is drawn comes near it"}};
}

}  // namespace

Tasks level3_aggregation() {
  return {
      {{3, 46},
       "NetVladWithGhostClusters",
       "aggregation",
       {{"batch_size", 4, 32, 2048},
        {"num_features", 20, 100, 100},
        {"num_clusters", 6, 32, 32},
        {"feature_size", 24, 512, 512},
        {"ghost_clusters", 3, 16, 16}},
       net_vlad,
       {2e-4,
        "statistics added up in one float, honest float32 is off by 6e-05; the norm of all in "
        "fewer bits is not told from it"},
       dead_norm()},
      {{3, 47},
       "NetVladNoGhostClusters",
       "aggregation",
       {{"batch_size", 4, 32, 2048},
        {"num_features", 20, 100, 100},
        {"num_clusters", 6, 32, 32},
        {"feature_size", 24, 512, 512},
        {"ghost_clusters", 0}},
       net_vlad,
       {},
       dead_norm()},
  };
}

}  // namespace kbench::levels
