// `kbench serve`: experiments as JSON lines in, results as JSON lines out, in the order in which
// they are done. docs/serve.md.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/queue/serve_client.h"

namespace kbench::queue {

/// A Unix socket to be served. The file is this process's user's alone, and goes with the object.
class ServeSocket {
 public:
  /// Throws kIo: the path is too long, another process listens there, or what is there is no
  /// socket. One that a process left behind is taken over.
  explicit ServeSocket(const std::string& path);
  ~ServeSocket();
  ServeSocket(const ServeSocket&) = delete;
  int get() const { return socket_.get(); }

 private:
  std::string path_;
  UniqueFd socket_;
};

/// Serves each client that connects, in a thread of its own, until `stop` is requested and all have
/// their answers, or have had time enough to take them, or `at_once` is requested.
void serve_socket(const ServeSocket& socket, Queue& queue,
                  const std::vector<vulkan::DeviceSnapshot>& devices, const ServeOptions& options,
                  const std::stop_token& stop, const std::stop_token& at_once = {});

}  // namespace kbench::queue
