// `kbench serve`: reads experiments as JSON lines and writes each result as a JSON line when it is
// done (docs/serve.md).
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "harness/evaluate/queue/serve_client.h"

namespace kbench::queue {

/// A listening Unix socket. Only this user may connect. The destructor removes the file.
class ServeSocket {
 public:
  /// Throws kIo: the path is too long, another process listens there, or the file is not a socket.
  /// A socket that a dead process left behind is replaced.
  explicit ServeSocket(const std::string& path);
  ~ServeSocket();
  ServeSocket(const ServeSocket&) = delete;
  int get() const { return socket_.get(); }

 private:
  std::string path_;
  UniqueFd socket_;
};

/// Serves each client that connects, in a thread of its own. Returns once `stop` is requested and
/// all clients have their answers or have run out of time to take them, or `at_once` is requested.
void serve_socket(const ServeSocket& socket, Queue& queue,
                  const std::vector<vulkan::DeviceSnapshot>& devices, const ServeOptions& options,
                  const std::stop_token& stop, const std::stop_token& at_once = {});

}  // namespace kbench::queue
