// httplib's server with connections of kbench's own: a client may end its side once it has asked,
// ranges are not served, and no client keeps the server from ending.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <mutex>
#include <set>

namespace kbench::http {

class HttpServer : public httplib::Server {
 public:
  /// More connections wait to be accepted. Each ends with its answer.
  explicit HttpServer(size_t most_connections);

  size_t connections() const;
  /// Accepts no more, waits so many seconds for those that there are to end, and cuts off the rest.
  /// Once listen_after_bind() runs: before, httplib's stop() does nothing.
  void end(double seconds);

  /// Of the request that the calling thread answers: whether its client sends no more. It waits for
  /// the answer, or has gone: only sending something tells.
  static bool client_sends_no_more();

 private:
  bool process_and_close_socket(socket_t socket) override;

  mutable std::mutex mutex_;
  std::condition_variable fewer_;
  std::set<socket_t> open_;
  bool cut_off_ = false;
};

}  // namespace kbench::http
