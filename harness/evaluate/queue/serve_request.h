// One line sent by a client of `kbench serve` (docs/serve.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/client/protocol.h"
#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench::queue {

struct ServeLine {
  std::string id;       ///< as JSON text
  bool cancel = false;  ///< cancels the experiment with this id
  client::EvaluateRequest request = {};
  std::optional<size_t> device = {};  ///< index into the server's devices
  std::string group = {};
  bool stages = false;  ///< report each stage
};

/// A malformed line, with its id if it has one.
struct BadLine {
  std::string id;  ///< as JSON text; empty: none
  Error error;
};

/// `defaults`: for what a line leaves out. `devices`: the server's. Checks that a candidate's files
/// on disk exist. Throws BadLine.
ServeLine parse_serve_line(std::string_view line, const EvaluateOptions& defaults,
                           const std::vector<vulkan::DeviceSnapshot>& devices);

}  // namespace kbench::queue
