// The judge's end of a runner: the process and its channel. Its answers are not trusted.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/judge/slab.h"
#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/prototype.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/write_fault.h"
#include "kbench/error.h"
#include "kbench/verdict.h"
#include "libkbench/base/trace.h"

namespace kbench::judge {

/// How a runner failed to answer.
struct RunnerFailure {
  enum class Kind {
    timeout,    ///< no answer within the limit
    late,       ///< the time of all that is asked for has passed: end_with()
    memory,     ///< it held more host memory than allowed
    ended,      ///< it crashed or left
    wrote,      ///< it says that it wrote to what is mapped read-only: `given`, `place`, `bytes`
    killed,     ///< another process or the kernel killed it: not the candidate's fault
    starved,    ///< the system has no thread, process or memory left for it, or it no longer hears
                ///< the judge, or so it says
    cancelled,  ///< the request was cancelled
    malformed,  ///< its answer could not be read, or was of the wrong kind
    device,     ///< it says what is wrong with device or driver: `code`
  };
  Kind kind = Kind::ended;
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  int given = -1;  ///< a value's id; what a runner says against itself is believed
  runner::WriteFault::Place place = runner::WriteFault::Place::inside;
  uint64_t bytes = 0;  ///< beside it
};

/// Starts the program as a runner, which gets ready and takes nothing of the device until it is
/// told to open it; that is done before anything else is asked. Starting one, and every request,
/// throws RunnerFailure where no proper answer comes; the runner is dead then.
class RunnerProcess {
 public:
  struct Options {
    std::string program;
    std::string device;  ///< a selector
    bool validate = false;
    int64_t host_bytes = 0;  ///< most memory of its own beyond what opening the device took
    /// Runners are forked from it while it lives; null: each is a new process.
    std::shared_ptr<process::Prototype> prototype = nullptr;
    /// Runs the Python of their candidates; null: each starts a server of its own.
    std::shared_ptr<runner::PythonServer> python = nullptr;
    std::stop_token cancelled = {};      ///< once requested, every request fails
    process::Deadline* total = nullptr;  ///< once passed, every request fails; null: none
    /// It is one of these until its device is open.
    std::shared_ptr<process::PausableProcesses> pausable =
        std::make_shared<process::PausableProcesses>();
  };
  /// An eager runner, or one that opens as any of the other kinds.
  RunnerProcess(runner::RunnerKind kind, const Options& options);
  /// A process that has made what every runner needs before it opens a device: the compiler's
  /// tables, a fifth of a second's work. It never opens a device itself.
  static std::shared_ptr<process::Prototype> make_prototype(const Options& options);

  /// Tells it to open the device, unless it has been told. Does not wait.
  void begin_open() { begin_open(kind_); }
  /// The same, as another kind than it was started for.
  void begin_open(runner::RunnerKind kind);
  bool told_to_open() const { return told_to_open_; }
  runner::RunnerKind kind() const { return kind_; }
  /// A new runner with the same options, not told to open the device yet.
  std::unique_ptr<RunnerProcess> another(runner::RunnerKind kind) const {
    return std::make_unique<RunnerProcess>(kind, options_);
  }
  /// Waits until it is ready for a candidate: the device is open, and the last candidate forgotten.
  /// Tells the runner to open it first, if it was not told yet.
  void wait_open(const std::string& device_uuid);
  /// The same with a limit: whether it is ready within that time.
  bool opens_within(std::chrono::milliseconds wait, const std::string& device_uuid);
  /// Describes its lock-in; valid once it is open.
  const std::string& lock() const { return lock_; }

  template <class M>
  void send(const M& message, std::span<const UniqueFd> descriptors = {}) {
    send(static_cast<uint32_t>(M::kKind), runner::encode(message), descriptors);
  }
  /// The answer, of one of two kinds: nothing when the candidate is refused, which `refused` says.
  template <class M>
  std::optional<M> receive(double seconds, runner::Refused& refused) {
    const process::Frame frame = receive_frame(seconds);
    if (frame.kind == static_cast<uint32_t>(runner::MessageKind::refused)) {
      refused = decode<runner::Refused>(frame);
      if (!is_candidates_fault(refused.verdict)) {
        fail(RunnerFailure::Kind::malformed, "the runner refused the candidate for no fault of it");
      }
      return std::nullopt;
    }
    return expect<M>(frame);
  }
  template <class M>
  M receive(double seconds) {
    return expect<M>(receive_frame(seconds));
  }

  /// How files are brought while an answer is waited for; throws Error for what is refused.
  using Files = std::function<std::optional<std::string>(const std::string& path)>;
  void set_files(Files files) { files_ = std::move(files); }
  /// From now on the candidate's code may have been executed: messages must be short, and the
  /// runner may not ask for files.
  void has_run() { has_run_ = true; }
  bool ran() const { return has_run_; }

  /// Sends the message and notes what the runner has imported then.
  void attach(const Attachment& attachment);
  /// Whether it has imported what the store holds no more.
  bool holds_dropped(const SlabStore& store) const;
  /// Tells it to give that back, and does not wait.
  void begin_release(const SlabStore& store);
  /// Waits until it has given that back, if anything.
  void release_memory(const SlabStore& store, double seconds = kAttachSeconds);
  /// SlabStore::Memory::id of all that it has imported, in its order.
  const std::vector<uint64_t>& imported() const { return imported_; }

  /// The candidate it served ended as it should; the next one is the same author's. Tells it to
  /// forget this one, and does not wait. While the next one is compiled and another runner's runs
  /// are timed it is paused, as the author's code has run in it.
  void hand_on(const std::string& author);
  /// Whose candidates it has served; empty: nobody's.
  const std::string& author() const { return author_; }
  int served() const { return served_; }  ///< candidates before the present one
  /// Host memory that it took since its device was open, bytes.
  int64_t grown_bytes() const { return process_->own_bytes() - idle_bytes_; }

  /// From now on every wait for it, and for another(), ends soon after a stop is requested.
  void end_when(std::stop_token cancelled) { options_.cancelled = std::move(cancelled); }
  /// The same once the request's time is up, which must outlive that; null: no longer.
  void end_with(process::Deadline* total) { options_.total = total; }
  /// Once requested, a wait of more than a second throws StillCompiling, and the answer is still to
  /// come.
  void leave_for(std::stop_token others) { others_ = std::move(others); }
  /// Waits so long for the answer to what was sent last: false if there is none yet. What the
  /// answer is, or that none will come, is for receive() to find.
  bool answers_within(std::chrono::milliseconds wait);
  /// No more than half of what the machine has free: its memory killer must not come first.
  void set_host_bytes(int64_t bytes);
  /// Keeps threads that it starts from now on off two processors, where there are more than four;
  /// or lets them have all again.
  void spare_processors(bool spare);
  /// Whether it is paused while something is timed: for work that no trial waits for.
  void stand_by(bool stand);
  /// Its Python has opened the device: it is no longer paused. To be called before any code of a
  /// candidate runs, as its server then stops and resumes it.
  void python_opened() { opening_python_.remove(); }

  /// While held, none of its threads runs. Only for software devices, whose shaders are threads of
  /// the runner.
  void hold() { process_->stop(); }
  void release() { process_->resume(); }
  /// Sends it the signal that ends it, and does not wait.
  void begin_kill() { process_->begin_kill(); }
  bool ended() { return process_->poll().ended; }
  pid_t id() const { return process_->id(); }
  /// After begin_kill(): until the driver has taken back what it held, or some seconds.
  void wait_end();

 private:
  void send(uint32_t kind, const std::string& payload, std::span<const UniqueFd> descriptors);
  process::Frame receive_frame(double seconds);
  std::optional<process::Frame> next_frame();
  void trace_answer(uint32_t kind) const;
  bool holds_too_much() const;
  void bring_file(const process::Frame& frame);
  bool is_ready() const { return idle_bytes_ >= 0 && !forgets_; }
  void ready(const process::Frame& frame, const std::string& device_uuid);
  [[noreturn]] void fail(RunnerFailure::Kind kind, const std::string& message);
  [[noreturn]] void fail_ended();
  [[noreturn]] void fail_as_said();
  [[noreturn]] void fail_failed(const process::Frame& frame);

  template <class M>
  M decode(const process::Frame& frame) {
    try {
      return runner::decode<M>(frame.payload);
    } catch (const Error& e) {
      fail(RunnerFailure::Kind::malformed, e.message());
    }
  }
  template <class M>
  M expect(const process::Frame& frame) {
    if (frame.kind == static_cast<uint32_t>(runner::MessageKind::failed)) {
      fail_failed(frame);
    }
    if (frame.kind != static_cast<uint32_t>(M::kKind)) {
      fail(RunnerFailure::Kind::malformed, "the runner answered with a message of another kind");
    }
    return decode<M>(frame);
  }

  runner::RunnerKind kind_;
  std::pair<UniqueFd, UniqueFd> ends_;
  std::unique_ptr<process::ChildProcess> process_;
  process::Channel channel_;
  Options options_;
  std::stop_token others_;
  std::optional<process::Frame> early_;  ///< received by answers_within()
  Files files_;
  trace::Clock::time_point sent_;  ///< when it was asked last
  std::string lock_;
  int64_t idle_bytes_ = -1;
  bool told_to_open_ = false;
  bool forgets_ = false;  ///< it has yet to say that it has forgotten the last candidate
  process::PausableProcesses::Entry standing_by_, opening_python_;
  bool has_run_ = false;
  std::vector<uint64_t> imported_;
  std::string author_;
  int served_ = 0;
};

}  // namespace kbench::judge
