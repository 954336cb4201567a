// A CUDA source's #include lines, resolved among the candidate's own files before a compiler sees
// them: no compiler reads a candidate's file from disk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/measure/cuda/nvrtc.h"

namespace kbench::cuda {

/// A source and its headers, each #include of a candidate's file naming a key of `headers`.
struct Included {
  std::string text;
  std::map<std::string, std::string> headers;  ///< path -> text
  std::vector<Diagnostic> errors;              ///< #include lines that are refused
};

/// Lines keep their numbers. Refused is an #include that names neither a candidate's file nor a
/// plain name: a macro or a path with '..' could name any file of the machine.
Included resolve_includes(const CudaSource& source);

}  // namespace kbench::cuda
