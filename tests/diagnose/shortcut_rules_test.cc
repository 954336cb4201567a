// Shortcuts by a part of the work: that they read the part and no more, and make of it what they
// say.

#include "tests/diagnose/rules.h"

namespace kbench {
namespace {

using Values = std::vector<Value>;

/// The elements of an input that what the rule makes depends on.
std::set<int64_t> read(SmallGraph& g, FindMutants rule, const std::string& text, int input = 0) {
  const std::vector<Tensor> before = g.with(rule, text);
  std::set<int64_t> elements;
  const int64_t count = g.given.at("x" + std::to_string(input)).elements();
  for (int64_t i = 0; i < count; ++i) {
    float& element = g.at(input, static_cast<size_t>(i));
    const float own = element;
    for (const float other : {own + 9, own - 9}) {  // one of them wins a maximum
      element = other;
      if (distance(g.with(rule, text), before) > 0) elements.insert(i);
    }
    element = own;
  }
  return elements;
}

std::set<int64_t> where(int64_t count, const std::function<bool(int64_t)>& condition) {
  std::set<int64_t> elements;
  for (int64_t i = 0; i < count; ++i) {
    if (condition(i)) elements.insert(i);
  }
  return elements;
}

TEST(ShortcutRules, ReductionsReadHalf) {
  for (const char* op : {"sum", "mean", "max", "min", "logsumexp", "norm", "argmax", "argmin"}) {
    SCOPED_TRACE(op);
    SmallGraph g({{2, 7}}, [&](auto x) {
      return x[0].graph()->apply(find_operator(op), x, {{"axis", int64_t{1}}});
    });
    const std::string name = op;
    const bool scaled = name == "sum" || name == "norm" || name == "logsumexp";
    const std::string end = scaled ? ", scaled to all" : "";
    EXPECT_EQ(read(g, shorten_reductions, "@ over the first half" + end),
              where(14, [](int64_t i) { return i % 7 < 3; }));
    EXPECT_EQ(read(g, shorten_reductions, "@ over the last half" + end),
              where(14, [](int64_t i) { return i % 7 >= 4; }));
    EXPECT_EQ(read(g, shorten_reductions, "@ over every second element" + end),
              where(14, [](int64_t i) { return i % 7 % 2 == 0; }));
  }
}

TEST(ShortcutRules, MostOfAnAxisIsAllButItsShare) {
  SmallGraph g({{2, 9}}, [](auto x) { return Values{mean(x[0], {.axis = 1})}; });
  EXPECT_EQ(read(g, leave_out_terms, "@ over all but the last 1/4"),
            where(18, [](int64_t i) { return i % 9 < 7; }));
  EXPECT_EQ(read(g, leave_out_terms, "@ over all but every 4th element"),
            where(18, [](int64_t i) { return i % 9 != 3 && i % 9 < 7; }));
  EXPECT_EQ(read(g, leave_out_terms, "@ over all but the last 1/8"),
            where(18, [](int64_t i) { return i % 9 < 8; }));
  EXPECT_EQ(found(leave_out_terms, g.graph, 0).size(), 4u) << "an axis of 9 has no 16th";
}

TEST(ShortcutRules, BatchStatisticsOfMostSamplesLeaveTheLastOut) {
  SmallGraph g({{8, 3, 5}, {3}, {3}},
               [](auto x) { return x[0].graph()->apply(find_operator("batch_norm"), x); });
  const auto all = found(leave_out_of_statistics, g.graph, last_node(g.graph));
  EXPECT_TRUE(all.contains("@ with the statistics of all but the last 1/8 of the samples"));
  EXPECT_TRUE(all.contains("@ with the statistics of all but every 4th element"));
  // What is left out is normalised all the same, and of its own value the rest does not know.
  const std::string text = "@ with the statistics of all but the last 1/8 of the samples";
  const Tensor before = g.with(leave_out_of_statistics, text)[0];
  g.at(0, 7 * 15) += 9;
  const Tensor after = g.with(leave_out_of_statistics, text)[0];
  EXPECT_NE(after.at(7 * 15), before.at(7 * 15));
  EXPECT_EQ(after.at(0), before.at(0));
}

/// Where all elements are alike, a part scaled to all is the whole.
TEST(ShortcutRules, WhatIsScaledIsRightOfEqualElements) {
  const auto expect_whole = [](SmallGraph& g, FindMutants rule) {
    size_t scaled = 0;
    for (const auto& [text, replacement] : found(rule, g.graph, last_node(g.graph))) {
      if (text.find("scaled to all") == std::string::npos) continue;
      ++scaled;
      EXPECT_LT(distance(g.with(rule, text), g.truth()), 1e-6) << text;
    }
    EXPECT_GE(scaled, 1u);
  };
  const auto equal = [](SmallGraph& g) {
    for (auto& [name, tensor] : g.given) {
      std::fill(tensor.data<float>().begin(), tensor.data<float>().end(), 0.3f);
    }
  };
  for (const char* op : {"sum", "norm", "logsumexp", "softmax", "log_softmax"}) {
    SmallGraph g({{2, 7}}, [&](auto x) {
      return x[0].graph()->apply(find_operator(op), x, {{"axis", int64_t{1}}});
    });
    equal(g);
    expect_whole(g, shorten_reductions);
    expect_whole(g, leave_out_terms);
  }
  SmallGraph product({{3, 7}, {4, 7}, {4}},
                     [](auto x) { return Values{linear(x[0], x[1], x[2])}; });
  equal(product);
  expect_whole(product, shorten_products);
  SmallGraph convolution({{1, 6, 5}, {4, 3, 3}, {4}}, [](auto x) {
    return x[0].graph()->apply(find_operator("conv1d"), x,
                               {{"groups", int64_t{2}}, {"padding", int64_t{1}}});
  });
  equal(convolution);
  expect_whole(convolution, shorten_products);
  for (const char* op : {"smooth_l1_loss", "kl_div_batchmean"}) {
    SmallGraph g({{3, 7}, {3, 7}},
                 [&](auto x) { return x[0].graph()->apply(find_operator(op), x); });
    equal(g);
    if (op[0] == 'k') {
      expect_whole(g, shorten_reductions);
      EXPECT_GT(g.truth()[0].at(0), -10);
    }
  }
}

TEST(ShortcutRules, LossesReadHalf) {
  SmallGraph g({{4, 6}, {4, 6}}, [](auto x) { return Values{smooth_l1_loss(x[0], x[1])}; });
  EXPECT_EQ(read(g, shorten_reductions, "@ over the first half of the rows"),
            where(24, [](int64_t i) { return i < 12; }));
  EXPECT_EQ(
      read(g, shorten_reductions, "@ over every second element of each row, scaled to all", 1),
      where(24, [](int64_t i) { return i % 2 == 0; }));
}

TEST(ShortcutRules, CrossEntropyOverHalfTheClasses) {
  Graph graph;
  const Value x = graph.input("x", {3, 4}), t = graph.input("t", {3}, normal(), DType::i64);
  graph.output(cross_entropy(x, t));
  Tensor target(DType::i64, {3});
  for (int64_t i = 0; i < 3; ++i) target.data<int64_t>()[static_cast<size_t>(i)] = i + 1;
  const NamedTensors given = {{"x", draw(normal(), {5, 1, "x"}, x.type())}, {"t", target}};
  const auto all = found(shorten_reductions, graph, 0);
  const auto mutant =
      rewrite(graph, {{0, all.at("@ over the last half of each row, scaled to all")}});
  double truth = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const auto at = [&](int64_t j) { return given.at("x").at(i * 4 + j); };
    truth += (std::log(2 * (std::exp(at(2)) + std::exp(at(3)))) - at(i + 1)) / 3;
  }
  EXPECT_NEAR(run_reference(*mutant, given, {.precision = Precision::f64})[0].at(0), truth, 1e-12);
}

TEST(ShortcutRules, WindowsEndHalfWay) {
  for (const bool largest : {false, true}) {
    SmallGraph g({{1, 1, 9}}, [&](auto x) {
      const Pooling options{.kernel = {4}, .stride = {2}, .padding = {2}};
      return Values{largest ? max_pool1d(x[0], options) : avg_pool1d(x[0], options)};
    });
    for (size_t i = 0; i < 9; ++i) g.at(0, i) -= 20;  // a padding of zeros would win
    const Tensor y =
        g.with(shorten_reductions, "@ over the first half of each window along axis 2")[0];
    ASSERT_EQ(y.elements(), 5);
    for (int64_t i = 0; i < 5; ++i) {
      double sum = 0, most = -HUGE_VAL;
      for (int64_t j = 2 * i - 2; j < 2 * i; ++j) {
        if (j < 0) continue;
        sum += g.given.at("x0").at(j) / 2;
        most = std::max(most, g.given.at("x0").at(j));
      }
      if (largest && i == 0) {
        EXPECT_LT(y.at(i), -1e37);  // a window of padding alone
      } else {
        EXPECT_NEAR(y.at(i), largest ? most : sum, 1e-12) << i;
      }
    }
  }
  SmallGraph cells({{1, 2, 8, 6}}, [](auto x) {
    return Values{adaptive_avg_pool2d(x[0], {2, 3})};
  });
  EXPECT_EQ(read(cells, shorten_reductions, "@ over the first half of each cell's rows"),
            where(96, [](int64_t i) { return i / 6 % 4 < 2; }));
}

TEST(ShortcutRules, ProductsReadHalfTheInnerDimension) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      SmallGraph g({ta ? Shape{6, 3} : Shape{3, 6}, tb ? Shape{4, 6} : Shape{6, 4}}, [&](auto x) {
        return Values{matmul(x[0], x[1], {.transpose_a = ta, .transpose_b = tb})};
      });
      const char* text = "@ over the first half of the inner dimension";
      EXPECT_EQ(read(g, shorten_products, text, 0),
                where(18, [&](int64_t i) { return ta ? i < 9 : i % 6 < 3; }));
      EXPECT_EQ(read(g, shorten_products, text, 1),
                where(24, [&](int64_t i) { return tb ? i % 6 < 3 : i < 12; }));
    }
  }
}

TEST(ShortcutRules, ConvolutionsReadHalfTheChannelsOfEveryGroup) {
  for (const bool transposed : {false, true}) {
    SmallGraph g({{1, 8, 5}, transposed ? Shape{8, 3, 3} : Shape{6, 4, 3}}, [&](auto x) {
      return x[0].graph()->apply(find_operator(transposed ? "conv_transpose1d" : "conv1d"), x,
                                 {{"groups", int64_t{2}}});
    });
    const char* text = "@ over half the input channels";
    EXPECT_EQ(read(g, shorten_products, text, 0),
              where(40, [](int64_t i) { return i / 5 % 4 < 2; }));
    EXPECT_EQ(read(g, shorten_products, text, 1),
              where(72, [&](int64_t i) { return transposed ? i / 9 % 4 < 2 : i / 3 % 4 < 2; }));
    EXPECT_EQ(read(g, shorten_products, "@ without the last tap along axis 2", 1),
              where(72, [](int64_t i) { return i % 3 < 2; }));
    EXPECT_EQ(read(g, shorten_products, "@ with the middle tap alone", 1),
              where(72, [](int64_t i) { return i % 3 == 1; }));
  }
}

/// (x - mean) / sqrt(var + eps) * weight + bias with statistics of the elements that are said to be
/// looked at; weight and bias are those of `channel`.
struct NormCase {
  std::string op, text;
  Shape shape;
  Attributes attributes;
  std::function<bool(int64_t i, int64_t j)> looks;  ///< of element i at element j
  std::function<int64_t(int64_t i)> channel;
};

TEST(ShortcutRules, NormsHaveStatisticsOfOtherElements) {
  const auto sample = [](int64_t i) { return i / 32; };
  const auto channel = [](int64_t i) { return i / 8 % 4; };
  const Shape shape = {3, 4, 8};
  const std::string first = "@ with the statistics of the first half";
  const NormCase cases[] = {
      {"batch_norm",
       first,
       shape,
       {},
       [&](auto i, auto j) { return channel(i) == channel(j) && j % 8 < 4; },
       channel},
      {"batch_norm",
       "@ with the statistics of the first half of the samples",
       shape,
       {},
       [&](auto i, auto j) { return channel(i) == channel(j) && j < 32; },
       channel},
      {"batch_norm",
       "@ with the statistics of another channel",
       shape,
       {},
       [&](auto i, auto j) { return (channel(i) + 3) % 4 == channel(j); },
       channel},
      {"instance_norm",
       "@ with the statistics of every second element",
       shape,
       {},
       [&](auto i, auto j) { return i / 8 == j / 8 && j % 2 == 0; },
       channel},
      {"instance_norm",
       "@ with the statistics of another sample",
       shape,
       {},
       [&](auto i, auto j) { return channel(i) == channel(j) && (sample(i) + 2) % 3 == sample(j); },
       channel},
      {"instance_norm",
       "@ with the first sample's statistics for all",
       shape,
       {},
       [&](auto i, auto j) { return channel(i) == channel(j) && j < 32; },
       channel},
      {"group_norm",
       "@ with the statistics of its neighbour",
       shape,
       {{"groups", int64_t{2}}},
       [&](auto i, auto j) { return (i / 16 + 5) % 6 == j / 16; },
       channel},
      {"group_norm",
       first,
       shape,
       {{"groups", int64_t{2}}},
       [&](auto i, auto j) { return i / 16 == j / 16 && j % 16 < 8; },
       channel},
      {"layer_norm",
       "@ with the statistics of the last half",
       shape,
       {{"dims", int64_t{1}}},
       [&](auto i, auto j) { return i / 8 == j / 8 && j % 8 >= 4; },
       [](auto i) { return i % 8; }},
      {"layer_norm",
       "@ with the statistics of another sample",
       shape,
       {{"dims", int64_t{2}}},
       [&](auto i, auto j) { return (sample(i) + 2) % 3 == sample(j); },
       [](auto i) { return i % 32; }},
  };
  for (const NormCase& c : cases) {
    SCOPED_TRACE(c.op + ": " + c.text);
    const Shape affine = c.op != "layer_norm"                ? Shape{4}
                         : c.attributes.integer("dims") == 1 ? Shape{8}
                                                             : Shape{4, 8};
    const SmallGraph g({c.shape, affine, affine}, [&](auto x) {
      return x[0].graph()->apply(find_operator(c.op), x, c.attributes);
    });
    const Tensor y = g.with(shorten_statistics, c.text)[0];
    const Tensor &x = g.given.at("x0"), &w = g.given.at("x1"), &b = g.given.at("x2");
    for (int64_t i = 0; i < x.elements(); ++i) {
      double count = 0, mean = 0, variance = 0;
      for (int64_t j = 0; j < x.elements(); ++j) {
        if (!c.looks(i, j)) continue;
        mean += x.at(j);
        ++count;
      }
      mean /= count;
      for (int64_t j = 0; j < x.elements(); ++j) {
        if (c.looks(i, j)) variance += (x.at(j) - mean) * (x.at(j) - mean) / count;
      }
      const int64_t p = c.channel(i);
      ASSERT_NEAR(y.at(i), (x.at(i) - mean) / std::sqrt(variance + 1e-5) * w.at(p) + b.at(p), 1e-9);
    }
  }
}

TEST(ShortcutRules, NormsWithoutStatistics) {
  const SmallGraph g({{3, 4, 8}, {4}, {4}},
                     [](auto x) { return x[0].graph()->apply(find_operator("instance_norm"), x); });
  const Tensor y = g.with(shorten_statistics, "@ with a mean of 0 and a variance of 1")[0];
  for (int64_t i = 0; i < 96; ++i) {
    const int64_t c = i / 8 % 4;
    EXPECT_NEAR(y.at(i), g.given.at("x0").at(i) * g.given.at("x1").at(c) + g.given.at("x2").at(c),
                1e-12);
  }
}

TEST(ShortcutRules, ScansEndOrBeginAnew) {
  for (const bool sums : {true, false}) {
    const SmallGraph g({{2, 20}},
                       [&](auto x) { return Values{sums ? cumsum(x[0], 1) : cumprod(x[0], 1)}; });
    const Tensor& x = g.given.at("x0");
    const auto total = [&](int64_t row, int64_t first, int64_t end) {
      double value = sums ? 0 : 1;
      for (int64_t i = first; i < end; ++i) {
        const double v = x.at(row * 20 + i);
        value = sums ? value + v : value * v;
      }
      return value;
    };
    const Tensor anew = g.with(shorten_steps, "@ begun anew half way")[0];
    const Tensor half = g.with(shorten_steps, "@ over the first half, constant from there on")[0];
    const Tensor eighth =
        g.with(shorten_steps, "@ over the first eighth, constant from there on")[0];
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t row = i / 20, at = i % 20;
      EXPECT_NEAR(anew.at(i), total(row, at < 10 ? 0 : 10, at + 1), 1e-12);
      EXPECT_NEAR(half.at(i), total(row, 0, std::min<int64_t>(at + 1, 10)), 1e-12);
      EXPECT_NEAR(eighth.at(i), total(row, 0, std::min<int64_t>(at + 1, 2)), 1e-12);
    }
  }
}

/// x, states and weights of a layer of two layers and two directions.
SmallGraph recurrent(const std::string& op, int64_t batch_first, int64_t steps,
                     int64_t directions) {
  const int64_t batch = 3, features = 5, hidden = 2, layers = 2;
  const int64_t rows = (op == "lstm" ? 4 : 3) * hidden;
  std::vector<Shape> shapes = {batch_first ? Shape{batch, steps, features}
                                           : Shape{steps, batch, features}};
  for (int i = 0; i < (op == "lstm" ? 2 : 1); ++i) {
    shapes.push_back({layers * directions, batch, hidden});
  }
  for (int64_t cell = 0; cell < layers * directions; ++cell) {
    const int64_t in = cell < directions ? features : hidden * directions;
    shapes.insert(shapes.end(), {{rows, in}, {rows, hidden}, {rows}, {rows}});
  }
  return SmallGraph(shapes, [&](auto x) {
    return x[0].graph()->apply(find_operator(op), x,
                               {{"hidden", hidden},
                                {"layers", layers},
                                {"bidirectional", directions - 1},
                                {"batch_first", batch_first}});
  });
}

TEST(ShortcutRules, RecurrentLayersTakeSomeSteps) {
  for (const std::string op : {"lstm", "gru"}) {
    for (const int64_t batch_first : {0, 1}) {
      SCOPED_TRACE(op + (batch_first ? ", batch first" : ""));
      const int64_t steps = 8;
      SmallGraph g = recurrent(op, batch_first, steps, 1);
      const auto step = [&](int64_t i) { return batch_first ? i / 5 % steps : i / 15; };
      const auto with = [&](const std::string& text) { return "@ " + text; };
      const std::string last = with("over the last half of the steps, from states of 0");
      EXPECT_EQ(read(g, shorten_steps, last), where(120, [&](auto i) { return step(i) >= 4; }));
      EXPECT_TRUE(read(g, shorten_steps, last, 1).empty());
      EXPECT_EQ(read(g, shorten_steps, with("over the last eighth of the steps, from states of 0")),
                where(120, [&](auto i) { return step(i) == 7; }));
      EXPECT_EQ(read(g, shorten_steps, with("over the first half of the steps")),
                where(120, [&](auto i) { return step(i) < 4; }));
      EXPECT_FALSE(read(g, shorten_steps, with("over the first half of the steps"), 1).empty());
      EXPECT_TRUE(read(g, shorten_steps, with("with initial states of 0"), 1).empty());
      // What is left out is zeros.
      const auto some = g.with(shorten_steps, last), whole = g.truth();
      for (int64_t i = 0; i < whole[0].elements(); ++i) {
        const int64_t at = batch_first ? i / 2 % steps : i / 6;
        if (at < 4) {
          EXPECT_EQ(some[0].at(i), 0);
        }
      }
      // One step from zero states is what the whole call gives of that step alone.
      const auto alone = g.with(shorten_steps, with("with every step from states of 0"));
      const auto eighth =
          g.with(shorten_steps, with("over the last eighth of the steps, from states of 0"));
      for (int64_t i = 0; i < alone[0].elements(); ++i) {
        const int64_t at = batch_first ? i / 2 % steps : i / 6;
        if (at == 7) {
          EXPECT_NEAR(alone[0].at(i), eighth[0].at(i), 1e-12);
        }
      }
      for (size_t s = 1; s < alone.size(); ++s) {
        EXPECT_LT(distance({alone[s]}, {eighth[s]}), 1e-12);
      }
    }
  }
}

TEST(ShortcutRules, RecurrentLayersLeaveLayersAndDirectionsOut) {
  for (const std::string op : {"lstm", "gru"}) {
    SmallGraph g = recurrent(op, 1, 4, 2);
    const size_t weights = op == "lstm" ? 3 : 2;
    const std::string half = "@ with the first half of its layers";
    EXPECT_FALSE(read(g, shorten_steps, half, static_cast<int>(weights)).empty());
    EXPECT_TRUE(read(g, shorten_steps, half, static_cast<int>(weights) + 8).empty());
    const auto one = g.with(shorten_steps, "@ with its forward direction alone"), all = g.truth();
    for (int64_t i = 0; i < all[0].elements(); ++i) {
      EXPECT_EQ(one[0].at(i), i % 4 < 2 ? all[0].at(i) : 0);
    }
    for (int64_t i = 0; i < all[1].elements(); ++i) {
      EXPECT_EQ(one[1].at(i), i / 6 % 2 == 0 ? all[1].at(i) : 0);
    }
  }
}

/// Of every task: each rule's findings fit, and every rule finds something somewhere.
TEST(ShortcutRules, FitEveryTask) {
  const std::map<std::string, FindMutants> rules = {
      {"reductions", shorten_reductions}, {"statistics", shorten_statistics},
      {"products", shorten_products},     {"steps", shorten_steps},
      {"operands", round_operands},       {"results", round_results}};
  std::map<std::string, size_t> counts;
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    size_t all = 0;
    for (const auto& [name, rule] : rules) {
      for (int node = 0; node <= last_node(*graph); ++node) {
        const auto here = found(rule, *graph, node);
        counts[name] += here.size();
        all += here.size();
        if (node % 7 != 0 && node != last_node(*graph)) continue;  // networks have hundreds
        for (const auto& [text, replacement] : here) {
          SCOPED_TRACE(to_string(task.id) + ", " + text);
          EXPECT_NO_THROW(rewrite(*graph, {{node, replacement}}));
        }
      }
    }
    EXPECT_GT(all, 0u) << to_string(task.id);
  }
  for (const auto& [name, rule] : rules) EXPECT_GT(counts[name], 20u) << name;
}

}  // namespace
}  // namespace kbench
