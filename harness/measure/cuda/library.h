// Shared libraries opened at run time: kbench is built without NVIDIA's, and runs without them.
#pragma once

#include <string>
#include <vector>

namespace kbench::cuda {

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
