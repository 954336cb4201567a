#include "harness/measure/cuda/driver_list.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "harness/measure/cuda/driver_state.h"

namespace kbench::cuda {
namespace {

using Clock = std::chrono::steady_clock;

// Writes of Driver::State::lead before the timed steps, to keep the device busy while the host
// enqueues them: 10, and one more for every 4 steps, 30 at most. One takes 13 us on an H200. The
// judge's clock allows for 30 of them beside what a run says it took (clock_rule.cc).
constexpr size_t kLeads = 10, kStepsALead = 4, kMostLeads = 30;

class TimedEvent {
 public:
  explicit TimedEvent(Driver::State& state) : state_(state) {
    state.check(state.calls.event_create(&event_, 0), "cuEventCreate");
  }
  TimedEvent(TimedEvent&& other) noexcept
      : state_(other.state_), event_(std::exchange(other.event_, nullptr)) {}
  ~TimedEvent() {
    if (event_ && !state_.hung) state_.calls.event_destroy(event_);
  }
  void record() { state_.check(state_.calls.event_record(event_, state_.stream), "cuEventRecord"); }
  /// Until everything before it has ended.
  void wait(double seconds);
  double ns_since(const TimedEvent& earlier) const {
    float milliseconds = 0;
    state_.check(state_.calls.event_elapsed(&milliseconds, earlier.event_, event_),
                 "cuEventElapsedTime");
    return double{milliseconds} * 1e6;
  }

 private:
  Driver::State& state_;
  driver::Event event_ = nullptr;
};

void TimedEvent::wait(double seconds) {
  // Short runs are polled for, so that the judge's clock measures little more than the run.
  constexpr std::chrono::milliseconds kWatched(5);
  constexpr std::chrono::microseconds kPause(20);
  const auto start = Clock::now();
  for (;;) {
    const driver::Result result = state_.calls.event_query(event_);
    if (result != driver::kNotReady) return state_.check(result, "cuEventQuery");
    const auto waited = Clock::now() - start;
    if (std::chrono::duration<double>(waited).count() > seconds) {
      state_.hung = true;
      throw Error(ErrorCode::kTimeout, "CUDA's driver waited longer than " +
                                           std::to_string(seconds) + " s for the device");
    }
    if (waited > kWatched) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

struct DriverList::State {
  Driver::State& driver;
  std::vector<LaunchStep> steps;
  driver::GraphExec graph = nullptr;
  bool has_run = false;

  State(Driver::State& of, std::vector<LaunchStep> all) : driver(of), steps(std::move(all)) {}

  void enqueue(const LaunchStep& step);
  void enqueue_all(const std::function<void(size_t)>& after = {});
  void record();
  void lead();
  void require_alive() const {
    if (driver.hung) throw Error(ErrorCode::kDeviceLost, "CUDA's context has been lost");
  }
  double run_singly(double seconds);
  [[noreturn]] void fail(const DriverError& error) const;
};

DriverList::DriverList(Driver& driver, std::vector<LaunchStep> steps)
    : state_(std::make_unique<State>(driver.state(), std::move(steps))) {}

DriverList::~DriverList() {
  State& s = *state_;
  if (s.graph && !s.driver.hung) s.driver.calls.graph_exec_destroy(s.graph);
}

bool DriverList::recorded() const { return state_->graph != nullptr; }

void DriverList::State::enqueue(const LaunchStep& step) {
  const auto& [grid, block, shared_bytes] = step.launch;
  size_t bytes = step.parameters.size();
  void* extra[] = {driver::kParameterPointer, const_cast<std::byte*>(step.parameters.data()),
                   driver::kParameterSize, &bytes, driver::kParameterEnd};
  driver.check(driver.calls.launch(static_cast<driver::Function>(step.kernel.function), grid[0],
                                   grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
                                   driver.stream, nullptr, bytes > 0 ? extra : nullptr),
               "cuLaunchKernel");
}

void DriverList::State::enqueue_all(const std::function<void(size_t)>& after) {
  for (size_t i = 0; i < steps.size(); ++i) {
    try {
      enqueue(steps[i]);
    } catch (const DriverError& error) {
      throw StepError{error, static_cast<int>(i)};
    }
    if (after) after(i);
  }
}

/// The graph of one step, or of all.
void DriverList::State::fail(const DriverError& error) const {
  throw StepError{error, steps.size() == 1 ? 0 : -1};
}

/// Where the steps cannot be recorded they are launched one by one.
void DriverList::State::record() {
  const driver::Calls& calls = driver.calls;
  driver::Graph made = nullptr;
  if (calls.capture_begin(driver.stream, driver::kCaptureThreadLocal) != driver::kSuccess) return;
  bool captured = true;
  try {
    enqueue_all();
  } catch (const StepError&) {
    captured = false;
  }
  captured = calls.capture_end(driver.stream, &made) == driver::kSuccess && captured && made;
  if (captured && calls.graph_instantiate(&graph, made, 0) != driver::kSuccess) graph = nullptr;
  if (made) calls.graph_destroy(made);
  if (graph) driver.check(calls.graph_upload(graph, driver.stream), "cuGraphUpload");
}

/// Keeps the device busy while the steps are enqueued, and leaves its caches as the harness's other
/// writes do. The same number of writes whether steps follow or not.
void DriverList::State::lead() {
  const size_t count = std::min(kMostLeads, kLeads + steps.size() / kStepsALead);
  for (size_t i = 0; i < count; ++i) {
    driver.check(driver.calls.set_words(driver.lead, static_cast<unsigned>(i),
                                        kLeadBytes / sizeof(uint32_t), driver.stream),
                 "cuMemsetD32Async");
  }
}

double DriverList::State::run_singly(double seconds) {
  double ns = 0;
  const auto start = Clock::now();
  for (size_t i = 0; i < steps.size(); ++i) {
    try {
      TimedEvent before(driver), behind(driver);
      before.record();
      enqueue(steps[i]);
      behind.record();
      const std::chrono::duration<double> passed = Clock::now() - start;
      behind.wait(std::max(0.0, seconds - passed.count()));
      ns += behind.ns_since(before);
    } catch (const DriverError& error) {
      throw StepError{error, static_cast<int>(i)};
    }
  }
  return ns;
}

double DriverList::run(double seconds) {
  State& s = *state_;
  s.require_alive();
  if (!std::exchange(s.has_run, true)) {
    const double ns = s.run_singly(seconds);
    s.record();
    return ns;
  }
  try {
    TimedEvent before(s.driver), behind(s.driver);
    s.lead();
    before.record();
    if (s.graph) {
      s.driver.check(s.driver.calls.graph_launch(s.graph, s.driver.stream), "cuGraphLaunch");
    } else {
      s.enqueue_all();
    }
    behind.record();
    behind.wait(seconds);
    return behind.ns_since(before);
  } catch (const DriverError& error) {
    s.fail(error);
  }
}

double DriverList::run_empty(double seconds) {
  State& s = *state_;
  s.require_alive();
  try {
    TimedEvent before(s.driver), behind(s.driver);
    s.lead();
    before.record();
    behind.record();
    behind.wait(seconds);
    return behind.ns_since(before);
  } catch (const DriverError& error) {
    throw StepError{error, -1};
  }
}

std::vector<double> DriverList::profile(size_t most, double seconds) {
  State& s = *state_;
  s.require_alive();
  std::vector<double> times;
  try {
    std::vector<TimedEvent> marks;
    const size_t count = std::min(s.steps.size(), most);
    for (size_t i = 0; i <= count; ++i) marks.emplace_back(s.driver);
    s.lead();
    marks[0].record();
    s.enqueue_all([&](size_t i) {
      const bool rest = i + 1 >= count && i + 1 < s.steps.size();
      if (!rest) marks[std::min(i + 1, count)].record();
    });
    if (count > 0) marks.back().wait(seconds);
    for (size_t i = 0; i < count; ++i) times.push_back(marks[i + 1].ns_since(marks[i]));
  } catch (const DriverError& error) {
    s.fail(error);
  }
  return times;
}

void add_row(std::vector<CopyStep>& copies, const CopyStep& next) {
  if (copies.empty() || copies.back().bytes != next.bytes) return copies.push_back(next);
  CopyStep& last = copies.back();
  const uint64_t before = last.rows - 1;
  const uint64_t from_pitch = next.from - (last.from + before * last.from_pitch);
  const uint64_t to_pitch = next.to - (last.to + before * last.to_pitch);
  // The driver takes distances up to 2^31 bytes, and promises nothing for those that are not
  // multiples of what it aligns rows to.
  constexpr uint64_t kMost = uint64_t{1} << 30, kUnit = 256;
  const auto fits = [&](uint64_t pitch) {
    return pitch >= next.bytes && pitch <= kMost && pitch % kUnit == 0;
  };
  const bool as_before =
      last.rows == 1 || (from_pitch == last.from_pitch && to_pitch == last.to_pitch);
  if (!as_before || !fits(from_pitch) || !fits(to_pitch)) return copies.push_back(next);
  last.from_pitch = from_pitch;
  last.to_pitch = to_pitch;
  ++last.rows;
}

void copy_all(Driver& driver, const std::vector<CopyStep>& copies, double seconds) {
  Driver::State& s = driver.state();
  if (s.hung) throw Error(ErrorCode::kDeviceLost, "CUDA's context has been lost");
  TimedEvent behind(s);
  for (const CopyStep& copy : copies) {
    if (copy.bytes == 0) continue;
    if (copy.rows == 1) {
      s.check(s.calls.copy(copy.to, copy.from, copy.bytes, s.stream), "cuMemcpyDtoDAsync");
      continue;
    }
    driver::Copy2d rows;
    rows.from = copy.from;
    rows.to = copy.to;
    rows.from_pitch = copy.from_pitch;
    rows.to_pitch = copy.to_pitch;
    rows.width = copy.bytes;
    rows.height = copy.rows;
    s.check(s.calls.copy_rows(&rows, s.stream), "cuMemcpy2DAsync");
  }
  behind.record();
  behind.wait(seconds);
}

std::optional<double> wait_idle(Driver& driver, double seconds) {
  // The device switches between processes that have work. A single write can be done quickly while
  // another process still has some; of several writes over 2 ms one then has to wait for it.
  constexpr double kAtOnceSeconds = 0.5e-3;  // Longer than a write takes on an idle device.
  constexpr int kWritesAtOnce = 8;
  constexpr std::chrono::microseconds kPause(250);
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Driver::State& s = driver.state();
  TimedEvent behind(s);
  const auto start = Clock::now();
  double busy_seconds = 0;
  for (int at_once = 0; at_once < kWritesAtOnce;) {
    const auto began = Clock::now();
    s.check(s.calls.set_words(s.lead, 0, 1, s.stream), "cuMemsetD32Async");
    behind.record();
    behind.wait(seconds);
    if (seconds_since(began) < kAtOnceSeconds) {
      ++at_once;
    } else {
      at_once = 0;
      busy_seconds = seconds_since(start);
      if (busy_seconds > seconds) return std::nullopt;
    }
    std::this_thread::sleep_for(kPause);
  }
  return busy_seconds * 1e9;
}

}  // namespace kbench::cuda
