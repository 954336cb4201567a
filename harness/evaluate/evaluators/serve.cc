#include "harness/evaluate/evaluators/serve.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "harness/measure/process/deadline.h"
#include "kbench/error.h"
#include "libkbench/base/json_text.h"

namespace kbench::evaluators {
namespace {

using nlohmann::json;

/// A line of JSON with these members, whose values are JSON text.
std::string line_of(const std::vector<std::pair<const char*, std::string>>& members) {
  std::string line = "{";
  for (const auto& [name, value] : members) {
    line += (line.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": " + value;
  }
  return line + "}\n";
}

std::string text_json(const std::string& text) { return json_text(json(text)); }

size_t bytes_of(const CandidateSource& source) {
  size_t bytes = source.path.size();
  if (!source.files) return bytes;
  for (const auto& [path, text] : *source.files) bytes += path.size() + text.size();
  return bytes;
}

}  // namespace

struct ServeClient::Shared {
  struct Flight {
    uint64_t job = 0;  ///< the pool's id
    size_t bytes = 0;
  };
  UniqueFd wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::map<std::string, Flight> flights;  ///< by id
  size_t bytes = 0;                       ///< of these flights' candidates
  std::string answers;                    ///< to be moved into output_

  void say(std::string_view line) {
    {
      const std::lock_guard lock(mutex);
      answers += line;
    }
    rouse();
  }
  void land(const std::string& id, std::string_view line) {
    {
      const std::lock_guard lock(mutex);
      answers += line;
      if (const auto found = flights.find(id); found != flights.end()) {
        bytes -= found->second.bytes;
        flights.erase(found);
      }
    }
    rouse();
  }
  void rouse() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(wake.get(), &one, sizeof one);
  }
};

ServeClient::ServeClient(Pool& pool, const std::vector<vulkan::DeviceSnapshot>& devices,
                         const ServeOptions& options, int in, int out)
    : pool_(pool),
      devices_(devices),
      options_(options),
      in_(in),
      out_(out),
      shared_(std::make_shared<Shared>()) {}

ServeClient::~ServeClient() { cancel_all(); }

void ServeClient::cancel_all() {
  std::vector<uint64_t> jobs;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [id, flight] : shared_->flights) jobs.push_back(flight.job);
  }
  // The last ones first: as one that runs ends, none of them is begun in its place.
  std::ranges::sort(jobs, std::greater());
  for (const uint64_t job : jobs) pool_.cancel(job);
}

void ServeClient::say_bad(const std::string& id, const std::string& why) {
  std::vector<std::pair<const char*, std::string>> members = {{"line", std::to_string(lines_)}};
  if (!id.empty()) members.emplace_back("id", id);
  members.emplace_back("error", text_json(shown(why, 2000)));
  shared_->say(line_of(members));
}

void ServeClient::say_too_long() {
  say_bad("", "is longer than " + std::to_string(options_.most_line_bytes) + " bytes");
}

void ServeClient::submit(ServeLine line) {
  const std::string id = line.id;
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->flights.contains(id)) {
      throw BadLine{"", Error(ErrorCode::kInvalidArgument, "the id " + id + " is in flight")};
    }
    const size_t bytes = bytes_of(line.job.question.candidate);
    shared_->flights[id] = {0, bytes};
    shared_->bytes += bytes;
  }
  Pool::Job job = std::move(line.job);
  if (line.stages) {
    job.observer.on_stage = [shared = shared_, id](const char* stage) {
      shared->say(line_of({{"id", id}, {"stage", text_json(stage)}}));
    };
  }
  job.on_outcome = [shared = shared_, id](const Pool::Outcome& outcome) {
    shared->land(
        id,
        line_of({{"id", id},
                 outcome.result  ? std::pair{"result", to_json(*outcome.result)}
                 : outcome.error ? std::pair{"error", text_json(shown(outcome.error->what(), 2000))}
                                 : std::pair{"cancelled", std::string("true")}}));
  };
  const uint64_t number = pool_.add(std::move(job));
  const std::lock_guard lock(shared_->mutex);
  if (const auto found = shared_->flights.find(id); found != shared_->flights.end()) {
    found->second.job = number;
  }
}

void ServeClient::cancel(const ServeLine& line) {
  uint64_t job = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    if (const auto found = shared_->flights.find(line.id); found != shared_->flights.end()) {
      job = found->second.job;
    }
  }
  // A cancel that arrives after the result was sent is not an error.
  if (job == 0 || !pool_.cancel(job)) {
    shared_->say(line_of({{"id", line.id}, {"cancelled", "false"}}));
  }
}

void ServeClient::take_line(std::string_view text) {
  ++lines_;
  if (text.find_first_not_of(" \t\r") == text.npos) return;
  if (text.size() > options_.most_line_bytes) return say_too_long();
  try {
    ServeLine line = parse_serve_line(text, options_.defaults, options_.most, devices_);
    line.cancel ? cancel(line) : submit(std::move(line));
  } catch (const BadLine& bad) {
    say_bad(bad.id, bad.error.what());
  }
}

void ServeClient::take_lines() {
  size_t begin = 0;
  for (size_t end;
       may_read() && (end = input_.find('\n', std::max(begin, searched_))) != input_.npos;
       begin = end + 1) {
    searched_ = 0;
    if (std::exchange(skipping_, false)) continue;
    take_line(std::string_view(input_).substr(begin, end - begin));
  }
  input_.erase(0, begin);
  if (!may_read()) {  // There may be unread lines left.
    searched_ = 0;
    return;
  }
  searched_ = input_.size();
  if (input_.size() > options_.most_line_bytes) {
    if (!std::exchange(skipping_, true)) {
      ++lines_;
      say_too_long();
    }
  }
  if (skipping_) {
    input_.clear();
    searched_ = 0;
  }
}

bool ServeClient::may_read() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->flights.size() < options_.most_experiments &&
         shared_->bytes < options_.most_bytes &&
         shared_->answers.size() + output_.size() - written_ < options_.most_bytes;
}

/// False at the end of the input.
bool ServeClient::read_some() {
  char buffer[1 << 16];
  const ssize_t n = read(in_, buffer, sizeof buffer);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) {
    if (!input_.empty()) {  // a last line without a newline
      input_ += '\n';
      take_lines();
    }
    return false;
  }
  input_.append(buffer, static_cast<size_t>(n));
  return true;
}

/// False if the client has closed its end.
bool ServeClient::write_some() {
  for (;;) {
    if (written_ == output_.size()) {
      output_.clear();
      written_ = 0;
      const std::lock_guard lock(shared_->mutex);
      output_.swap(shared_->answers);
    }
    if (output_.empty()) return true;
    const size_t most = std::min<size_t>(output_.size() - written_,
                                         4096);  // poll() promises that this much does not block
    const ssize_t n = write(out_, output_.data() + written_, most);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    written_ += static_cast<size_t>(n);
    pollfd ready{out_, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) return true;
  }
}

ServeEnd ServeClient::serve(const std::stop_token& stop, const std::stop_token& at_once) {
  const std::stop_callback rouse(stop, [this] { shared_->rouse(); });
  const std::stop_callback rouse_at_once(at_once, [this] { shared_->rouse(); });
  std::optional<process::Deadline> stopping;
  for (;;) {
    if (stop.stop_requested() && !stopping) {
      stopping.emplace(options_.stop_seconds);
      input_ended_ = true;
      input_.clear();
      cancel_all();
    }
    if (at_once.stop_requested() || (stopping && stopping->passed())) return ServeEnd::gone;
    if (!input_.empty() && !stopping) take_lines();
    bool in_flight = false, to_say = written_ < output_.size();
    {
      const std::lock_guard lock(shared_->mutex);
      in_flight = !shared_->flights.empty();
      to_say |= !shared_->answers.empty();
    }
    if (input_ended_ && input_.empty() && !in_flight && !to_say) {
      return stopping ? ServeEnd::stopped : ServeEnd::finished;
    }
    const bool reading = !input_ended_ && may_read();
    pollfd ready[3] = {{shared_->wake.get(), POLLIN, 0},
                       {out_, static_cast<short>(to_say ? POLLOUT : 0), 0},
                       {reading ? in_ : -1, POLLIN, 0}};
    constexpr int kLookEveryMs = 100;
    if (poll(ready, 3, stopping ? kLookEveryMs : -1) < 0 && errno != EINTR) return ServeEnd::gone;
    uint64_t count = 0;
    if (ready[0].revents != 0) {
      [[maybe_unused]] const ssize_t ignored = read(shared_->wake.get(), &count, sizeof count);
    }
    // A socket that is closed at both ends, or a pipe without a reader.
    if ((ready[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return ServeEnd::gone;
    if ((ready[1].revents & POLLOUT) != 0 && !write_some()) return ServeEnd::gone;
    if (ready[2].revents != 0 && !read_some()) input_ended_ = true;
  }
}

}  // namespace kbench::evaluators
