// Questions to a ModelNew's process and its answers, none of which is believed.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/trial/secret.h"

namespace kbench::runner {

/// What was answered, an object. Throws Refused where it says that the candidate fails or its
/// process has ended, and Error (kTimeout).
nlohmann::json read_answer(const TorchAnswer& answer);

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
  /// Asks the process, which stands still afterwards. Throws as read_answer().
  Reply ask(nlohmann::json question, double seconds, std::span<const int> descriptors = {});

 private:
  PythonHelper& python_;
  bool spin_;
  trial::SecretStream secret_{std::nullopt};
};

}  // namespace kbench::runner
