// One experiment sent to `kbench serve` (docs/serve.md): read, and written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/snapshot.h"
#include "kbench/error.h"
#include "kbench/pool.h"

namespace kbench::evaluators {

/// Where an experiment comes from: a process of this user, or a client of the HTTP service. The
/// latter cannot name paths, may leave out `id`, and its task file is not kept.
enum class Sender { this_user, network };

/// What a line may ask for as the limits of its experiment, where the server's owner did not say.
inline constexpr Limits kMostLimits = {.compile_seconds = 600,
                                       .device_seconds = 600,
                                       .total_seconds = 3600,
                                       .host_bytes = Limits{}.host_bytes};

struct ServeLine {
  std::string id;       ///< as JSON text; empty: none
  bool cancel = false;  ///< cancels the experiment with this id
  Pool::Job job = {};
  bool stages = false;  ///< report each stage
};

/// A malformed line, with its id if it has one.
struct BadLine {
  std::string id;  ///< as JSON text; empty: none
  Error error;
};

/// `defaults`: for what a line leaves out. `most`: the highest limits that it may ask for; of the
/// total_seconds, as max_seconds, too. `devices`: the server's. Checks that a candidate's files on
/// disk exist. Throws BadLine.
ServeLine parse_serve_line(std::string_view line, const Question& defaults, const Limits& most,
                           const std::vector<vulkan::DeviceSnapshot>& devices,
                           Sender sender = Sender::this_user);

/// The line without `id` that asks a server elsewhere for this: a candidate on disk is read.
/// `device`: one of that server's, as --device takes it; "auto": any. Throws kUnsupported where the
/// question has what a line cannot say, and kIo, kNotFound.
std::string serve_line_of(const Question& question, const std::string& device);

}  // namespace kbench::evaluators
