// PyTorch in a runner: the process that will run a module, and what this process needs to reach
// that process's memory on a GPU.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/measure/cuda/driver.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/trial/secret.h"
#include "harness/measure/vulkan/device.h"
#include "kbench/error.h"

namespace kbench::runner {

// Questions to a ModelNew's process and its answers, none of which is believed.

/// What was answered, an object; `when`: what the process was asked for, " while ModelNew was
/// made", as the message has it if it has ended. Throws Refused where it says that the candidate
/// fails or its process has ended, and Error: kTimeout, kOutOfMemory where what kbench does there
/// lacks memory.
nlohmann::json read_answer(const TorchAnswer& answer, const std::string& when = "");

/// Each question carries a secret number, which its answer has to repeat: none can be made ready
/// before it is asked.
class TorchChannel {
 public:
  /// `spin`: as TorchQuestion has it.
  TorchChannel(PythonHelper& python, bool spin) : python_(python), spin_(spin) {}
  struct Reply {
    nlohmann::json answer;
    double ns = 0;  ///< from the process's standstill to its standstill
  };
  /// What is done where the process asks for an extension to be built: returns the error, if any.
  using Builder = std::function<std::string(const nlohmann::json& arguments)>;
  void set_builder(Builder builder) { builder_ = std::move(builder); }

  /// Asks the process, which stands still afterwards; of what it has built meanwhile the time does
  /// not count. Throws as read_answer().
  Reply ask(nlohmann::json question, double seconds, std::span<const int> descriptors = {});

 private:
  Reply ask_once(nlohmann::json question, double seconds, std::span<const int> descriptors);

  PythonHelper& python_;
  bool spin_;
  trial::SecretStream secret_{std::nullopt};
  Builder builder_;
};

class TorchHost {
 public:
  /// Has the helper start python3, which imports torch and opens the device, and does not wait; on
  /// a GPU opens CUDA's driver here. To be called while this process may still open files. Never
  /// throws: what went wrong is thrown by wait_started().
  TorchHost(vulkan::Device& device, PythonHelper& python);

  /// Waits until PyTorch is there and its device open. Throws kUnsupported if they are not to be
  /// had, kOutOfMemory if the device has no memory left for them, kTimeout.
  void wait_started(double seconds);

  PythonHelper& python() { return python_; }
  /// PyTorch's process; 0 if there is none.
  pid_t process() const { return process_; }
  /// Null on a software device.
  cuda::Driver* driver() { return driver_.get(); }
  uint64_t device_bytes() const { return device_bytes_; }  ///< all of its memory
  /// What extensions are compiled for: "9.0"; empty on a software device.
  const std::string& architecture() const { return architecture_; }
  /// "PyTorch 2.11.0", once started. It was said before any code of a candidate ran.
  const std::string& version() const { return version_; }

 private:
  void start(vulkan::Device& device);

  PythonHelper& python_;
  std::unique_ptr<cuda::Driver> driver_;
  std::string architecture_, version_;
  std::optional<Error> failure_;  ///< why there is no PyTorch
  pid_t process_ = 0;
  uint64_t device_bytes_;
  bool started_ = false;
};

// The Python that kbench runs for a ModelNew, as text inside the library.

std::string_view load_module_script();   ///< load_module.py
std::string_view quick_build_script();   ///< quick_build.py
std::string_view kernel_names_script();  ///< kernel_names.py
std::string_view weights_script();       ///< weights.py
std::string_view driver_script();        ///< driver.py, behind both
std::string_view checked_script();       ///< checked.py
std::string_view precompile_script();    ///< precompile.py
std::string_view make_bridge_script();   ///< make_bridge.py
/// The headers that extensions are compiled with, and bridge.cc: name -> text.
std::map<std::string, std::string> extension_headers();

/// Those that load a module do it in the same way. Extensions are compiled with kbench's headers
/// where they can be, or all with PyTorch's own.
std::string with_loader(std::string_view script, bool full_headers);

}  // namespace kbench::runner
