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

void Watch::drain() { take_saves(); }

std::optional<std::string> Watch::take_line() {
  const size_t newline = input_.find('\n');
  if (newline == input_.npos && !(input_ended_ && !input_.empty())) return std::nullopt;
  std::string line = input_.substr(0, newline);
  input_.erase(0, newline == input_.npos ? newline : newline + 1);
  return line;
}

Watch::Happened Watch::next() {
  bool saved = false;
  for (;;) {
    if (auto line = take_line()) return {What::line, *std::move(line)};
    if (input_ended_) return {};
    pollfd ready[2] = {{STDIN_FILENO, POLLIN, 0}, {events_.get(), POLLIN, 0}};
    const int count = poll(ready, 2, saved ? kQuietMs : -1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_io("wait for", "standard input");
    if (count == 0 && saved) return {What::saved, ""};
    if (ready[1].revents != 0) saved |= take_saves();
    if (ready[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) input_ended_ = true;
    if (got > 0) input_.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace kbench::program
