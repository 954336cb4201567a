#include "harness/evaluate/queue/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <memory>
#include <thread>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/start_thread.h"

namespace kbench::queue {
namespace {

constexpr int kMostWaiting = 64;  ///< to be accepted
constexpr size_t kMostClients = 256;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw Error(ErrorCode::kIo, "a socket's path has from 1 to " +
                                    std::to_string(sizeof address.sun_path - 1) + " bytes, not '" +
                                    path + "'");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

UniqueFd unix_socket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) throw_io("make", "a socket");
  return socket;
}

/// Removes the socket file of a process that has ended.
void remove_left_behind(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    throw Error(ErrorCode::kIo, "cannot listen at " + path + ": it is there, and no socket");
  }
  const UniqueFd probe = unix_socket();
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED) {
    unlink(path.c_str());
    return;
  }
  throw Error(ErrorCode::kIo, "cannot listen at " + path + ": another process does");
}

struct Serving {
  UniqueFd socket;
  std::atomic<bool> done = false;
  std::jthread thread;
};

}  // namespace

ServeSocket::ServeSocket(const std::string& path) : socket_(unix_socket()) {
  const sockaddr_un address = address_of(path);
  remove_left_behind(path, address);
  // Before a client can connect: connecting means running candidates as this user.
  fchmod(socket_.get(), S_IRUSR | S_IWUSR);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw_io("listen at", path);
  }
  path_ = path;
  if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || listen(socket_.get(), kMostWaiting) != 0) {
    const int error = errno;
    unlink(path.c_str());
    throw_io("listen at", path, error);
  }
}

ServeSocket::~ServeSocket() { unlink(path_.c_str()); }

void serve_socket(const ServeSocket& socket, Queue& queue,
                  const std::vector<vulkan::DeviceSnapshot>& devices, const ServeOptions& options,
                  const std::stop_token& stop, const std::stop_token& at_once) {
  const UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto rouse = [&wake] {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(wake.get(), &one, sizeof one);
  };
  const std::stop_callback on_stop(stop, rouse);
  std::list<Serving> clients;
  while (!stop.stop_requested()) {
    // More clients wait to be accepted until one ends.
    const bool more = clients.size() < kMostClients;
    pollfd ready[2] = {{wake.get(), POLLIN, 0}, {more ? socket.get() : -1, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) throw_io("wait for", "clients");
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = read(wake.get(), &count, sizeof count);
    clients.remove_if([](const Serving& each) { return each.done.load(); });
    if (ready[1].revents == 0) continue;
    UniqueFd accepted(accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted.open()) {
      // Out of file descriptors: the client waits until some are free.
      if (errno == EMFILE || errno == ENFILE) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      continue;
    }
    Serving& serving = clients.emplace_back();
    serving.socket = std::move(accepted);
    try {
      serving.thread =
          start_thread<std::jthread>([&serving, &queue, &devices, &options, stop, at_once, rouse] {
            const int fd = serving.socket.get();
            try {
              ServeClient(queue, devices, options, fd, fd).serve(stop, at_once);
            } catch (const std::exception&) {  // Out of memory: this client is dropped.
            }
            serving.done = true;
            rouse();
          });
    } catch (const Error&) {
      clients.pop_back();  // The client sees its connection closed.
    }
  }
}

}  // namespace kbench::queue
