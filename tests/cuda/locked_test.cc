// The compilers do their work in a process that is locked in as a candidate's runner on a GPU is.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/measure/runner/lock_in.h"
#include "tests/cuda/compilers.h"

namespace kbench {
namespace {

/// 0 when all that there is to compile with compiles.
int compile_locked() {
  const cuda::ToolkitPlaces places = cuda::toolkit_places();
  const cuda::Toolkit toolkit = cuda::find_toolkit(places);
  runner::LockIn lock({.parent = 0, .host_memory_bytes = 0, .readable = toolkit.folders()});
  lock.before_open();
  lock.after_open(/*software_device=*/false);
  if (!lock.holds("system_calls")) return 3;
  const cuda::Nvrtc nvrtc(toolkit, places);
  cuda::CudaSource source;
  source.text = "__global__ void k(float* y) { y[threadIdx.x] = sinf(y[0]); }\n";
  if (nvrtc.has_headers()) source.text = "#include <cuda_fp16.h>\n" + source.text;
  const cuda::CudaOutcome made = nvrtc.compile(source, {9, 0});
  if (!made.ok()) return 1;
  const cuda::Assembler assembler(toolkit, places);
  return assembler.assemble(made.ptx, {9, 0}, "k.ptx", 1).ok() ? 0 : 2;
}

TEST(CudaCompilers, WorkWhereARunnerIsLockedIn) {
  const std::string missing = cuda::real_compilers().missing;  // opened in this process to know
  if (!missing.empty()) GTEST_SKIP() << missing;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int result = 9;
    std::string said;
    try {
      result = compile_locked();
    } catch (const Error& e) {
      said = e.what();
    }
    if (write(ends[1], said.data(), said.size()) < 0) _exit(8);
    _exit(result);
  }
  close(ends[1]);
  char said[1024] = {};
  const ssize_t length = read(ends[0], said, sizeof said - 1);
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 3) GTEST_SKIP() << "no seccomp on this machine";
  EXPECT_EQ(WEXITSTATUS(status), 0) << std::string(said, length > 0 ? size_t(length) : 0);
}

}  // namespace
}  // namespace kbench
