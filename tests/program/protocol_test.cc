// Lines between a client and its judge: what is said arrives, and a number that does not fit is no
// line.
#include "harness/evaluate/client/protocol.h"

#include <gtest/gtest.h>

#include "harness/evaluate/client/findings.h"

namespace kbench::client {
namespace {

std::string replaced(std::string line, const std::string& from, const std::string& to) {
  const size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << line;
  return line.replace(at, from.size(), to);
}

template <class F>
void expect_refused(F read) {
  try {
    read();
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kParse) << error.what();
  }
}

TEST(Protocol, ADeviceArrivesAsItWasSent) {
  vulkan::DeviceSnapshot device;
  device.name = "NVIDIA H200";
  device.extensions = {"VK_KHR_a", "VK_KHR_b"};
  device.queues = {{2, true, false, 64}};
  device.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  device.max_group_count[0] = 2147483648u;
  device.max_allocation = UINT64_MAX;
  device.device_uuid[3] = 255;
  const vulkan::DeviceSnapshot back = snapshot_from_json(to_json(device));
  EXPECT_EQ(back.extensions, device.extensions);
  EXPECT_EQ(back.queues.at(0).index, 2u);
  EXPECT_EQ(back.type, device.type);
  EXPECT_EQ(back.max_group_count[0], 2147483648u);
  EXPECT_EQ(back.max_allocation, UINT64_MAX);
  EXPECT_EQ(back.device_uuid[3], 255);
  EXPECT_EQ(to_json(back), to_json(device));
}

TEST(Protocol, NumbersThatDoNotFitAreRefused) {
  const std::string device = to_json(vulkan::DeviceSnapshot());
  expect_refused([&] { snapshot_from_json(replaced(device, "_id\":0", "_id\":4294967296")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "uuid\":[0", "uuid\":[256")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "uuid\":[0", "uuid\":[0,0")); });
  expect_refused([&] { snapshot_from_json(replaced(device, "_id\":0", "_id\":1e300")); });

  const std::string error = to_json(Error(ErrorCode::kIo, {"a.yaml", 3, 4}, "said so"));
  EXPECT_EQ(error_from_json(error).location().line, 3);
  expect_refused([&] { error_from_json(replaced(error, "\"line\":3", "\"line\":1e300")); });
  expect_refused([&] { error_from_json(replaced(error, "\"line\":3", "\"line\":4294967299")); });
  expect_refused([&] { error_from_json(replaced(error, "\"code\":", "\"code\":99")); });

  EvaluateRequest request;
  request.candidate = "relu.yaml";
  request.inspect_seed = ~uint64_t{0};
  request.profile_runs = 5;
  const std::string line = to_json(request);
  EXPECT_EQ(request_from_json(line).inspect_seed, request.inspect_seed);
  expect_refused(
      [&] { request_from_json(replaced(line, "\"profile_runs\":5", "\"profile_runs\":0")); });
  EXPECT_EQ(to_json(request_from_json(line)), line);
  expect_refused([&] {
    request_from_json(replaced(line, "\"max_samples\":1000", "\"max_samples\":99999999999"));
  });
  expect_refused(
      [&] { request_from_json(replaced(line, "\"host_bytes\":", "\"host_bytes\":1e")); });
}

TEST(Protocol, FindingsArriveAsTheyWereSent) {
  Inspection inspection;
  Tensor got(DType::f32, {2, 2});
  for (int i = 0; i < 4; ++i)
    got.data<float>()[static_cast<size_t>(i)] = 0.1f * static_cast<float>(i - 2);
  Tensor index(DType::i64, {});
  index.data<int64_t>()[0] = -3;
  inspection.outputs = {{got, got.clone(), got, got}, {index, index, index, index}};
  const std::string line = to_json(inspection);
  const Inspection back = inspection_from_json(line);
  ASSERT_EQ(back.outputs.size(), 2u);
  EXPECT_EQ(back.outputs[0].got.shape(), (Shape{2, 2}));
  EXPECT_EQ(back.outputs[0].again.data<float>()[3], 0.1f);
  EXPECT_EQ(back.outputs[1].before.data<int64_t>()[0], -3);
  EXPECT_EQ(to_json(back), line);
  expect_refused([&] { inspection_from_json(replaced(line, "[2,2]", "[2,3]")); });
  expect_refused([&] { inspection_from_json(replaced(line, "[2,2]", "[65536,65536]")); });
  expect_refused([&] { inspection_from_json(replaced(line, "\"f32\"", "\"f33\"")); });
  expect_refused([&] { inspection_from_json(replaced(line, "cdcc", "cdcX")); });

  const StepTimes times{{0.5, 0}, {1e-3}};
  EXPECT_EQ(step_times_from_json(to_json(times)).candidate_ms, times.candidate_ms);
  EXPECT_EQ(step_times_from_json(to_json(times)).baseline_ms, times.baseline_ms);
  expect_refused([&] { step_times_from_json(replaced(to_json(times), "0.001", "\"x\"")); });
}

}  // namespace
}  // namespace kbench::client
