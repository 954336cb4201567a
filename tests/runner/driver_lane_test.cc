// Candidates that CUDA's own driver launches, from a file to values in shared memory. The driver is
// a fake library of the tests.
#include "harness/measure/runner/driver_lane.h"

#include <gmock/gmock.h>

#include "harness/measure/runner/candidate_program.h"
#include "kbench/task.h"
#include "tests/cuda/compilers.h"
#include "tests/cuda/fake_driver.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

cuda::StepError step_error(int result, int step) {
  return {cuda::DriverError(result, "it gave " + std::to_string(result)), step};
}

DriverPlan plan_of(std::vector<std::string> names) {
  DriverPlan plan;
  plan.names = std::move(names);
  return plan;
}

TEST(DriverLaneRefusal, IsAVerdictThatNamesTheKernel) {
  const DriverPlan plan = plan_of({"kernel a (c.yaml:3)", "kernel b (c.yaml:4)"});
  const Refused fault = refused_by(step_error(700, 1), plan);
  EXPECT_EQ(fault.verdict, Verdict::out_of_bounds);
  EXPECT_EQ(fault.message, "kernel b (c.yaml:4) reached memory that is not its own: it gave 700");
  EXPECT_EQ(refused_by(step_error(719, 0), plan).verdict, Verdict::crashed);
  EXPECT_EQ(refused_by(step_error(701, 0), plan).verdict, Verdict::unsupported);
  // In later runs the failed step is unknown.
  EXPECT_THAT(refused_by(step_error(700, -1), plan).message,
              HasSubstr("kernel a (c.yaml:3) or kernel b (c.yaml:4) reached"));
  EXPECT_THAT(refused_by(step_error(700, -1), plan_of({"a", "b", "c", "d", "e"})).message,
              HasSubstr("one of its kernels reached"));
  EXPECT_EQ(error_of([&] { refused_by(step_error(2, 0), plan); }).code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(error_of([&] { refused_by(step_error(999, 0), plan); }).code(), ErrorCode::kInternal);
}

constexpr const char* kHead = "kbench: 1\ntask: level1/19\nkernels:\n";
constexpr const char* kRelu =
    "  relu:\n    language: cuda\n    entry: relu\n    source: |\n"
    "      extern \"C\" __global__ void relu(const float* x, float* y, unsigned n) {\n"
    "        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "        if (i < n) y[i] = fmaxf(x[i], 0.0f);\n"
    "      }\n";

class DriverLaneTest : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    vulkan::DeviceTest::SetUp();
    if (IsSkipped()) return;
    const cuda::RealCompilers real = cuda::real_compilers();
    if (!real.nvrtc) GTEST_SKIP() << real.missing;
    fake_.uuid = device().snapshot().device_uuid;
  }

  /// Builds the candidate; returns its refusal, if any.
  std::optional<Refused> build(const std::string& text) {
    program_.reset();
    candidate_ = parse_candidate(text, "c.yaml", ".");
    graph_ = build_graph(find_task(candidate_.task), Preset::smoke);
    resolved_ = resolve(candidate_, *graph_);
    program_ =
        std::make_unique<CandidateProgram>(device(), resolved_, nullptr,
                                           CudaDevice{.capability =
                                                          [] {
                                                            return cuda::ComputeCapability{9, 0};
                                                          },
                                                      .driver = {FAKE_CUDA}});
    return program_->build(60, diagnostics_);
  }
  /// Input, then output, in one slab.
  void attach(DriverLane& lane) {
    constexpr uint64_t kBytes = 4 << 20;
    slab_.emplace(device().allocate_shared(kBytes));
    vulkan::SharedMemory shared = slab_->share(vulkan::Access::read_write);
    Attach message;
    message.slabs = {{shared.bytes, shared.memory_type, false}};
    message.given = {{0, 4096, kBytes / 4}};
    message.outputs = {{0, kBytes / 2, kBytes / 4}};
    std::vector<UniqueFd> descriptors;
    descriptors.push_back(std::move(shared.descriptor));
    memory_.emplace(device());
    memory_->keep_descriptors();
    memory_->add(message, std::move(descriptors));
    lane.attach(*memory_);
  }
  std::unique_ptr<DriverLane> lane() {
    return std::make_unique<DriverLane>(
        [this]() -> cuda::Driver& { return program_->open_driver(); },
        [this](const ImportedMemory& memory) {
          return import_regions(program_->open_driver(), memory,
                                {memory.given().at(0), memory.outputs().at(0)});
        },
        [this](bool setup, const std::vector<uint64_t>& addresses) {
          return program_->driver_plan(setup, addresses);
        });
  }
  std::vector<float> floats(const vulkan::Region& region, size_t count) {
    std::vector<float> values(count);
    device().download(*region.buffer, region.offset, std::as_writable_bytes(std::span(values)));
    return values;
  }

  testing_support::FakeCuda& fake_ = testing_support::new_fake_cuda();
  Candidate candidate_;
  std::unique_ptr<Graph> graph_;
  ResolvedCandidate resolved_;
  std::vector<Diagnostic> diagnostics_;
  std::optional<vulkan::Buffer> slab_;
  std::optional<ImportedMemory> memory_;
  std::unique_ptr<CandidateProgram> program_;
};

TEST_F(DriverLaneTest, RunsACandidateOnTheJudgesMemory) {
  const auto refusal =
      build(std::string(kHead) + kRelu +
            "dispatch:\n"
            "  - {kernel: relu, grid: 4, block: 128, shared: 64 * 1024, "
            "args: [x, output, {u32: 400}]}\n"
            "  - {kernel: relu, grid: 1, block: 128, args: [x, output, {u32: 4}]}\n");
  ASSERT_FALSE(refusal) << refusal->message;
  ASSERT_TRUE(program_->takes_driver());
  const auto made = lane();
  attach(*made);
  const size_t count = static_cast<size_t>(resolved_.buffers.at(0).type.elements());
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = i % 3 == 0 ? -1.0f : static_cast<float>(i);
  const vulkan::Region& in = memory_->given().at(0);
  device().upload(*in.buffer, in.offset, std::as_bytes(std::span(x)));
  for (int run = 0; run < 2; ++run) {
    EXPECT_NEAR(made->run(false, 1), 2000, 1);
    const std::vector<float> y = floats(memory_->outputs().at(0), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(y[i], std::max(x[i], 0.0f)) << i;
    }
  }
  EXPECT_EQ(made->run(true, 1), 0);  // no setup
  EXPECT_EQ(made->run_empty(1), 0);
  EXPECT_THAT(made->profile({.seconds = 1}).step_ns, SizeIs(2));
  ASSERT_FALSE(fake_.launches.empty());
  EXPECT_EQ(fake_.launches[0].shared_bytes, 65536u);
  EXPECT_EQ(fake_.dynamic_shared, 65536);
}

TEST_F(DriverLaneTest, RefusesShadersAndOperatorsBesideIt) {
  const std::string step =
      "  - {kernel: relu, grid: 2, block: 256, args: [x, output, {u32: 400}]}\n";
  auto refusal = build(kHead + std::string(kRelu) + "dispatch:\n" + step +
                       "  - {op: relu, in: x, out: output}\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::unsupported);
  EXPECT_EQ(refusal->message,
            "c.yaml:14:5: a built-in operator cannot stand beside kernels in CUDA, PTX or Triton, "
            "which CUDA's own driver launches: write it as such a kernel too");
  refusal = build(kHead + std::string("  s: {source: x}\n") + kRelu + "dispatch:\n" + step +
                  "  - {kernel: s, groups: 1, bind: [output]}\n");
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->message, HasSubstr("c.yaml:15:5: a shader cannot stand beside"));
}

TEST_F(DriverLaneTest, SaysWhatTheDeviceDoesNotHave) {
  const auto refused = [&](const std::string& how) {
    const auto refusal = build(kHead + std::string(kRelu) + "dispatch:\n  - {kernel: relu, " + how +
                               ", block: 256, args: [x, output, {u32: 400}]}\n");
    if (refusal) return *refusal;
    try {
      program_->open_driver();
    } catch (const Refused& said) {
      return said;
    }
    ADD_FAILURE() << how << " would be launched";
    return Refused{};
  };
  EXPECT_THAT(refused("grid: 2, shared: 227 * 1024").message, HasSubstr("the device has 232448"));
  EXPECT_THAT(refused("grid: 2, shared: 228 * 1024").message,
              HasSubstr("a block of this device gets 232448"));
  fake_.uuid = {1};
  EXPECT_THAT(refused("grid: 2").message,
              HasSubstr("c.yaml:4:3: kernel relu is launched by CUDA's own driver: CUDA's driver "
                        "does not know"));
  fake_.uuid = device().snapshot().device_uuid;
  fake_.fail_call = "cuModuleLoadData";
  fake_.fail_with = 200;
  EXPECT_EQ(refused("grid: 2").verdict, Verdict::compile_error);
}

TEST(SharedMemory, OfABlockIsWhatItsArchitectureHas) {
  EXPECT_EQ(shared_bytes_of({9, 0}), 227u << 10);
  EXPECT_EQ(shared_bytes_of({8, 9}), 99u << 10);
  EXPECT_EQ(shared_bytes_of({8, 0}), 163u << 10);
  EXPECT_EQ(shared_bytes_of({7, 5}), 64u << 10);
  EXPECT_EQ(shared_bytes_of({6, 1}), 47u << 10);
}

TEST_F(DriverLaneTest, TellsAFaultByItsKernel) {
  std::string fault = kRelu;
  for (size_t at; (at = fault.find("relu")) != std::string::npos;) fault.replace(at, 4, "fault");
  const auto refusal = build(kHead + std::string(kRelu) + fault +
                             "dispatch:\n  - {kernel: relu, grid: 2, block: 256, args: "
                             "[x, output, {u32: 400}]}\n  - {kernel: fault, grid: 1, block: 1, "
                             "args: [x, output, {u32: 1}]}\n");
  ASSERT_FALSE(refusal) << refusal->message;
  const auto made = lane();
  attach(*made);
  try {
    made->run(false, 1);
    ADD_FAILURE() << "it ran";
  } catch (const Refused& said) {
    EXPECT_EQ(said.verdict, Verdict::out_of_bounds);
    EXPECT_THAT(said.message, HasSubstr("kernel fault (c.yaml:22) reached memory"));
  }
  EXPECT_EQ(error_of([&] { made->run(false, 1); }).code(), ErrorCode::kDeviceLost);
}

}  // namespace
}  // namespace kbench::runner
