// `kbench serve`: reads a client's experiments as JSON lines, and writes each result as a JSON line
// when it is done (docs/serve.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/evaluators/serve_request.h"
#include "kbench/pool.h"
#include "libkbench/base/files.h"

namespace kbench::evaluators {

struct ServeOptions {
  Question defaults = {};     ///< for what a line leaves out
  Limits most = kMostLimits;  ///< that a line may ask for
  size_t most_line_bytes = size_t{48} << 20;
  /// Limits for one client's experiments, running or with an answer that it has not read. At either
  /// limit, its input is not read.
  size_t most_experiments = 4096;
  size_t most_bytes = size_t{256} << 20;
  /// For a client to read its answers after serving was asked to stop.
  double stop_seconds = 10;
};

/// Why serving a client ended.
enum class ServeEnd {
  finished,  ///< its input ended and all answers were sent
  gone,      ///< it does not read its answers in time; the rest was cancelled
  stopped,   ///< asked to stop; the rest was cancelled and answered so
};

/// Serves one client until its input ends or it disconnects. Everything but the pool's callbacks
/// runs in the calling thread.
class ServeClient {
 public:
  /// `in` and `out` may be the same descriptor; the caller closes them.
  ServeClient(Pool& pool, const std::vector<vulkan::DeviceSnapshot>& devices,
              const ServeOptions& options, int in, int out);
  ~ServeClient();
  ServeClient(const ServeClient&) = delete;

  /// After `at_once` is requested nothing more is written.
  ServeEnd serve(const std::stop_token& stop, const std::stop_token& at_once = {});

 private:
  /// State that the pool's callbacks use, which may outlive the client.
  struct Shared;

  bool may_read() const;
  bool read_some();
  void take_lines();
  void take_line(std::string_view line);
  void submit(ServeLine line);
  void cancel(const ServeLine& line);
  void cancel_all();
  bool write_some();
  void say_too_long();
  void say_bad(const std::string& id, const std::string& why);

  Pool& pool_;
  const std::vector<vulkan::DeviceSnapshot>& devices_;
  const ServeOptions& options_;
  const int in_, out_;
  std::shared_ptr<Shared> shared_;
  std::string input_;      ///< read, but not yet a complete line
  size_t searched_ = 0;    ///< bytes of input_ known to hold no newline
  bool skipping_ = false;  ///< skips the rest of a line that is too long
  bool input_ended_ = false;
  uint64_t lines_ = 0;
  std::string output_;  ///< being sent
  size_t written_ = 0;
};

}  // namespace kbench::evaluators
