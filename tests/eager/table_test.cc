// The eager kernels against every operator's definition on the table's calls, with floats stored as
// float32, float16 and bfloat16.
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using FamilyAndType = std::tuple<definitions::Family, DType>;

class Operators : public EagerTest, public ::testing::WithParamInterface<FamilyAndType> {
 protected:
  const definitions::Family& family() const { return std::get<0>(GetParam()); }
  DType real() const { return std::get<1>(GetParam()); }
};

TEST_P(Operators, OfTheTableGiveWhatTheDefinitionDoes) {
  std::set<std::string> seen;
  for (const Row& row : definitions::table(family())) {
    if (row.has("threads") || row.has("host") || row.call.op->is_view) continue;
    // With floats of 16 bits: every operator, and the rows that say so.
    const bool first = row.inputs.empty() && seen.insert(row.call.op->name).second;
    if (real() != DType::f32 && !row.has("halves") && !first) continue;
    SCOPED_TRACE(row.text);
    const Example example = stored(example_of(row), real());
    const std::vector<CallPlan> plans = plans_of(row, device_traits(), real());
    for (const CallPlan& plan : plans) expect_runs(example, plan, real(), row.error());
    if (real() != DType::f32) continue;
    const auto& launches = plans[0].launches;
    if (row.has("launches")) {
      EXPECT_EQ(std::to_string(launches.size()), row.words.at("launches"));
    }
    if (row.has("shader")) {
      EXPECT_EQ(launches[0].shader, row.words.at("shader"));
    }
    if (row.has("plan") && row.words.at("plan") == "tiles") {
      EXPECT_GE(plans.size(), 4u);
    }
    if (row.has("plan") && row.words.at("plan") == "split") {
      EXPECT_EQ(launches.back().shader, "gemm_merge.comp");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Operators,
                         ::testing::Combine(::testing::ValuesIn(definitions::families()),
                                            ::testing::Values(DType::f32, DType::f16, DType::bf16)),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" +
                                  std::string(name_of(std::get<1>(info.param)));
                         });

}  // namespace
}  // namespace kbench::eager
