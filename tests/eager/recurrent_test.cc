// Recurrent layers.
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

struct Sizes {
  int64_t batch, steps, features, hidden, layers;
  bool bidirectional, batch_first;
};

class RecurrentLayers : public EagerTest {
 protected:
  void check_layers(const std::string& op, const Sizes& s, const DeviceTraits& traits) {
    const int64_t gates = op == "lstm" ? 4 : 3, states = op == "lstm" ? 2 : 1;
    const int64_t directions = s.bidirectional ? 2 : 1;
    Case c{
        op,
        {s.batch_first ? Shape{s.batch, s.steps, s.features} : Shape{s.steps, s.batch, s.features}},
        {{"hidden", s.hidden},
         {"layers", s.layers},
         {"bidirectional", int64_t{s.bidirectional}},
         {"batch_first", int64_t{s.batch_first}}},
        uniform(-0.6, 0.6)};
    for (int64_t i = 0; i < states; ++i) {
      c.inputs.push_back({s.layers * directions, s.batch, s.hidden});
    }
    for (int64_t cell = 0; cell < s.layers * directions; ++cell) {
      const int64_t in = cell < directions ? s.features : s.hidden * directions;
      c.inputs.push_back({gates * s.hidden, in});
      c.inputs.push_back({gates * s.hidden, s.hidden});
      c.inputs.push_back({gates * s.hidden});
      c.inputs.push_back({gates * s.hidden});
    }
    check(c, traits);
  }
};

TEST_F(RecurrentLayers, MatchTheReference) {
  const std::vector<Sizes> cases = {
      {3, 1, 5, 7, 1, false, true},    {3, 5, 5, 8, 1, false, true},  {3, 5, 5, 8, 2, false, false},
      {2, 4, 3, 9, 2, true, true},     {2, 4, 3, 12, 3, true, false}, {23, 3, 4, 36, 2, true, true},
      {1, 6, 40, 130, 2, false, true},
  };
  DeviceTraits wide = device_traits();
  wide.subgroup_size = 64;  // two units a workgroup
  for (const char* op : {"lstm", "gru"}) {
    for (const Sizes& sizes : cases) {
      check_layers(op, sizes, device_traits());
      check_layers(op, sizes, wide);
    }
  }
}

TEST_F(RecurrentLayers, TakeALaunchAStepAndLayer) {
  Case c{"gru",
         {{16, 4, 8}, {2, 4, 12}},
         {{"hidden", int64_t{12}}, {"batch_first", int64_t{0}}, {"bidirectional", int64_t{1}}}};
  for (int i = 0; i < 2; ++i) {
    for (const Shape& shape : {Shape{36, 8}, Shape{36, 12}, Shape{36}, Shape{36}}) {
      c.inputs.push_back(shape);
    }
  }
  EXPECT_LE(plan_call(call_of(c), large_gpu()).launches.size(), 16u + 4u);
}

}  // namespace
}  // namespace kbench::eager
