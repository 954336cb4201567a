// One experiment sent to `kbench serve` (docs/serve.md): read, and written.
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

/// Who sends experiments: processes of this user, or whoever reaches the server over a network.
/// The latter cannot name paths, may leave out `id`, and their task files are not kept.
enum class Sender { this_user, network };

struct ServeLine {
  std::string id;       ///< as JSON text; empty: none
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
                           const std::vector<vulkan::DeviceSnapshot>& devices,
                           Sender sender = Sender::this_user);

/// The line without `id` that asks a server elsewhere for this: a candidate on disk is read.
/// Throws kUnsupported where the request has what a line cannot say, and kIo, kNotFound.
std::string serve_line_of(const client::EvaluateRequest& request);

}  // namespace kbench::queue
