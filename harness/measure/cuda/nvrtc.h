// CUDA C++ to PTX through NVRTC, opened at run time. It is not asked for machine code: the PTX is
// checked first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/cuda/toolkit.h"
#include "kbench/result.h"

namespace kbench::cuda {

/// A device's: 9.0 is sm_90.
struct ComputeCapability {
  int major = 0, minor = 0;
  bool known() const { return major > 0; }
  /// "sm_90a": with the features of this architecture alone, from 9.0 on.
  std::string architecture() const;
  /// "compute_90a": the same to a compiler that stops at PTX.
  std::string virtual_architecture() const;
};

struct CudaSource {
  std::string text;
  std::string file;    ///< as diagnostics should name it
  int first_line = 1;  ///< line of `file` that the text's first line stands on
  /// A name expression: a kernel's name with its namespace and template arguments. Empty: the one
  /// kernel there is.
  std::string entry;
  std::vector<std::pair<std::string, std::string>> macros;
  /// The code says which line each instruction is from, by `file` and its lines.
  bool line_info = false;
  /// Resolves #include "name" seen in `from`: (path, text), or nothing when there is no such file.
  std::function<std::optional<std::pair<std::string, std::string>>(const std::string& name,
                                                                   const std::string& from)>
      include;
};

struct CudaOutcome {
  std::string ptx;    ///< empty when it failed
  std::string entry;  ///< the symbol that CudaSource::entry means; empty with it
  std::vector<Diagnostic> diagnostics;
  bool ok() const { return !ptx.empty(); }
};

class Nvrtc {
 public:
  /// Throws kUnsupported, naming where it was looked for, when there is no NVRTC.
  Nvrtc(const Toolkit& toolkit, const ToolkitPlaces& places);
  ~Nvrtc();

  /// "13.0".
  std::string version() const;
  /// The library's path or name.
  const std::string& library() const;
  /// The toolkit's own headers can be included.
  bool has_headers() const;
  /// Throws kUnsupported when this NVRTC does not know the architecture. Errors of the source are
  /// in the outcome.
  CudaOutcome compile(const CudaSource& source, const ComputeCapability& device) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A CUDA source's #include lines, resolved among the candidate's own files before a compiler sees
// them: no compiler reads a candidate's file from disk.

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
