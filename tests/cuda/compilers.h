// NVIDIA's compilers, where the machine has them.
#pragma once

#include <memory>
#include <string>

#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/nvrtc.h"
#include "harness/measure/cuda/toolkit.h"
#include "kbench/error.h"

namespace kbench::cuda {

struct RealCompilers {
  std::unique_ptr<Nvrtc> nvrtc;
  std::unique_ptr<Assembler> assembler;
  std::string missing;  ///< why one of them is null
};

inline RealCompilers real_compilers() {
  const ToolkitPlaces places = toolkit_places();
  RealCompilers found;
  try {
    const Toolkit toolkit = find_toolkit(places);
    found.nvrtc = std::make_unique<Nvrtc>(toolkit, places);
    found.assembler = std::make_unique<Assembler>(toolkit, places);
  } catch (const Error& e) {
    found.missing = e.message();
  }
  return found;
}

}  // namespace kbench::cuda
