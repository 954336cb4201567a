#include "harness/measure/runner/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/measure/cuda/toolkit.h"
#include "harness/measure/process/channel.h"
#include "harness/measure/process/prototype.h"
#include "harness/measure/runner/baseline.h"
#include "harness/measure/runner/candidate.h"
#include "harness/measure/runner/imported_memory.h"
#include "harness/measure/runner/kept_pipelines.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/protocol.h"
#include "harness/measure/runner/python_helper.h"
#include "harness/measure/runner/recordings.h"
#include "harness/measure/runner/torch/torch_host.h"
#include "harness/measure/runner/write_fault.h"
#include "harness/measure/vulkan/commands.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/device.h"
#include "harness/measure/vulkan/functions.h"
#include "harness/measure/vulkan/pipeline.h"
#include "kbench/error.h"
#include "kbench/task_file.h"

namespace kbench::runner {
namespace {

/// Thrown when nothing more can be heard from the judge: the process ends.
struct JudgeGone {
  std::string why;  ///< empty: it has closed the channel
};

[[noreturn]] void leave(int status, const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::fflush(nullptr);
  _exit(status);
}

/// Whether the device runs an empty kernel between timestamps within that time. A software device
/// whose driver could not start all its threads may accept work and never finish it. After false
/// the device must be neither used nor closed.
bool computes(vulkan::Device& device, double seconds) {
  const vulkan::Pipeline& nothing = device.pipelines().get_embedded({"void.comp", {}});
  vulkan::Commands commands(device, /*timestamps=*/2);
  commands.begin();
  commands.timestamp(0);  // lavapipe writes timestamps on other threads than it runs kernels on.
  commands.dispatch(nothing, {}, {}, {1, 1, 1});
  commands.timestamp(1);
  try {
    commands.submit_and_wait(seconds);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kTimeout) throw;
    return false;
  }
  return true;
}

static_assert(kChannelDescriptor == process::kCopyDescriptor);

/// The judge's Python server, or one that is forked while the process has one thread and may still
/// start programs.
std::unique_ptr<PythonHelper> python_helper() {
  if (fcntl(kPythonDescriptor, F_GETFD) < 0) return std::make_unique<PythonHelper>();
  return std::make_unique<PythonHelper>(UniqueFd(kPythonDescriptor));
}

class Server {
 public:
  Server(bool locked, const vulkan::OpenOptions& open);

  [[noreturn]] void serve() {
    for (;;) answer(receive());
  }
  template <class M>
  void send(const M& message) {
    try {
      channel_.send(static_cast<uint32_t>(M::kKind), encode(message));
    } catch (const Error& e) {
      throw JudgeGone{e.message()};
    }
  }

 private:
  process::Frame receive();
  void wait_to_open();
  void answer(process::Frame frame);
  void load(const Load& request);
  void build(const Build& request);
  void prepare(const Prepare& request);
  void attach(Attach request, std::vector<UniqueFd> descriptors);
  void begin_import(Attach first, std::vector<UniqueFd> descriptors);
  void run(const Run& request);
  void profile(const Profile& request);
  void forget();
  std::unique_ptr<ImportedMemory> take_memory(const std::vector<int>& kept);
  bool validation_objects();
  std::unique_ptr<ImportedMemory> new_memory() const;
  std::optional<std::string> read_file(const std::string& path);

  process::Channel channel_;
  std::unique_ptr<vulkan::Device> device_;
  std::unique_ptr<PythonHelper> python_;  ///< until the candidate is built, or as long as it runs
  std::unique_ptr<TorchHost> torch_;      ///< in a runner of that kind
  RunnerKind kind_ = RunnerKind::vulkan;
  std::optional<CandidateLoader> candidate_;
  std::optional<BaselineLoader> baselines_;
  // Each member may refer to those above it.
  std::unique_ptr<Program> program_;
  std::unique_ptr<ImportedMemory> memory_;
  std::future<std::unique_ptr<ImportedMemory>> importing_;  ///< the first part of an Attach
  std::optional<Recordings> recordings_;
  bool stacks_used_ = false;  ///< by a candidate before the present one
};

Server::Server(bool locked, const vulkan::OpenOptions& open)
    : channel_(UniqueFd(kChannelDescriptor)) {
  try {
    if (locked) python_ = python_helper();  // While no other descriptor has its number.
    vulkan::load_functions();  // Before the lock-in, which allows reading drivers only.
    const cuda::Toolkit toolkit =
        locked ? cuda::find_toolkit(cuda::toolkit_places()) : cuda::Toolkit{};
    const PipelineFiles pipelines = pipeline_files();
    std::vector<std::string> readable = toolkit.folders();
    if (pipelines.there()) readable.push_back(pipelines.path());
    LockIn lock({.readable = std::move(readable), .device = open.selector});
    if (locked) lock.before_open();
    device_ = vulkan::Device::open(open, [this](vulkan::OpenOptions& options) {
      wait_to_open();
      options.cuda = kind_ == RunnerKind::cuda || kind_ == RunnerKind::torch;
    });
    share_pipelines(*device_, pipelines,
                    locked ? PipelineFiles::Use::read : PipelineFiles::Use::write);
    constexpr double kSelfTestSeconds = 10;
    if (device_->snapshot().software() && !computes(*device_, kSelfTestSeconds)) {
      leave(kStarvedStatus, "the driver runs no kernel; it may have no threads");
    }
    recordings_.emplace(*device_);
    if (locked) {
      candidate_.emplace(*device_);
      if (kind_ == RunnerKind::torch) torch_ = std::make_unique<TorchHost>(*device_, *python_);
      lock.after_open(device_->snapshot().software());
    } else {
      baselines_.emplace(*device_);
      prctl(PR_SET_DUMPABLE, 0);  // The truth is here: no other process may look into it.
    }
    send(Opened{vulkan::to_string(device_->snapshot().device_uuid), lock.text(),
                torch_ ? torch_->process() : 0});
  } catch (const Error& e) {
    send(Failed{e.code(), e.what()});
    throw JudgeGone();
  } catch (const std::bad_alloc&) {
    leave(kStarvedStatus, "no memory is left to open the device");
  }
}

/// The first shader of a GLSL version takes the compiler a fifth of a second, later ones a
/// millisecond.
void warm_up_compiler() {
  vulkan::ShaderSource first;
  first.text = vulkan::embedded_shader("void.comp").value();
  first.optimize = false;
  vulkan::ShaderCompiler().compile(first);
}

/// Waits for the judge's Open: opening a device disturbs measurements on it. Everything that does
/// not touch the device runs before.
void Server::wait_to_open() {
  warm_up_compiler();
  uint32_t count = 0;  // Makes the loader map the drivers' libraries.
  vulkan::vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  const process::Frame frame = receive();
  if (static_cast<MessageKind>(frame.kind) != MessageKind::open) {
    throw Error(ErrorCode::kParse, "a request to a runner that has not opened its device");
  }
  kind_ = decode<Open>(frame.payload).kind;
}

process::Frame Server::receive() {
  constexpr std::chrono::hours kForever(24);
  for (;;) {
    try {
      if (auto frame = channel_.receive(kForever, kMostBytes)) return *std::move(frame);
    } catch (const Error& e) {
      throw JudgeGone{e.message()};
    }
    if (channel_.ended()) throw JudgeGone();
  }
}

void Server::answer(process::Frame frame) {
  try {
    switch (static_cast<MessageKind>(frame.kind)) {
      case MessageKind::load:
        return load(decode<Load>(frame.payload));
      case MessageKind::build:
        return build(decode<Build>(frame.payload));
      case MessageKind::prepare:
        return prepare(decode<Prepare>(frame.payload));
      case MessageKind::attach:
        return attach(decode<Attach>(frame.payload), std::move(frame.descriptors));
      case MessageKind::run:
        return run(decode<Run>(frame.payload));
      case MessageKind::forget:
        return forget();
      case MessageKind::profile:
        return profile(decode<Profile>(frame.payload));
      default:
        throw Error(ErrorCode::kParse, "a message of an unknown kind");
    }
  } catch (const Refused& refused) {
    send(refused);
  } catch (const Error& e) {
    send(Failed{e.code(), e.what()});
  } catch (const std::bad_alloc&) {  // Most likely because of what the candidate needs.
    send(Failed{ErrorCode::kOutOfMemory, "no host memory is left"});
  }
}

std::optional<std::string> Server::read_file(const std::string& path) {
  send(ReadFile{path});
  const process::Frame frame = receive();
  if (static_cast<MessageKind>(frame.kind) != MessageKind::file) {
    throw Error(ErrorCode::kParse, "an answer that is not a file");
  }
  File file = decode<File>(frame.payload);
  if (file.refused) throw Error(file.code, file.message);
  if (!file.found) return std::nullopt;
  return std::move(file.bytes);
}

/// An error in a candidate's file as the candidate's fault.
Refused refused_by(const Error& error) {
  const bool unsupported = error.code() == ErrorCode::kUnsupported;
  return {unsupported ? Verdict::unsupported : Verdict::invalid_candidate, error.what(),
          diagnostics_of(error)};
}

/// Drops command lists with their descriptor sets, pipelines and the driver's cache of them, places
/// and messages. The driver may take half a second.
void Server::forget() {
  stacks_used_ = program_ != nullptr || stacks_used_;
  recordings_->forget();
  program_.reset();
  if (importing_.valid()) memory_ = importing_.get();
  if (memory_) memory_->forget_places();
  report_write_faults({});
  device_->take_validation_messages();
  send(Forgotten{});
}

void Server::load(const Load& request) {
  Loaded loaded;
  try {
    set_task_files(request.task_files);
    loaded =
        candidate_.value().load(request, [&](const std::string& path) { return read_file(path); });
    try {
      find_task(loaded.task);
    } catch (const Error& e) {
      throw Error(e.code(), candidate_->task_at(), e.message());
    }
  } catch (const Error& e) {
    return send(refused_by(e));
  }
  if (!candidate_->needs_python() && !torch_) python_.reset();
  send(loaded);
}

void Server::build(const Build& request) {
  recordings_->forget();
  program_.reset();
  Refused refused;
  std::unique_ptr<Program> program;
  try {
    program = candidate_.value().build(request, {python_.get(), torch_.get()}, refused);
  } catch (const Error& e) {
    if (!torch_) python_.reset();
    if (e.location().file.empty()) throw;  // Not about a file of the candidate.
    refused = refused_by(e);
  }
  // Triton's Python code has ended before there is any memory.
  if (!torch_) python_.reset();
  if (!program) return send(refused);
  program_ = std::move(program);
  if (!validation_objects()) send(program_->built());
}

/// If the validation layer has complained, answers that the candidate is invalid and returns true.
/// Throws kInternal for the baseline.
bool Server::validation_objects() {
  const std::vector<std::string> said = device_->take_validation_messages();
  if (said.empty()) return false;
  const std::string message = "the validation layer says: " + shown(said.front(), 1000);
  if (!candidate_) throw Error(ErrorCode::kInternal, message);
  send(Refused{Verdict::invalid_candidate, message, {}});
  return true;
}

void Server::prepare(const Prepare& request) {
  recordings_->forget();
  program_.reset();
  set_task_files(request.task_files);
  program_ = baselines_.value().prepare(request);
  send(program_->built());
}

/// Keeps descriptors of a candidate's memory on a GPU: CUDA's driver may have to import it, for
/// this candidate or for one that follows; and for PyTorch's process.
std::unique_ptr<ImportedMemory> Server::new_memory() const {
  auto memory = std::make_unique<ImportedMemory>(*device_);
  if (candidate_ && (torch_ || !device_->snapshot().software())) memory->keep_descriptors();
  return memory;
}

/// The memory of the last Attach with only these slabs left.
std::unique_ptr<ImportedMemory> Server::take_memory(const std::vector<int>& kept) {
  recordings_->forget();
  if (importing_.valid()) memory_ = importing_.get();
  if (!memory_) memory_ = new_memory();
  memory_->keep(kept);
  return std::move(memory_);
}

/// Imports the first part of an Attach on another thread, as drivers take tens of milliseconds a
/// gigabyte.
void Server::begin_import(Attach first, std::vector<UniqueFd> descriptors) {
  if (python_ && !program_)
    throw Error(ErrorCode::kInternal, "memory while the candidate's Python code runs");
  struct Work {
    std::unique_ptr<ImportedMemory> memory;
    Attach first;
    std::vector<UniqueFd> descriptors;
  };
  auto memory = take_memory(first.kept);
  const auto work =
      std::make_shared<Work>(Work{std::move(memory), std::move(first), std::move(descriptors)});
  const auto import = [work] {
    work->memory->add(work->first, std::move(work->descriptors));
    return std::move(work->memory);
  };
  // Deferred if no thread can be started. `import` is passed as a copy, since libstdc++ moves it
  // even then.
  importing_ = std::async(std::launch::async | std::launch::deferred, import);
}

void Server::attach(Attach request, std::vector<UniqueFd> descriptors) {
  if (request.more) return begin_import(std::move(request), std::move(descriptors));
  auto memory = importing_.valid() ? importing_.get() : take_memory(request.kept);
  recordings_->forget();
  memory->add(request, std::move(descriptors));
  if (program_) {
    memory->check_types(program_->graph(), program_->built().wanted);
  }
  memory_ = std::move(memory);
  if (candidate_) report_write_faults(memory_->given());
  Lane* const lane = program_ ? program_->lane() : nullptr;
  if (lane && memory_->outputs().empty()) lane->release();
  if (lane && !memory_->outputs().empty()) lane->attach(*memory_);
  send(Attached{});
}

void Server::run(const Run& request) {
  if (!program_ || !memory_) throw Error(ErrorCode::kInternal, "nothing is there to run");
  Lane* const lane = program_->lane();
  if (request.empty && !lane) throw Error(ErrorCode::kInternal, "there is no lane to try");
  // Not while the candidate is loaded: another one may be timed then.
  if (std::exchange(stacks_used_, false)) recordings_->overwrite_stacks(request.seconds);
  const Pass pass{request.setup, request.exact};
  const auto start = std::chrono::steady_clock::now();
  if (lane && !request.empty) lane->prepare(request);
  vulkan::Commands& list = recordings_->of(*program_, pass, *memory_);
  list.submit_and_wait(request.seconds);
  if (validation_objects()) return;
  double ns = list.elapsed_ns(1, 2);
  if (lane) {
    ns = request.empty ? lane->run_empty(request.seconds)
                       : lane->run(request.setup, request.seconds);
  }
  Ran ran{.flush_ns = list.elapsed_ns(0, 1), .run_ns = ns};
  if (lane && lane->from_outside()) {
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
    ran.other_ns = all.count() - ran.flush_ns - ran.run_ns;
    lane->describe(ran);
  }
  send(ran);
}

void Server::profile(const Profile& request) {
  if (!program_ || !memory_) throw Error(ErrorCode::kInternal, "nothing is there to profile");
  if (Lane* lane = program_->lane()) {
    recordings_->of(*program_, {}, *memory_).submit_and_wait(request.seconds);
    return send(lane->profile(request));
  }
  const Profiled profiled{recordings_->profile(*program_, *memory_, request.seconds), {}};
  if (!validation_objects()) send(profiled);
}

}  // namespace

int run_runner(int argc, char** argv) {
  const bool served = fcntl(kChannelDescriptor, F_GETFD) >= 0;
  std::string role = argc > 0 ? argv[0] : "";
  if (!served || argc < 2 ||
      (role != kEagerRole && role != kCandidateRole && role != kPrototypeRole)) {
    std::fputs("kbench: 'runner' is for kbench's own use; see kbench --help\n", stderr);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    if (role == kPrototypeRole) {
      warm_up_compiler();
      vulkan::load_functions();
      role = process::serve_copies();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::string listed = role;  // The name in lists of processes.
      listed.resize(std::strlen(argv[0]));
      std::memcpy(argv[0], listed.data(), listed.size());
    }
    vulkan::OpenOptions open;
    open.selector = argv[1];
    open.validate = argc > 2 && std::string(argv[2]) == "validate";
    Server(role == kCandidateRole, open).serve();
  } catch (const JudgeGone& gone) {
    if (!gone.why.empty()) leave(kNotHeardStatus, gone.why.c_str());
  } catch (const std::system_error& e) {
    const bool no_thread = e.code() == std::errc::resource_unavailable_try_again;
    leave(no_thread ? kStarvedStatus : 1, e.what());
  } catch (const std::exception& e) {
    leave(1, e.what());
  }
  // Without destructors: after a device was lost they may hang.
  _exit(0);
}

}  // namespace kbench::runner
