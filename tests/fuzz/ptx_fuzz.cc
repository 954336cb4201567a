// PTX as a candidate may give it: taken apart, held to the rules and to a launch.
#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/messages.h"
#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "harness/measure/runner/cuda_kernels.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  const std::string text = fuzz::text_of(data, size);
  fuzz::succeeds([&] {
    const cuda::PtxModule module = cuda::parse_ptx(text);
    const auto violation = cuda::check_ptx(module);
    fuzz::promise(!violation || !violation->message.empty(), "a refusal says why");
    for (const cuda::PtxFunction& function : module.functions) {
      fuzz::promise(cuda::static_shared_bytes(module, function) >= function.shared_bytes,
                    "shared memory is summed without wrapping");
    }
    if (violation) return;
    for (const cuda::PtxStatement& statement : module.statements) {
      if (statement.kind != cuda::PtxStatement::Kind::instruction) continue;
      for (const cuda::PtxToken& token : statement.tokens) {
        fuzz::promise(!token.text.starts_with("%globaltimer"), "no clock passes");
      }
    }
    const std::string printed = cuda::print_ptx(module);
    for (const char* clock : {"%clock", "%globaltimer", "%gridid"}) {
      fuzz::promise(printed.find(clock) == std::string::npos, "no clock is printed");
    }
    const cuda::PtxModule again = cuda::parse_ptx(printed);
    fuzz::promise(!cuda::check_ptx(again), "what is printed passes the rules");
  });
  fuzz::succeeds([&] {
    Kernel kernel;
    kernel.language = Kernel::Language::ptx;
    runner::CudaKernel made;
    if (runner::check_cuda_module(text, kernel, made)) return;
    ResolvedStep step;
    step.block = {256, 1, 1};
    step.shared_bytes = 1;
    runner::check_cuda_launch(made, step);
  });
  cuda::parse_nvrtc_log(text, "k.cu", 3);
  cuda::parse_ptxas_log(text, "k.ptx", 3);
  cuda::cubin_registers({reinterpret_cast<const std::byte*>(data), size}, "k");
  return 0;
}
