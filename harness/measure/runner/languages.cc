#include "harness/measure/runner/languages.h"

#include <utility>

#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/driver.h"
#include "harness/measure/cuda/nvrtc.h"
#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/runner/cuda_kernels.h"
#include "harness/measure/runner/python_interpreter.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

/// Throws kUnsupported where CUDA's driver, which launches such kernels, is not there.
void require_driver() {
  const cuda::Library driver({"libcuda.so.1"});
  if (!driver.there()) throw Error(ErrorCode::kUnsupported, driver.reason());
}

/// Usable with the detail that `find` returns, or not usable with the message that it throws.
template <class F>
LanguageSupport language(const char* name, F find) {
  LanguageSupport support;
  support.name = name;
  try {
    support.detail = find();
    support.usable = true;
  } catch (const Error& e) {
    support.detail = e.message();
  }
  return support;
}

/// Throws kUnsupported, with what was tried, where no python3 has the package.
PythonInterpreter python_with(const std::string& package) {
  PythonSearch search = find_python(package);
  if (!search.found) throw Error(ErrorCode::kUnsupported, search.tried);
  return *std::move(search.found);
}

/// "2.11.0 of /usr/bin/python3": the package's version, and whose it is.
std::string said_of(const PythonInterpreter& python) {
  return python.version + " of " + shown(python.program);
}

}  // namespace

std::vector<LanguageSupport> languages_of(const vulkan::DeviceSnapshot& snapshot) {
  std::vector<LanguageSupport> all;
  for (const char* shader : {"GLSL", "HLSL", "SPIR-V"}) {
    all.push_back({.name = shader, .usable = true, .detail = "Vulkan 1.2"});
  }
  const cuda::ToolkitPlaces places = cuda::toolkit_places();
  const cuda::Toolkit toolkit = cuda::find_toolkit(places);
  all.push_back(language("CUDA C++", [&] {
    const cuda::ComputeCapability capability = cuda_capability(snapshot);
    require_driver();
    const cuda::Nvrtc nvrtc(toolkit, places);
    const cuda::Assembler assembler(toolkit, places);
    return capability.architecture() + " by NVRTC " + nvrtc.version() + " (" + nvrtc.library() +
           (nvrtc.has_headers() ? ")" : "), without headers");
  }));
  all.push_back(language("PTX", [&] {
    const cuda::ComputeCapability capability = cuda_capability(snapshot);
    require_driver();
    const cuda::Assembler assembler(toolkit, places);
    return capability.architecture() + " by nvJitLink";
  }));
  std::optional<PythonInterpreter> python;
  all.push_back(language("Triton", [&] {
    cuda_capability(snapshot);
    require_driver();
    const cuda::Assembler assembler(toolkit, places);
    python = python_with("triton");
    return "Triton " + said_of(*python);
  }));
  all.back().python = std::exchange(python, std::nullopt);
  all.push_back(language("PyTorch", [&] {
    python = python_with("torch");
    if (!snapshot.software()) {
      cuda::device_capability(snapshot.device_uuid);
      if (python->cuda.empty()) {
        throw Error(ErrorCode::kUnsupported, said_of(*python) + " was built without CUDA");
      }
    }
    return said_of(*python) +
           (python->cuda.empty() ? ", built without CUDA" : ", built for CUDA " + python->cuda);
  }));
  all.back().python = std::move(python);
  return all;
}

}  // namespace kbench::runner
