// Locking in cannot be undone, so every test runs in a child process: this program, started again
// with the environment of a runner.
#include "harness/measure/runner/lock_in.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/runner/attacks.h"
#include "tests/vulkan/child.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFileVariable = "KBENCH_LOCK_IN_TEST_FILE";
constexpr const char* kSoftwareVariable = "KBENCH_LOCK_IN_TEST_SOFTWARE";
using vulkan::end_child;
using vulkan::in_child;
constexpr uint32_t kValues = 1000;

class LockInTest : public vulkan::DeviceTest {
 protected:
  // A child opens its device itself, once it is half locked in.
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer's own thread is there before any layer";
#endif
    if (!in_child()) DeviceTest::SetUp();
  }
  void TearDown() override {
    if (!in_child()) DeviceTest::TearDown();
  }

  static Target target() { return {.parent = getppid(), .file = std::getenv(kFileVariable)}; }
  static LockInOptions options() {
    return {.parent = getppid(), .host_memory_bytes = 0, .readable = {}};
  }
  static bool as_software() { return variable(kSoftwareVariable) == "1"; }

  /// Runs the current test in a child, as on a software device or not, and returns its status.
  process::Exit run_child(bool software, const std::vector<vulkan::SharedMemory>& memories = {}) {
    const std::string file = ::testing::TempDir() + "kbench_lock_in_" + std::to_string(getpid());
    for (const char* suffix : {"", ".old"}) std::ofstream(file + suffix) << "private";
    std::vector<std::string> variables = sanitized_environment();
    variables.push_back(kFileVariable + ("=" + file));
    variables.push_back(kSoftwareVariable + std::string(software ? "=1" : "=0"));
    variables.push_back("KBENCH_TEST_VALIDATE=" + std::string(validates() ? "1" : "0"));
    const process::Exit end = vulkan::run_child(variables, memories);
    EXPECT_EQ(access(file.c_str(), F_OK), 0);
    for (const char* suffix : {"", ".old", ".new"}) unlink((file + suffix).c_str());
    return end;
  }
  void expect_child_passes(bool software, const std::vector<vulkan::SharedMemory>& memories = {}) {
    EXPECT_EQ(run_child(software, memories).status, vulkan::kChildPassed);
  }

  static std::unique_ptr<vulkan::Device> open() {
    return vulkan::Device::open({.selector = "auto", .validate = validates()});
  }
  /// Locks this process in around opening the device, as a runner does.
  static std::unique_ptr<vulkan::Device> open_locked_in(LockIn& lock) {
    lock.before_open();
    std::unique_ptr<vulkan::Device> device = open();
    lock.after_open(as_software());
    return device;
  }

  /// Compiles a new shader and runs it: it writes i + 0.5 by address.
  static void compute(vulkan::Device& device, const vulkan::Buffer& to) {
    vulkan::ShaderSource source;
    source.file = "test.comp";
    source.text =
        "#version 450\n"
        "#extension GL_EXT_buffer_reference : require\n"
        "layout(local_size_x = 64) in;\n"
        "layout(buffer_reference, std430) buffer Floats { float at[]; };\n"
        "layout(push_constant) uniform Push { Floats to; uint n; };\n"
        "void main() {\n"
        "  uint i = gl_GlobalInvocationID.x;\n"
        "  if (i < n) to.at[i] = sqrt(float(i * i)) + 0.5;\n"
        "}\n";
    const vulkan::CompileOutcome outcome = device.compiler().compile(source);
    ASSERT_TRUE(outcome.diagnostics.empty()) << outcome.diagnostics.front().message;
    vulkan::Commands commands(device);
    commands.begin();
    commands.dispatch(device.pipelines().get({.spirv = outcome.spirv, .push_bytes = 12}), {},
                      vulkan::push_block(to.address(), kValues), {(kValues + 63) / 64, 1, 1});
    commands.submit_and_wait(60);
  }
  static std::vector<float> expected() {
    std::vector<float> values(kValues);
    for (uint32_t i = 0; i < kValues; ++i) values[i] = static_cast<float>(i) + 0.5f;
    return values;
  }
  bool on_software() { return device().snapshot().software(); }
};

TEST_F(LockInTest, ALockedInProcessCompilesRunsAndSharesMemory) {
  if (in_child()) {
    LockIn lock(options());
    const std::unique_ptr<vulkan::Device> device = open_locked_in(lock);
    for (const LockLayer& layer : lock.layers()) {
      EXPECT_TRUE(layer.holds || layer.name == "landlock") << layer.name << ": " << layer.detail;
    }
    EXPECT_TRUE(lock.holds("system_calls")) << lock.text();
    const vulkan::Buffer to =
        device->import_shared(std::move(vulkan::take_over().at(0)), vulkan::Access::read_write);
    compute(*device, to);
    int sum = 0;
    std::thread([&sum] { sum = 7; }).join();
    EXPECT_EQ(sum, 7);
    for (const std::string& each : device->take_validation_messages()) ADD_FAILURE() << each;
    end_child();
  }
  for (const bool software : {false, true}) {
    if (software && !on_software()) continue;
    const vulkan::Buffer to = device().allocate_shared(kValues * sizeof(float));
    std::vector<vulkan::SharedMemory> memories;
    memories.push_back(to.share(vulkan::Access::read_write));
    expect_child_passes(software, memories);
    std::vector<float> values = download<float>(to);
    values.resize(kValues);
    EXPECT_EQ(values, expected()) << software;
  }
}

TEST_F(LockInTest, StopsEveryAttack) {
  if (in_child()) {
    LockIn lock(options());
    const std::unique_ptr<vulkan::Device> device = open_locked_in(lock);
    for (const Attack& attack : attacks()) {
      const bool open_door = attack.by_path && !lock.holds("landlock") && !as_software();
      if (!open_door) {
        EXPECT_FALSE(attack.succeeds(target())) << attack.name;
      }
    }
    end_child();
  }
  expect_child_passes(false);
  if (on_software()) expect_child_passes(true);
}

TEST_F(LockInTest, WithoutItTheAttacksSucceed) {
  if (in_child()) {
    for (const Attack& attack : attacks()) {
      if (attack.open_to_all) {
        EXPECT_TRUE(attack.succeeds(target())) << attack.name;
      }
    }
    end_child();
  }
  expect_child_passes(false);
}

TEST_F(LockInTest, HoldsInThreadsThatWereThereBefore) {
  if (in_child()) {
    LockIn lock(options());
    lock.before_open();
    int go[2], answer[2];
    ASSERT_EQ(pipe(go), 0);
    ASSERT_EQ(pipe(answer), 0);
    std::thread earlier([&] {
      char byte = 0;
      EXPECT_EQ(read(go[0], &byte, 1), 1);
      byte = socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 'd' : 'a';
      EXPECT_EQ(write(answer[1], &byte, 1), 1);
    });
    lock.after_open(as_software());
    char byte = 0;
    EXPECT_EQ(write(go[1], "g", 1), 1);
    EXPECT_EQ(read(answer[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'd');
    earlier.join();
    end_child();
  }
  expect_child_passes(true);
}

TEST_F(LockInTest, BeforeTheDeviceIsOpenRightsAndFilesAreGone) {
  if (in_child()) {
    LockIn lock(options());
    lock.before_open();
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    EXPECT_EQ(syscall(SYS_capget, &header, sets), 0);
    for (const __user_cap_data_struct& set : sets) {
      EXPECT_EQ(set.effective | set.permitted | set.inheritable, 0u);
    }
    EXPECT_EQ(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    int signal = 0;
    EXPECT_EQ(prctl(PR_GET_PDEATHSIG, &signal), 0);
    EXPECT_EQ(signal, SIGKILL);
    rlimit core{1, 1};
    EXPECT_EQ(getrlimit(RLIMIT_CORE, &core), 0);
    EXPECT_EQ(core.rlim_max, 0u);
    if (lock.holds("landlock")) {
      for (const Attack& attack : attacks()) {
        if (attack.by_path) {
          EXPECT_FALSE(attack.succeeds(target())) << attack.name;
        }
      }
      EXPECT_GE(::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC), 0) << "drivers read it";
      EXPECT_GE(::open("/dev/null", O_WRONLY | O_CLOEXEC), 0);
    }
    end_child();
  }
  expect_child_passes(true);
}

TEST_F(LockInTest, AReadOnlyMemoryCannotBeOpenedAgainForWriting) {
  if (in_child()) {
    LockIn lock(options());
    const std::unique_ptr<vulkan::Device> device = open_locked_in(lock);
    const vulkan::SharedMemory memory = std::move(vulkan::take_over().at(0));
    const std::string path = "/proc/self/fd/" + std::to_string(memory.descriptor.get());
    EXPECT_EQ(::open(path.c_str(), O_RDWR | O_CLOEXEC), -1);
    end_child();
  }
  if (!on_software()) GTEST_SKIP() << "memory of a GPU has no read-only descriptor";
  const vulkan::Buffer buffer = device().allocate_shared(1);
  std::vector<vulkan::SharedMemory> memories;
  memories.push_back(buffer.share(vulkan::Access::read_only));
  expect_child_passes(true, memories);
}

TEST_F(LockInTest, HostMemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's shadow is larger";
#endif
  if (in_child()) {
    LockInOptions limited = options();
    limited.host_memory_bytes = uint64_t{256} << 20;
    LockIn lock(limited);
    lock.before_open();
    EXPECT_TRUE(lock.holds("limits"));
    // The vector is read, since clang removes an allocation that is never used.
    volatile char last = 1;
    EXPECT_THROW(last = std::vector<char>(size_t{512} << 20).back(), std::bad_alloc);
    static_cast<void>(last);
    EXPECT_NO_THROW(std::vector<char>(size_t{64} << 20));
    end_child();
  }
  expect_child_passes(true);
}

TEST_F(LockInTest, ACrashStaysACrash) {
  if (in_child()) {
    LockIn lock(options());
    const std::unique_ptr<vulkan::Device> device = open_locked_in(lock);
    signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  EXPECT_EQ(run_child(on_software()).signal, SIGABRT);
}

TEST_F(LockInTest, AnOrphanIsToldSo) {
  if (in_child()) {
    LockInOptions orphan = options();
    orphan.parent = getpid();
    EXPECT_EQ(error_of([&] { LockIn(orphan).before_open(); }).code(), ErrorCode::kInternal);
    end_child();
  }
  expect_child_passes(true);
}

TEST(DescribeLayers, SaysWhatHoldsAndWhyNot) {
  EXPECT_EQ(describe({{"landlock", false, "the kernel has none"}, {"dumpable", true, "off"}}),
            "landlock: no: the kernel has none\ndumpable: off\n");
  EXPECT_FALSE(LockIn().holds("landlock"));
}

}  // namespace
}  // namespace kbench::runner
