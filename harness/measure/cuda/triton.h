// Triton kernels: the requests to the Python process that translates them, and its answers. The
// candidate's module ran in that process, so that the PTX of an answer is checked like any other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cuda/nvrtc.h"

namespace kbench::cuda {

/// A parameter as a step gives it, in Triton's words.
struct TritonArgument {
  std::string type;   ///< "*fp32", "i32"
  bool by16 = false;  ///< a multiple of 16: an address, a number
  bool one = false;   ///< the number 1, which becomes a constant
};

struct TritonRequest {
  std::string path;   ///< of the Python file, in the process's own folder
  std::string entry;  ///< the function's name; empty: the one there is
  std::vector<TritonArgument> arguments;
  std::vector<std::pair<std::string, std::string>> constants;  ///< name -> a literal
  uint32_t num_warps = 4, num_stages = 3;
  ComputeCapability device;
};

struct TritonAnswer {
  std::string ptx;            ///< empty when it failed
  std::string entry;          ///< its symbol
  uint32_t shared_bytes = 0;  ///< dynamic
  uint32_t num_warps = 0;
  std::vector<bool> kept;  ///< of each argument: still a parameter
  // where it failed
  bool unsupported = false, invalid = false;  ///< else it does not compile
  std::string message;                        ///< one line, escaped and cut
  int line = 0;                               ///< of the file
  bool ok() const { return !ptx.empty(); }
};

/// One line of JSON.
std::string encode(const TritonRequest& request);
/// Throws kParse for a line that is no answer to it.
TritonAnswer decode_triton_answer(std::string_view json, const TritonRequest& request);

/// The script that python3 runs.
std::string_view triton_script();

}  // namespace kbench::cuda
