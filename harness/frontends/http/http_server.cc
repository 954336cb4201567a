#include "harness/frontends/http/http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <semaphore>
#include <utility>

namespace kbench::http {
namespace {

constexpr int kPatienceMs = 10'000;  ///< between two pieces of a request, or of an answer

thread_local socket_t served = -1;  ///< the connection whose request this thread answers

/// Threads for at most so many connections; accepting waits while all are taken.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : free_(static_cast<ptrdiff_t>(most)), threads_(most) {}
  void enqueue(std::function<void()> serve) override {
    free_.acquire();
    threads_.enqueue([this, serve = std::move(serve)] {
      serve();
      free_.release();
    });
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  std::counting_semaphore<> free_;
  httplib::ThreadPool threads_;
};

/// The events that have come within the time, errors among them; 0: none.
short events_within(socket_t socket, short wanted, int milliseconds) {
  pollfd each{socket, wanted, 0};
  return TEMP_FAILURE_RETRY(poll(&each, 1, milliseconds)) == 1 ? each.revents : 0;
}

/// httplib's own stream writes nothing to a client that has ended its side.
class ClientStream : public httplib::Stream {
 public:
  explicit ClientStream(socket_t socket) : socket_(socket) {}

  bool is_readable() const override {
    return begin_ < end_ || events_within(socket_, POLLIN, kPatienceMs) != 0;
  }
  bool is_writable() const override {
    return events_within(socket_, POLLOUT, kPatienceMs) == POLLOUT;
  }
  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_) {
      if (!is_readable()) return -1;
      // Lines are read byte by byte, bodies in large pieces.
      if (size >= buffer_.size()) return receive(to, size);
      const ssize_t received = receive(buffer_.data(), buffer_.size());
      if (received <= 0) return received;
      begin_ = 0;
      end_ = static_cast<size_t>(received);
    }
    const size_t some = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, some);
    begin_ += some;
    return static_cast<ssize_t>(some);
  }
  ssize_t write(const char* data, size_t size) override {
    if (!is_writable()) return -1;
    return TEMP_FAILURE_RETRY(send(socket_, data, size, MSG_NOSIGNAL));
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return socket_; }

 private:
  ssize_t receive(char* to, size_t size) const {
    return TEMP_FAILURE_RETRY(recv(socket_, to, size, 0));
  }

  const socket_t socket_;
  std::array<char, 4096> buffer_;
  size_t begin_ = 0, end_ = 0;  ///< what is read of the buffer
};

}  // namespace

HttpServer::HttpServer(size_t most_connections) {
  new_task_queue = [most_connections] { return new ConnectionThreads(most_connections); };
  // A connection ends with its answer: what is left of a refused request is no next one.
  set_keep_alive_max_count(1);
  set_read_timeout(kPatienceMs / 1000);
  set_write_timeout(kPatienceMs / 1000);
}

size_t HttpServer::connections() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

void HttpServer::end(double seconds) {
  stop();
  std::unique_lock lock(mutex_);
  fewer_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return open_.empty(); });
  cut_off_ = true;
  for (const socket_t each : open_) shutdown(each, SHUT_RDWR);
}

bool HttpServer::client_sends_no_more() {
  return (events_within(served, POLLRDHUP, 0) & POLLRDHUP) != 0;
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  bool serve = false;
  {
    const std::lock_guard lock(mutex_);
    serve = !cut_off_;
    if (serve) open_.insert(socket);
  }
  bool answered = false;
  if (serve) {
    served = socket;
    ClientStream connection(socket);
    bool closed = true;
    answered = connection.is_readable() &&
               process_request(connection, /*close_connection=*/true, closed,
                               [](httplib::Request& request) { request.ranges.clear(); });
  }
  {
    // Closed under the lock: end() must not cut off another's, of the same number.
    const std::lock_guard lock(mutex_);
    open_.erase(socket);
    shutdown(socket, SHUT_RDWR);
    close(socket);
  }
  fewer_.notify_all();
  return answered;
}

}  // namespace kbench::http
