// One line that a client of `kbench serve` sends: docs/serve.md.
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
  bool cancel = false;  ///< end what has this id; else evaluate the rest
  client::Request request = {};
  std::optional<size_t> device = {};  ///< by its place among the server's
  std::string group = {};
  bool stages = false;  ///< tell each stage
};

/// A line that cannot be used, and its id where it has one.
struct BadLine {
  std::string id;  ///< as JSON text; empty: none
  Error error;
};

/// `defaults`: what a line does not say. `devices`: the server's. Looks at the candidate's files,
/// where they are on disk, so that one that is not there is told at once. Throws BadLine.
ServeLine parse_serve_line(std::string_view line, const EvaluateOptions& defaults,
                           const std::vector<vulkan::DeviceSnapshot>& devices);

}  // namespace kbench::queue
