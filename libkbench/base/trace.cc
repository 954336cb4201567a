#include "libkbench/base/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "libkbench/base/files.h"
#include "libkbench/base/json_text.h"

namespace kbench::trace {
namespace {

constexpr const char* kFile = "KBENCH_TRACE";  ///< names the file to the judges
std::atomic<int> file{-1};

using Json = nlohmann::ordered_json;

/// Microseconds, to the nanosecond.
double microseconds(Clock::time_point time) {
  return std::chrono::duration<double, std::micro>(time.time_since_epoch()).count();
}

void append(const Json& event) {
  const std::string line = json_text(event) + ",\n";
  // What a full disk does not take is missing; no evaluation ends for it.
  [[maybe_unused]] const ssize_t ignored = write(file, line.data(), line.size());
}

void name(const char* kind, int64_t row, std::string_view what) {
  append(
      {{"ph", "M"}, {"name", kind}, {"pid", getpid()}, {"tid", row}, {"args", {{"name", what}}}});
}

/// Says the name of a row the first time.
void name_once(const Row& row) {
  static std::mutex mutex;
  static std::set<int64_t> named;
  {
    const std::lock_guard lock(mutex);
    if (!named.insert(row.id).second) return;
  }
  name("thread_name", row.id, row.name);
}

void go_on(const std::string& path, const std::string& process) {
  const int opened = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) throw_io("write", path);
  file = opened;
  name("process_name", getpid(), process);
}

}  // namespace

void begin(const std::string& path, const std::string& process) {
  replace_file(path, "[\n");
  go_on(path, process);
  const std::string whole = std::filesystem::absolute(path).string();
  setenv(kFile, whole.c_str(), 1);
}

void join(const std::string& process) {
  if (const char* path = std::getenv(kFile); path != nullptr) go_on(path, process);
}

bool on() { return file >= 0; }

void add(std::string_view what, Clock::time_point start, Clock::time_point end, const Row& row) {
  if (!on()) return;
  if (!row.name.empty()) name_once(row);
  append({{"ph", "X"},
          {"name", what},
          {"pid", getpid()},
          {"tid", row.id != 0 ? row.id : gettid()},
          {"ts", microseconds(start)},
          {"dur", microseconds(end) - microseconds(start)}});
}

}  // namespace kbench::trace
