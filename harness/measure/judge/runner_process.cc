#include "harness/measure/judge/runner_process.h"

#include <sched.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/measure/judge_protocol/protocol.h"
#include "harness/measure/process/cgroups.h"
#include "harness/measure/process/channel.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/runner.h"
#include "harness/measure/trial/slab_layout.h"
#include "libkbench/base/text.h"

namespace kbench::judge {
namespace {

constexpr std::chrono::milliseconds kLookEvery(20);
constexpr double kOpenSeconds = 60;

const char* role_of(runner::RunnerKind kind) {
  return kind == runner::RunnerKind::eager ? runner::kEagerRole : runner::kCandidateRole;
}

process::Spawn spawn_of(const char* role, const RunnerProcess::Options& options) {
  process::Spawn spawn;
  spawn.program = options.program;
  spawn.arguments = {"runner-process", role, options.device};
  if (options.validate) spawn.arguments.emplace_back("validate");
  spawn.environment = runner::sanitized_environment();
  return spawn;
}

/// Runs `make`; a failure is the system's, not the candidate's.
template <class Make>
auto made(Make make) {
  try {
    return make();
  } catch (const Error& e) {
    throw RunnerFailure{RunnerFailure::Kind::starved, ErrorCode::kInternal,
                        std::string("a runner cannot be started: ") + e.what()};
  }
}

std::unique_ptr<process::ChildProcess> start(runner::RunnerKind kind,
                                             const RunnerProcess::Options& options,
                                             const UniqueFd& channel) {
  const bool python = kind != runner::RunnerKind::eager && options.python;
  const UniqueFd helper = python ? made([&] { return options.python->connect(); }) : UniqueFd();
  std::vector<int> given = {channel.get()};
  if (helper.open()) given.push_back(helper.get());
  try {
    if (options.prototype) return options.prototype->copy(role_of(kind), given);
  } catch (const Error&) {  // The prototype may have been killed; a new process does as well.
  }
  process::Spawn spawn = spawn_of(role_of(kind), options);
  spawn.descriptors = {{channel.get(), runner::kChannelDescriptor}};
  if (helper.open()) spawn.descriptors.emplace_back(helper.get(), runner::kPythonDescriptor);
  spawn.empty_folder = true;
  return made([&] { return std::make_unique<process::ChildProcess>(spawn); });
}

}  // namespace

RunnerProcess::RunnerProcess(runner::RunnerKind kind, const Options& options)
    : kind_(kind),
      ends_(made(process::make_socket_pair)),
      process_(start(kind, options, ends_.second)),
      channel_(std::move(ends_.first)),
      options_(options) {
  ends_.second.reset();
  stand_by(true);  // Drivers may make channels as soon as they are loaded.
}

std::shared_ptr<process::Prototype> RunnerProcess::make_prototype(const Options& options) {
  return std::make_shared<process::Prototype>(spawn_of(runner::kPrototypeRole, options));
}

void RunnerProcess::begin_open(runner::RunnerKind kind) {
  if (std::exchange(told_to_open_, true)) return;
  kind_ = kind;
  send(runner::Open{kind});
}

void RunnerProcess::wait_open(const std::string& device_uuid) {
  if (is_ready()) return;
  begin_open();
  ready(receive_frame(kOpenSeconds), device_uuid);
}

bool RunnerProcess::opens_within(std::chrono::milliseconds wait, const std::string& device_uuid) {
  if (is_ready()) return true;
  begin_open();
  std::optional<process::Frame> frame;
  try {
    frame = channel_.receive(wait, runner::kMostBytes);
  } catch (const Error& e) {
    fail(RunnerFailure::Kind::malformed, e.message());
  }
  if (frame) {
    trace_answer(frame->kind);
    ready(*frame, device_uuid);
  } else if (channel_.ended() || process_->poll().ended) {
    fail_ended();
  }
  return frame.has_value();
}

void RunnerProcess::ready(const process::Frame& frame, const std::string& device_uuid) {
  if (std::exchange(forgets_, false)) {
    expect<runner::Forgotten>(frame);
    return;
  }
  const auto opened = expect<runner::Opened>(frame);
  if (opened.device_uuid != device_uuid) {
    fail(RunnerFailure::Kind::malformed, "the runner opened another device than the judge");
  }
  stand_by(false);
  if (opened.python > 0) opening_python_ = options_.pausable->add(opened.python);
  lock_ = opened.lock;
  idle_bytes_ = process_->own_bytes();
}

void RunnerProcess::attach(const Attachment& attachment) {
  send(attachment.message, attachment.descriptors);
  imported_ = attachment.memories();
}

bool RunnerProcess::holds_dropped(const SlabStore& store) const {
  return std::ranges::any_of(imported_, [&](uint64_t id) { return !store.holds(id); });
}

void RunnerProcess::begin_release(const SlabStore& store) {
  Attachment kept(imported_, store);
  kept.message.more = true;  // What follows is not a second part to what was imported before.
  attach(kept);
}

void RunnerProcess::release_memory(const SlabStore& store, double seconds) {
  if (!holds_dropped(store)) return;
  begin_release(store);
  attach(Attachment::second_part(imported_));
  receive<runner::Attached>(seconds);
}

void RunnerProcess::hand_on(const std::string& author) {
  author_ = author;
  ++served_;
  has_run_ = false;
  release();  // On a software device it stands still since its last run.
  send(runner::Forget{});
  forgets_ = true;
  stand_by(true);
}

void RunnerProcess::wait_end() {
  constexpr std::chrono::milliseconds kPatience(10000);
  process_->finish(kPatience);
}

void RunnerProcess::set_host_bytes(int64_t bytes) {
  const int64_t free = process::available_host_bytes();
  options_.host_bytes = free > 0 ? std::min(bytes, free / 2) : bytes;
}

void RunnerProcess::spare_processors(bool spare) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  constexpr int kSpared = 2, kEnough = 4;
  if (spare && CPU_COUNT(&all) > kEnough) {
    for (int cpu = 0, left = kSpared; cpu < CPU_SETSIZE && left > 0; ++cpu) {
      if (!CPU_ISSET(cpu, &all)) continue;
      CPU_CLR(cpu, &all);
      --left;
    }
  }
  sched_setaffinity(process_->id(), sizeof all, &all);
}

void RunnerProcess::stand_by(bool stand) {
  standing_by_ =
      stand ? options_.pausable->add(process_->id()) : process::PausableProcesses::Entry();
}

void RunnerProcess::fail(RunnerFailure::Kind kind, const std::string& message) {
  process_->kill();
  throw RunnerFailure{kind, ErrorCode::kInternal, message};
}

void RunnerProcess::fail_ended() {
  // A channel that has closed is a process about to end.
  constexpr std::chrono::milliseconds kGrace(2000);
  const process::Exit exit = process_->finish(kGrace);
  std::string message = "the runner " + std::string(exit.signal ? "was " : "") + describe(exit);
  const std::string said = process_->last_words();
  if (!said.empty()) message += "; its last words: " + said;
  if (exit.status == runner::kWriteFaultStatus) {
    const runner::WriteFault fault = runner::write_fault_of(said);
    throw RunnerFailure{RunnerFailure::Kind::wrote,
                        ErrorCode::kInternal,
                        message,
                        fault.tensor,
                        fault.place,
                        fault.bytes};
  }
  if (exit.status == runner::kStarvedStatus) {
    throw RunnerFailure{RunnerFailure::Kind::starved, ErrorCode::kInternal,
                        "the system has no thread, process or memory left for the runner: " + said};
  }
  // A runner ends so when its channel to the judge is closed or broken: not the candidate's fault.
  if (exit.signal == 0 && (exit.status == runner::kNotHeardStatus || exit.status == 0)) {
    throw RunnerFailure{RunnerFailure::Kind::starved, ErrorCode::kInternal, message};
  }
  const bool outside = process::ended_from_outside(exit);
  throw RunnerFailure{outside ? RunnerFailure::Kind::killed : RunnerFailure::Kind::ended,
                      ErrorCode::kInternal, message};
}

/// Called if sending fails: a runner that ended early may have sent the reason, such as no device.
void RunnerProcess::fail_as_said() {
  std::optional<process::Frame> frame;
  try {
    frame = channel_.receive(std::chrono::milliseconds(0), runner::kMostBytesOnceRun);
  } catch (const Error&) {  // Nothing that can be read.
  }
  if (frame && frame->kind == static_cast<uint32_t>(runner::MessageKind::failed)) {
    fail_failed(*frame);
  }
  fail_ended();
}

void RunnerProcess::fail_failed(const process::Frame& frame) {
  const auto failed = decode<runner::Failed>(frame);
  throw RunnerFailure{RunnerFailure::Kind::device, failed.code, failed.message};
}

void RunnerProcess::send(uint32_t kind, const std::string& payload,
                         std::span<const UniqueFd> descriptors) {
  std::vector<int> list;
  for (const UniqueFd& each : descriptors) list.push_back(each.get());
  sent_ = trace::Clock::now();
  try {
    channel_.send(kind, payload, list);
  } catch (const Error&) {
    fail_as_said();
  }
}

/// Adds to the timeline what the runner did since it was asked.
void RunnerProcess::trace_answer(uint32_t kind) const {
  if (!trace::on()) return;
  using runner::MessageKind;
  static const std::map<MessageKind, const char*> kDone = {{MessageKind::opened, "open the device"},
                                                           {MessageKind::loaded, "load"},
                                                           {MessageKind::built, "compile"},
                                                           {MessageKind::attached, "import memory"},
                                                           {MessageKind::ran, "run"},
                                                           {MessageKind::profiled, "profile"},
                                                           {MessageKind::forgotten, "forget"},
                                                           {MessageKind::refused, "refuse"}};
  const auto done = kDone.find(static_cast<MessageKind>(kind));
  if (done == kDone.end()) return;
  const std::string what = kind_ == runner::RunnerKind::eager ? "baseline " : "runner ";
  trace::add(done->second, sent_, trace::Clock::now(),
             {process_->id(), what + std::to_string(process_->id())});
}

/// What comes within a moment, if anything does.
std::optional<process::Frame> RunnerProcess::next_frame() {
  if (early_) return std::exchange(early_, std::nullopt);
  try {
    return channel_.receive(kLookEvery, has_run_ ? runner::kMostBytesOnceRun : runner::kMostBytes);
  } catch (const Error& e) {
    fail(RunnerFailure::Kind::malformed, e.message());
  }
}

bool RunnerProcess::holds_too_much() const {
  return idle_bytes_ >= 0 && process_->own_bytes() - idle_bytes_ > options_.host_bytes;
}

bool RunnerProcess::answers_within(std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    early_ = next_frame();
    process_->output();  // Keeps its pipe from filling.
    if (early_ || channel_.ended() || process_->poll().ended || holds_too_much() ||
        options_.cancelled.stop_requested() || (options_.total && options_.total->passed())) {
      return true;
    }
    if (std::chrono::steady_clock::now() >= end) return false;
  }
}

process::Frame RunnerProcess::receive_frame(double seconds) {
  constexpr std::chrono::seconds kPatience(1);
  const auto start = std::chrono::steady_clock::now();
  process::Deadline deadline(seconds);
  for (;;) {
    if (options_.cancelled.stop_requested()) {
      fail(RunnerFailure::Kind::cancelled, "it was cancelled");
    }
    std::optional<process::Frame> frame = next_frame();
    if (frame && frame->kind == static_cast<uint32_t>(runner::MessageKind::read_file)) {
      bring_file(*frame);
      continue;
    }
    if (frame) {
      trace_answer(frame->kind);
      return *std::move(frame);
    }
    if (others_.stop_requested() && std::chrono::steady_clock::now() - start > kPatience) {
      throw StillCompiling();
    }
    process_->output();  // Keeps its pipe from filling.
    if (channel_.ended() || process_->poll().ended) fail_ended();
    if (options_.total && options_.total->passed()) {
      fail(RunnerFailure::Kind::late, "it takes too long in all");
    }
    if (deadline.passed()) {
      fail(RunnerFailure::Kind::timeout, "took longer than " + number_text(seconds) + " s");
    }
    if (holds_too_much()) {
      fail(RunnerFailure::Kind::memory,
           "held over " + trial::gigabytes(static_cast<uint64_t>(options_.host_bytes)) +
               " of host memory");
    }
  }
}

void RunnerProcess::bring_file(const process::Frame& frame) {
  if (!files_ || has_run_) {
    fail(RunnerFailure::Kind::malformed, "the runner asked for a file out of turn");
  }
  const auto request = decode<runner::ReadFile>(frame);
  runner::File file;
  try {
    if (auto bytes = files_(request.path)) {
      file.found = true;
      file.bytes = *std::move(bytes);
    }
  } catch (const Error& e) {
    file.refused = true;
    file.code = e.code();
    file.message = e.message();
  }
  send(file);
}

}  // namespace kbench::judge
