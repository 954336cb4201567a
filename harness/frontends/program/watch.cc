#include "harness/frontends/program/watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "libkbench/base/files.h"

namespace kbench::program {
namespace {

constexpr int kQuietMs = 100;

/// Ignores the backups and swap files of editors.
bool is_ours(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.back() != '~' && !name.ends_with(".swp") &&
         name != "4913";  // vim tests whether it can write here
}

}  // namespace

Watch::Watch(const std::string& folder) : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!events_.open() ||
      inotify_add_watch(events_.get(), folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    throw_io("watch", folder);
  }
}

bool Watch::take_saves() {
  bool saved = false;
  alignas(inotify_event) char buffer[8192];
  for (;;) {
    const ssize_t count = read(events_.get(), buffer, sizeof buffer);
    if (count <= 0) return saved;
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      saved |= event->len > 0 && is_ours(event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
}

void Watch::wait() {
  for (bool saved = false;;) {
    pollfd ready = {events_.get(), POLLIN, 0};
    const int count = poll(&ready, 1, saved ? kQuietMs : -1);
    if (count < 0 && errno != EINTR) throw_io("watch", "a folder");
    if (count == 0) return;
    saved |= take_saves();
  }
}

}  // namespace kbench::program
