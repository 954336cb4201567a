// Where the parts of a CUDA toolkit lie on this machine: the compiler NVRTC, the linker nvJitLink,
// and headers. They come as a toolkit, as Python packages, or not at all.
#pragma once

#include <string>
#include <vector>

namespace kbench::cuda {

struct Toolkit {
  std::string nvrtc;                 ///< path of the library, or empty: asked of the loader by name
  std::string nvjitlink;             ///< likewise
  std::vector<std::string> include;  ///< folders of headers, may be empty
  /// Folders that must be readable for these to work.
  std::vector<std::string> folders() const;
};

/// What the search looks at, read from the environment by toolkit_places().
struct ToolkitPlaces {
  std::string nvrtc;               ///< KBENCH_NVRTC: the library itself, tried alone
  std::vector<std::string> roots;  ///< CUDA_HOME, CUDA_PATH, /usr/local/cuda, ...: toolkits
  std::vector<std::string> site;   ///< folders of Python packages
};

/// KBENCH_NVRTC, CUDA_HOME, CUDA_PATH, the usual folders of toolkits, and the Python packages of
/// KBENCH_PYTHON, VIRTUAL_ENV, every python3 on PATH and the system.
ToolkitPlaces toolkit_places();

/// A variable that runners get in place of PATH: its folders that have a python3, separated by
/// colons.
inline constexpr const char* kPythonFolders = "KBENCH_PYTHON_FOLDERS";
/// Those folders, from that variable or else from PATH.
std::vector<std::string> python_folders();

/// The first of the places that has NVRTC, with what lies beside it.
Toolkit find_toolkit(const ToolkitPlaces& places);

/// "KBENCH_NVRTC, CUDA_HOME, ...": where it was looked, for a message that it is missing.
std::string searched(const ToolkitPlaces& places);

/// Names to open NVRTC and nvJitLink by when no path is known.
const std::vector<std::string>& nvrtc_names();
const std::vector<std::string>& nvjitlink_names();

// Shared libraries opened at run time: kbench is built without NVIDIA's, and runs without them.

/// What calls of libcuda, NVML, NVRTC and nvJitLink return on success.
inline constexpr int kSuccess = 0;

/// Never closed once opened: these libraries start threads and keep pointers they were given.
class Library {
 public:
  /// Tries the names in order, as dlopen() takes them.
  explicit Library(const std::vector<std::string>& names);

  bool there() const { return handle_ != nullptr; }
  /// Why there is none, of the last name that was tried.
  const std::string& reason() const { return reason_; }
  const std::string& name() const { return name_; }

  /// Fills `call` with the function of that name; null when the library has none.
  template <class F>
  bool get(const char* name, F*& call) const {
    call = reinterpret_cast<F*>(symbol(name));
    return call != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string name_, reason_;
};

}  // namespace kbench::cuda
