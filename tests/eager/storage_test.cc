// Floats stored as float16 and bfloat16: what becomes of each number on its way through a kernel,
// and how plans are told. The table of operators holds every kernel to its definition.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "harness/measure/vulkan/compiler.h"
#include "kbench/task.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

constexpr DType kHalves[] = {DType::f16, DType::bf16};

class StoredAs : public EagerTest, public ::testing::WithParamInterface<DType> {
 protected:
  DType real() const { return GetParam(); }
};

TEST_P(StoredAs, CastsStartAndEndInStorage) {
  const auto cast = [](const TensorType& type, DType to) {
    return make_call(find_operator("cast"), {type}, {{"dtype", std::string(name_of(to))}});
  };
  for (const int64_t n : {1, 2, 3, 4, 5, 4097}) {
    const OperatorCall to = cast({DType::f32, {n}}, DType::i64);
    const Tensor x = rounded(draw(normal(0, 90), {1, 2, "x"}, to.inputs[0]), real());
    const Tensor whole = run(to, {x}, real());
    const Tensor y = run(cast({DType::i64, {n}}, DType::f32), {whole}, real());
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(whole.data<int64_t>()[i], static_cast<int64_t>(x.data<float>()[i]));
      ASSERT_EQ(y.data<float>()[i], std::trunc(x.data<float>()[i]));
    }
  }
}

/// Through a kernel that computes `op` with a number: every value that can be stored.
TEST_P(StoredAs, EveryValueIsReadAndRoundedBitForBit) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    values.push_back(from_half(static_cast<uint16_t>(bits), real()));
  }
  values.push_back(1);  // odd
  const Tensor x = tensor_of(values);
  // Exact in float32 or rounded there first as here; to ties, to subnormal numbers, past the ends.
  const std::vector<std::pair<const char*, float>> steps = {
      {"mul_scalar", 1.0f},           {"mul_scalar", 0.5f},        {"mul_scalar", 0x1p-5f},
      {"mul_scalar", 1 + 0x1p-11f},   {"mul_scalar", 1 + 0x1p-8f}, {"mul_scalar", 3.0f},
      {"mul_scalar", 1 - 0x1p-12f},   {"mul_scalar", 0x1p-14f},    {"add_scalar", 16.0f},
      {"add_scalar", 15.998046875f},  {"add_scalar", 0x1p-25f},    {"add_scalar", 0x1.8p-24f},
      {"mul_scalar", -0x1.fffffep9f},
  };
  for (const auto& [op, number] : steps) {
    const OperatorCall call =
        make_call(find_operator(op), {x.type()}, {{"value", static_cast<double>(number)}});
    const Tensor y = run(call, {x}, real());
    int wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const float exact = std::string(op) == "mul_scalar" ? values[i] * number : values[i] + number;
      // A device may take float32's own subnormal numbers for zero.
      const float least = 2 * std::numeric_limits<float>::min();
      if (exact != 0 && std::abs(exact) < least) continue;
      if (values[i] != 0 && std::abs(values[i]) < least) continue;
      const float got = y.data<float>()[i];
      const bool same =
          std::isnan(exact) ? std::isnan(got) : to_half(got, real()) == to_half(exact, real());
      if (!same && ++wrong < 5) {
        ADD_FAILURE() << op << " " << number << " of " << values[i] << ": " << got << ", not "
                      << from_half(to_half(exact, real()), real());
      }
    }
    EXPECT_EQ(wrong, 0) << op << " " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, StoredAs, ::testing::ValuesIn(kHalves),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// --- plans ---------------------------------------------------------------------------------------

TEST(Storage, LaunchesAreToldOfOperandsAndNotOfScratch) {
  const auto plan = [](DType real) {
    return plan_call(call_of("sum 2x400000 axis=1"), large_gpu(), real);
  };
  for (const DType real : kHalves) {
    const CallPlan halves = plan(real);
    ASSERT_EQ(halves.launches.size(), 2u);
    EXPECT_EQ(macro(halves.launches[0], "STORED_0"), name_of(real));
    EXPECT_EQ(macro(halves.launches[0], "STORED_1"), "");
    EXPECT_EQ(macro(halves.launches[1], "STORED_0"), "");
    EXPECT_EQ(macro(halves.launches[1], "STORED_1"), name_of(real));
    EXPECT_EQ(halves.scratch_bytes, plan(DType::f32).scratch_bytes);
  }
  for (const Launch& launch : plan(DType::f32).launches) {
    EXPECT_EQ(macro(launch, "STORED_0") + macro(launch, "STORED_1"), "");
  }
}

TEST(Storage, IntegersStayAsTheyAre) {
  EXPECT_EQ(stored_dtype(DType::i64, DType::f16), DType::i64);
  EXPECT_EQ(stored_dtype(DType::boolean, DType::bf16), DType::boolean);
  EXPECT_EQ(stored_type({DType::f32, {3, 5}}, DType::bf16), (TensorType{DType::bf16, {3, 5}}));
  EXPECT_EQ(error_of([] { stored_dtype(DType::f32, DType::i32); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(Storage, ADeviceWithout16BitStorageIsRefused) {
  DeviceTraits traits = large_gpu();
  traits.storage_16bit = false;
  const OperatorCall call = call_of("relu 3x5");
  EXPECT_EQ(plan_call(call, traits).launches.size(), 1u);
  const Error error = error_of([&] { plan_call(call, traits, DType::f16); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("storageBuffer16BitAccess"), std::string::npos);
}

/// What a launch shows of its kernel: how many elements it takes at a time, and which of its
/// addresses are halves. Nothing where none is: that is float32's kernel.
std::set<std::string> forms_of(const Launch& launch) {
  std::set<std::string> forms = {launch.shader};
  bool stored = false;
  for (const auto& [name, value] : launch.macros) {
    if (name == "WIDTH" || name.ends_with("_QUADS")) {
      forms.insert(launch.shader + " " + name + "=" + value);
    }
    stored = stored || name.starts_with("STORED_");
  }
  if (!stored) return {};
  // The second direction of a recurrent layer is stored as the first.
  for (size_t i = 0; i < std::min<size_t>(launch.addresses.size(), 7); ++i) {
    const std::string name = "STORED_" + std::to_string(i);
    forms.insert(launch.shader + " " + name + "=" + macro(launch, name));
  }
  return forms;
}

/// The table's rows that run with floats of 16 bits, planned for such a device.
std::vector<CallPlan> plans_of_halves(const DeviceTraits& traits, DType real) {
  std::vector<CallPlan> all;
  for (const Row& row : definitions::table()) {
    if (!row.has("halves")) continue;
    for (CallPlan& plan : plans_of(row, traits, real)) all.push_back(std::move(plan));
  }
  return all;
}

TEST(Storage, TheTablesHalvesCoverWhatTasksUseOfEveryKernel) {
  std::set<std::string> covered;
  DeviceTraits software;
  software.software = true;
  for (const CallPlan& plan : plans_of_halves(software, DType::f16)) {
    for (const Launch& launch : plan.launches) covered.merge(forms_of(launch));
  }
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::smoke);
    for (const Graph::Node& node : graph->nodes()) {
      if (node.call.op->is_view) continue;
      for (const Launch& launch : plan_call(node.call, large_gpu(), DType::f16).launches) {
        if (launch.shader == "cast.comp") continue;  // in a test of its own above
        for (const std::string& form : forms_of(launch)) {
          EXPECT_TRUE(covered.contains(form)) << form << " of " << to_string(task.id);
        }
      }
    }
  }
}

/// With the device's own conversions, which software devices do not promise, and without.
TEST(Storage, KernelsOfHalvesCompile) {
  vulkan::ShaderCompiler compiler;
  for (const bool converts : {true, false}) {
    std::set<std::string> seen;
    DeviceTraits traits = large_gpu();
    traits.float16_conversions = converts;
    for (const DType real : kHalves) {
      if (converts && real != DType::f16) continue;  // the same again
      for (const CallPlan& plan : plans_of_halves(traits, real)) {
        for (const Launch& launch : plan.launches) {
          if (!seen.insert(launch.shader + macro(launch, "WIDTH")).second) continue;
          SCOPED_TRACE(launch.shader + " " + std::string(name_of(real)));
          compile_words(compiler, launch);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kbench::eager
