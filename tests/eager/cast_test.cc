// The cast operator on the device, bit by bit as the reference has it.
#include <cstring>
#include <random>

#include "kbench/reference.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Cast = EagerTest;

constexpr DType kAll[] = {DType::f32,  DType::f64, DType::i64, DType::boolean, DType::f16,
                          DType::bf16, DType::i32, DType::u32, DType::u8};

OperatorCall cast_call(const TensorType& type, DType to) {
  return make_call(find_operator("cast"), {type}, {{"dtype", std::string(name_of(to))}});
}

/// Numbers of float32 at bends and ends, then random ones of all magnitudes that integers have.
std::vector<float> numbers(size_t count) {
  std::vector<float> values = {0,
                               -0.0f,
                               1,
                               -1,
                               0.5f,
                               -0.5f,
                               2.9f,
                               -2.9f,
                               255,
                               256,
                               65504,
                               65519,
                               65520,
                               6e-8f,
                               3e-8f,
                               1e-7f,
                               1e30f,
                               -1e30f,
                               kInfinity,
                               -kInfinity,
                               kNan,
                               2147483648.f,
                               4294967296.f,
                               -2147483648.f,
                               9.3e18f,
                               -9.3e18f,
                               1.00048828125f};
  std::mt19937 engine(5);
  std::uniform_real_distribution<float> mantissa(-1, 1), exponent(-20, 40);
  while (values.size() < count)
    values.push_back(std::ldexp(mantissa(engine), int(exponent(engine))));
  values.resize(count);
  return values;
}

/// By the reference in float32: in float64 what is float32 would be wider.
Tensor cast_on_the_host(const OperatorCall& call, const Tensor& x) {
  Graph graph;
  const Value value = graph.input("x", x.shape(), normal(), x.dtype());
  graph.output(graph.apply(*call.op, {value}, call.attributes)[0]);
  return run_reference(graph, {{"x", x}}, {.precision = Precision::f32, .threads = 2})[0];
}

/// The numbers as elements of the type, by the reference, which has tests of its own.
Tensor tensor_as(DType dtype, const std::vector<float>& values) {
  const Tensor tensor = tensor_of(values);
  return cast_on_the_host(cast_call(tensor.type(), dtype), tensor);
}

/// Every NaN of a type as the same one: which it is has no meaning.
std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.raw(), tensor.raw() + tensor.bytes());
  const auto settle = [&]<class T>(T infinity, T nan) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T bits;
      std::memcpy(&bits, bytes.data() + at, sizeof bits);
      if ((bits & std::numeric_limits<T>::max() >> 1) > infinity) {
        std::memcpy(bytes.data() + at, &nan, sizeof nan);
      }
    }
  };
  if (tensor.dtype() == DType::f16) settle.operator()<uint16_t>(0x7c00, 0x7e00);
  if (tensor.dtype() == DType::bf16) settle.operator()<uint16_t>(0x7f80, 0x7fc0);
  if (tensor.dtype() == DType::f32) settle.operator()<uint32_t>(0x7f800000, 0x7fc00000);
  if (tensor.dtype() == DType::f64) {
    settle.operator()<uint64_t>(0x7ff0000000000000, 0x7ff8000000000000);
  }
  return bytes;
}

TEST_F(Cast, EveryPairOfTypesMatchesTheReference) {
  for (const DType from : kAll) {
    for (const DType to : kAll) {
      if ((from == DType::f64 || to == DType::f64) && !device().plan().float64) continue;
      SCOPED_TRACE(std::string(name_of(from)) + " to " + std::string(name_of(to)));
      const Tensor x = tensor_as(from, numbers(1031));
      const OperatorCall call = cast_call(x.type(), to);
      const Tensor y = run(call, {x});
      const auto got = bytes_of(y), truth = bytes_of(cast_on_the_host(call, x));
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], truth[i]) << "element " << i / size_of(to);
      }
    }
  }
}

TEST_F(Cast, EveryTailAndManyWorkgroupsAreCovered) {
  DeviceTraits traits = device_traits();
  traits.max_group_count[0] = 3;  // forces rows of workgroups
  for (const auto& [from, to] : {std::pair{DType::f32, DType::f16},
                                 {DType::f16, DType::f32},
                                 {DType::u8, DType::i64},
                                 {DType::i64, DType::u8}}) {
    for (const size_t n : {1, 2, 3, 4, 5, 4095, 4096, 4097, 40003}) {
      SCOPED_TRACE(std::string(name_of(from)) + " to " + std::string(name_of(to)));
      const Tensor x = tensor_as(from, numbers(n));
      const OperatorCall call = cast_call(x.type(), to);
      const Tensor y = run(call, plan_call(call, traits), {x})[0];
      EXPECT_EQ(bytes_of(y), bytes_of(cast_on_the_host(call, x))) << n;
    }
  }
}

}  // namespace
}  // namespace kbench::eager
