// One client of `kbench serve`: lines in, lines out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "harness/evaluate/queue/queue.h"
#include "harness/evaluate/queue/serve_request.h"
#include "libkbench/base/unique_fd.h"

namespace kbench::queue {

struct ServeOptions {
  EvaluateOptions defaults = {};  ///< of what a line does not say
  size_t most_line_bytes = size_t{48} << 20;
  /// Of one client, in flight or with an answer that it has not taken. Beyond either nothing of it
  /// is read.
  size_t most_experiments = 4096;
  size_t most_bytes = size_t{256} << 20;
  /// For a client to take its answers, once serving is to stop.
  double stop_seconds = 10;
};

/// Why serving a client ended.
enum class ServeEnd {
  finished,  ///< its input ended, and it has all answers
  gone,      ///< it takes no answers, or not soon enough; what was left was cancelled
  stopped,   ///< asked to; what was left was cancelled and answered so
};

/// Serves one client until it ends its input or goes away. Beside the queue's callbacks all of it
/// is in the calling thread.
class ServeClient {
 public:
  /// `in` and `out` may be one; they stay the caller's.
  ServeClient(Queue& queue, const std::vector<vulkan::DeviceSnapshot>& devices,
              const ServeOptions& options, int in, int out);
  ~ServeClient();
  ServeClient(const ServeClient&) = delete;

  /// Once `at_once` is requested nothing is written any more.
  ServeEnd serve(const std::stop_token& stop, const std::stop_token& at_once = {});

 private:
  /// What the queue's callbacks reach: it may outlive the client.
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

  Queue& queue_;
  const std::vector<vulkan::DeviceSnapshot>& devices_;
  const ServeOptions& options_;
  const int in_, out_;
  std::shared_ptr<Shared> shared_;
  std::string input_;      ///< read, and no whole line yet
  size_t searched_ = 0;    ///< of it, known to hold no newline
  bool skipping_ = false;  ///< the rest of a line that is too long
  bool input_ended_ = false;
  uint64_t lines_ = 0;
  std::string output_;  ///< being written
  size_t written_ = 0;
};

}  // namespace kbench::queue
