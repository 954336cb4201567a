#include "harness/measure/runner/python_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "harness/measure/process/channel.h"
#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python/python_prototype.h"
#include "harness/measure/runner/python_group.h"
#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"
#include "harness/measure/runner/torch/bridge_library.h"
#include "harness/measure/runner/torch/kept_extensions.h"
#include "harness/measure/runner/torch/torch_process.h"
#include "kbench/error.h"
#include "libkbench/base/start_thread.h"
#include "libkbench/base/text.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kJob = 1, kAnswer = 2, kStart = 3, kAsk = 4, kEnd = 5, kConnect = 6, kBridge = 7;
constexpr size_t kMostFrameBytes = size_t{64} << 20;
constexpr size_t kMostTorchAnswer = size_t{4} << 20;
constexpr size_t kMostUnread = size_t{32} << 10;  ///< well below what a socket holds
constexpr uint64_t kMostMemory = uint64_t{8} << 30;
constexpr double kGraceSeconds = 10, kEndSeconds = 60;
constexpr const char* kNeedsBridge = R"({"error": "", "needs": "bridge"})";  // quick_build.py's
constexpr double kSearchSeconds = 180;  // for finding an interpreter and importing the package
constexpr auto kWatchInterval = std::chrono::milliseconds(200);
/// On a machine with many more threads than processors its thread may wait long to be run.
constexpr std::chrono::seconds kServerPatience(180);

/// Reads both until the answer's end or the end of its process. False if `watch`, called a few
/// times a second, returns false, or the answer is too long.
bool collect(pid_t child, int answer, int output, const std::function<bool()>& watch,
             std::string& answered, std::string& said) {
  auto next = std::chrono::steady_clock::now() + kWatchInterval;
  pollfd ends[2] = {{answer, POLLIN, 0}, {output, POLLIN, 0}};
  bool over = false;  // The process has ended; others that it started may keep the pipes open.
  while (ends[0].fd >= 0) {
    if (std::chrono::steady_clock::now() > next) {
      if (!watch()) return false;
      next = std::chrono::steady_clock::now() + kWatchInterval;
    }
    if (poll(ends, 2, over ? 0 : 50) <= 0) {
      if (over) return true;
      over = end_of(child).has_value();
      continue;
    }
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      char buffer[1 << 16];
      const ssize_t got = read(end.fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        end.fd = -1;
        continue;
      }
      std::string& to = &end == &ends[0] ? answered : said;
      to.append(buffer, static_cast<size_t>(got));
      if (&end == &ends[1] && to.size() > kMostPythonOutput)
        to.erase(0, to.size() - kMostPythonOutput);
      if (answered.size() > kMostFrameBytes / 2) return false;
    }
  }
  return true;
}

Json failure(ErrorCode code, const std::string& message) {
  return {{"code", static_cast<int>(code)}, {"message", message}};
}

/// A process that was started cannot be ended: nothing more is answered, so that the runner ends.
struct NotEnded {};

/// Each package's interpreter and prototype, of all connections. Thread-safe.
class Prototypes {
 public:
  struct Known {
    PythonInterpreter python;
    std::shared_ptr<PythonPrototype> prototype;
  };
  /// Throws kUnsupported where there is no such python3. What was found is known from then on; what
  /// was not is searched again, as a busy machine may keep an interpreter from answering.
  Known of(const std::string& package) {
    const std::lock_guard lock(mutex_);
    Known& known = known_[package];
    if (!known.prototype) {
      const PythonSearch search = find_python(package);
      if (!search.found) {
        throw Error(ErrorCode::kUnsupported,
                    "takes a python3" + (package.empty() ? "" : " with the package " + package) +
                        ", and none of this machine will do: " + search.tried +
                        "; KBENCH_PYTHON names another");
      }
      known.python = *search.found;
    }
    if (!known.prototype || known.prototype->ended()) {
      known.prototype = std::make_shared<PythonPrototype>(known.python, package);
    }
    return known;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

/// What extensions are compiled for: with another value they would be compiled anew.
std::pair<std::string, std::string> architecture_in(const Json& job) {
  return {"TORCH_CUDA_ARCH_LIST", job.at("architecture")};
}

/// What the libraries of extensions depend on.
std::string subject_of(const Json& script, const Json& text, const Json& architecture,
                       const PythonInterpreter& python) {
  const Json made_from = {script, text, architecture, python.program, python.version, python.cuda};
  return made_from.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A file in memory, to be read from its start. Throws kIo.
UniqueFd nameless_file(const std::string& text) {
  UniqueFd file(memfd_create("input", MFD_CLOEXEC));
  for (size_t written = 0; file.open() && written < text.size();) {
    const auto put = TEMP_FAILURE_RETRY(pwrite(file.get(), text.data() + written,
                                               text.size() - written, static_cast<off_t>(written)));
    if (put <= 0) throw Error(ErrorCode::kIo, "no memory for what python3 is to read");
    written += static_cast<size_t>(put);
  }
  if (!file.open()) throw Error(ErrorCode::kIo, "no file for what python3 is to read");
  return file;
}

/// How a job's process has ended.
struct EndedJob {
  bool done = false;     ///< it has answered in time
  bool reaped = false;   ///< by itself; else it was killed
  int status = 0;        ///< as waitpid() has it
  std::string answered;  ///< as it says
  std::string said;      ///< its output's last line
  std::string too_much;  ///< what it took more of than it may have
};

Json outcome_of(const Json& job, const EndedJob& ended) {
  const std::string whose = job.at("whose");
  if (!ended.too_much.empty()) return failure(ErrorCode::kUnsupported, ended.too_much);
  if (!ended.done) {
    const bool extensions = job.at("for_torch");
    return failure(ErrorCode::kTimeout, extensions ? "its extensions took longer than " +
                                                         number_text(job.at("seconds")) +
                                                         " s (six times --compile-seconds)"
                                                   : whose + " translation took too long");
  }
  if (ended.reaped && WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == kNoLock) {
    return failure(ErrorCode::kUnsupported,
                   "this system cannot hold " + whose +
                       " Python process in (Landlock and seccomp are needed)");
  }
  if (!ended.answered.empty()) return {{"answer", ended.answered}};
  const bool signalled = ended.reaped && WIFSIGNALED(ended.status);
  const process::Exit exit{.ended = ended.reaped,
                           .status = signalled ? 0 : WEXITSTATUS(ended.status),
                           .signal = signalled ? WTERMSIG(ended.status) : 0};
  // Its filter of system calls lets it send itself no such signal.
  if (process::ended_from_outside(exit)) {
    return failure(ErrorCode::kInternal,
                   whose + " process was " + describe(exit) + ", not by kbench");
  }
  return failure(ErrorCode::kCompile,
                 whose + " process " + (signalled ? "was " : "") +
                     (exit.ended ? describe(exit) : "closed its end") + " without an answer" +
                     (ended.said.empty() ? "" : "; its last words: " + ended.said));
}

/// Runs the job's script in the scratch folder and ends all that it started. Returns the answer or
/// a failure(). Ended early if the asking process is gone.
Json run_python(const Json& job, PythonPrototype& prototype, const PythonScratch& scratch,
                const process::Channel& asking) {
  for (const auto& [name, text] : job.at("files").items()) {
    scratch.write(name, text.get_ref<const std::string&>());
  }
  const UniqueFd input = nameless_file(job.at("input"));
  auto [answer_read, answer_write] = process::make_pipe();
  auto [output_read, output_write] = process::make_pipe();
  const pid_t child =
      prototype.fork_for({.script = job.at("script"),
                          .input = input.get(),
                          .output = output_write.get(),
                          .channel = answer_write.get(),
                          .host_bytes = kMostMemory,
                          .environment = {{"CUDA_VISIBLE_DEVICES", ""}, architecture_in(job)}},
                         scratch);
  answer_write.reset();
  output_write.reset();
  // A compiler gives way to what runs on the device. Where that waits for it, processors are free.
  constexpr int kLowPriority = 10;
  if (!job.at("meanwhile")) setpriority(PRIO_PROCESS, static_cast<id_t>(child), kLowPriority);
  std::optional<GroupGuard> guard;
  try {
    guard.emplace(child, scratch.path());
  } catch (const Error&) {
    end_group(child, kGraceSeconds);
    throw;
  }
  process::Deadline limit(job.at("seconds"));
  EndedJob ended;
  ended.done = collect(
      child, answer_read.get(), output_read.get(),
      [&] {
        guard->watch();
        ended.too_much = taken_too_much(child, scratch);
        return ended.too_much.empty() && !limit.passed() && !asking.closed();
      },
      ended.answered, ended.said);
  ended.said = process::last_line(ended.said, 300);
  // It ends by itself after its answer; then what it started is ended.
  process::Deadline deadline(ended.done ? 1 : 0);
  pid_t reaped = 0;
  while ((reaped = waitpid(child, &ended.status, WNOHANG)) == 0 && !deadline.passed()) usleep(1000);
  ended.reaped = reaped == child;
  if (!end_group(child, kGraceSeconds)) throw NotEnded();
  if (ended.too_much.empty()) ended.too_much = taken_too_much(child, scratch);
  return outcome_of(job, ended);
}

/// The server's side of one connection.
class Connection {
 public:
  Connection(UniqueFd socket, Prototypes& prototypes)
      : prototypes_(prototypes), channel_(std::move(socket)) {}

  void serve() {
    while (!channel_.ended()) {
      const auto wait = torch_ ? kWatchInterval : std::chrono::milliseconds(std::chrono::hours(24));
      auto frame = channel_.receive(wait, kMostFrameBytes);
      if (torch_ && !frame) torch_->watch();
      if (!frame) continue;
      Json answer;
      try {
        answer = frame->kind == kEnd ? end() : answer_to(*frame);
      } catch (const Error& e) {
        answer = failure(e.code(), e.message());
      }
      channel_.send(kAnswer, answer.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  }

 private:
  Json answer_to(const process::Frame& frame) {
    const Json question = Json::parse(frame.payload);
    switch (frame.kind) {
      case kJob:
        return job(question);
      case kBridge:
        return bridge(question);
      case kStart:
        return start(question);
      case kAsk:
        return ask(question, frame.descriptors);
      default:
        return failure(ErrorCode::kInternal, "the helper does not know what it is asked");
    }
  }

  Json ask(const Json& question, const std::vector<UniqueFd>& descriptors) {
    if (!torch_) return failure(ErrorCode::kInternal, "there is no PyTorch to be asked");
    scratch_used_ = true;
    std::vector<int> sent;
    for (const UniqueFd& each : descriptors) sent.push_back(each.get());
    const bool held = question.at("held"), spin = question.at("spin");
    if (held && spin && !std::exchange(shares_, true)) torch_->share_processors();
    const std::string& asked = question.at("text").get_ref<const std::string&>();
    // A socket holds some 200 KB, and a process that stands still does not read: the helper would
    // wait forever to send more. So the process goes on before it is sent a long question. Only
    // the list of its tensors is so long; that question is not timed.
    if (asked.size() > kMostUnread) torch_->release();
    const auto start = std::chrono::steady_clock::now();
    // It finds the question when it goes on.
    send_to_torch(asked, sent);
    torch_->release();
    process::Deadline deadline(question.at("seconds"));
    bool late = false;
    const auto text = wait_for_torch(deadline, spin, late);
    if (held) torch_->hold();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    Json answer = {{"answer", ""}, {"late", late}, {"ns", taken.count()}};
    if (text) answer["text"] = *text;
    if (!text && !late) {
      answer["last_words"] = torch_->last_words();
      answer["killed"] = torch_->killed();
    }
    return answer;
  }

  void send_to_torch(const std::string& text, const std::vector<int>& descriptors) {
    if (text.empty()) return;
    try {
      torch_channel_->send(0, text, descriptors);
    } catch (const Error&) {  // It has ended, which is found when its answer is waited for.
    }
  }

  /// Nothing if it ends, is `late`, or sends what is no message.
  std::optional<std::string> wait_for_torch(process::Deadline& deadline, bool spin, bool& late) {
    constexpr std::chrono::milliseconds kSpins(50);
    const auto start = std::chrono::steady_clock::now();
    auto watched = start;
    try {
      while (!torch_channel_->ended()) {
        const auto now = std::chrono::steady_clock::now();
        const bool spins = spin && now - start < kSpins;
        const auto wait = spins ? std::chrono::milliseconds(0) : std::chrono::milliseconds(50);
        if (auto frame = torch_channel_->receive(wait, kMostTorchAnswer)) {
          return std::move(frame->payload);
        }
        if (now - watched > kWatchInterval) {
          torch_->watch();
          watched = now;
          if (channel_.closed()) return std::nullopt;
        }
        if (deadline.passed()) {
          late = true;
          return std::nullopt;
        }
      }
    } catch (const Error&) {
    }
    return std::nullopt;
  }

  Json job(const Json& job) {
    const Prototypes::Known known = prototypes_.of(job.at("package"));
    if (job.at("meanwhile")) return build_extensions(job, known);
    if (job.at("for_torch")) return compile_extensions(job, known);
    PythonScratch scratch;
    Json answer = run_python(job, *known.prototype, scratch, channel_);
    scratch.remove();
    return answer;
  }

  /// Into the folder of the PyTorch process. At further sizes of the candidate all is there, and
  /// its code has run on the device: nothing is kept of what it may have changed since.
  Json compile_extensions(const Json& job, const Prototypes::Known& known) {
    const PythonInterpreter& python = known.python;
    const Json& text = job.at(job.at("made_from") == "" ? "input" : "made_from");
    const std::string subject = subject_of(job.at("script"), text, job.at("architecture"), python);
    if (extensions_of_ == subject) return {{"answer", extensions_answer_}};
    const bool first = !scratch_used_;
    const KeptExtensions kept(process::cache_folder(), subject);
    const auto extensions = [&] { return torch_scratch().folder("extensions"); };
    std::string answered = first ? kept.put_into(extensions().get()) : "";
    put_bridge(kept_bridge(python));
    scratch_used_ = true;
    if (answered.empty()) {
      const Json answer = build_extensions(job, known);
      const Json said =
          Json::parse(answer.value("answer", ""), nullptr, /*allow_exceptions=*/false);
      if (!said.is_object() || said.value("error", Json()) != Json("")) return answer;
      answered = answer.at("answer");
      if (first) kept.keep(extensions().get(), answered);
    }
    extensions_of_ = subject;
    extensions_answer_ = answered;
    return {{"answer", answered}};
  }

  /// Where it asks for the library that is not kept, that is made first.
  Json build_extensions(Json job, const Prototypes::Known& known) {
    const auto start = std::chrono::steady_clock::now();
    const double seconds = job.at("seconds");
    Json answer = run_python(job, *known.prototype, torch_scratch(), channel_);
    if (answer.value("answer", "") != kNeedsBridge || has_bridge_) return answer;
    const auto left = [&] {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      return std::max(seconds - taken.count(), 1.0);
    };
    put_bridge(made_bridge(known, left() / 2));
    job["seconds"] = left();
    return run_python(job, *known.prototype, torch_scratch(), channel_);
  }

  /// Into the folder of the PyTorch process, once.
  void put_bridge(const BridgeLibrary& library) {
    const bool there = !library.bytes.empty();
    if (has_bridge_ || (!there && library.missing.empty())) return;
    has_bridge_ = true;
    const UniqueFd folder = torch_scratch().folder("bridge");
    write_file_in(folder.get(), there ? "libkbench_torch.so" : "missing",
                  there ? library.bytes : library.missing);
  }

  BridgeLibrary made_bridge(const Prototypes::Known& known, double seconds) {
    return runner::made_bridge(known.python, seconds, [&](const Json& job) {
      PythonScratch scratch;
      Json answer = run_python(job, *known.prototype, scratch, channel_);
      scratch.remove();
      return answer;
    });
  }

  Json bridge(const Json& question) {
    return {{"answer", made_bridge(prototypes_.of("torch"), question.at("seconds")).missing}};
  }

  Json start(const Json& order) {
    const Prototypes::Known known = prototypes_.of("torch");
    const std::string uuid = order.at("device_uuid");
    auto [ours, theirs] = process::make_socket_pair();
    PythonStart start{.name = "driver.py",
                      .script = order.at("script"),
                      .channel = theirs.get(),
                      .host_bytes = order.at("host_bytes")};
    if (!uuid.empty()) start.devices = device_files(uuid);
    start.environment = {architecture_in(order),
                         {"CUDA_VISIBLE_DEVICES", uuid.empty() ? "" : "GPU-" + uuid}};
    torch_.emplace(*known.prototype, torch_scratch(), std::move(start));
    torch_channel_.emplace(std::move(ours));
    send_to_torch(order.at("question"), {});
    return {{"answer", ""}, {"process", torch_->id()}};
  }

  /// When it is answered, nothing is left of what was started.
  Json end() {
    if (torch_ && !torch_->end()) throw NotEnded();
    torch_.reset();
    scratch_.reset();
    return {{"answer", ""}};
  }

  const PythonScratch& torch_scratch() {
    if (!scratch_) scratch_.emplace();
    return *scratch_;
  }

  Prototypes& prototypes_;
  process::Channel channel_;
  std::optional<PythonScratch> scratch_;
  std::optional<TorchProcess> torch_;
  std::optional<process::Channel> torch_channel_;
  std::string extensions_of_;  ///< what those in its folder were made from; empty: there are none
  std::string extensions_answer_;  ///< what was said of them
  bool has_bridge_ = false;        ///< or what says why there is none
  bool scratch_used_ = false;      ///< a candidate's code may have run in the folder
  bool shares_ = false;            ///< TorchProcess::share_processors() was called
};

void serve_connection(UniqueFd socket, Prototypes& prototypes) {
  try {
    Connection(std::move(socket), prototypes).serve();
  } catch (const NotEnded&) {
  } catch (const std::exception&) {  // The asking process has ended.
  }
}

/// The server's main thread: it starts the others, and is the parent of all processes that have
/// lost theirs.
[[noreturn]] void serve_all(UniqueFd control) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  signal(SIGPIPE, SIG_IGN);
  try {
    Prototypes prototypes;
    process::Channel channel(std::move(control));
    while (!channel.ended()) {
      auto frame = channel.receive(std::chrono::hours(24), kMostFrameBytes);
      if (!frame || frame->descriptors.size() != 1) continue;
      try {
        start_thread<std::thread>([socket = std::move(frame->descriptors[0]),
                                   &prototypes]() mutable {
          serve_connection(std::move(socket), prototypes);
        }).detach();
      } catch (const Error&) {  // The connection is closed, which its other end sees.
      }
    }
  } catch (const std::exception&) {
  }
  _exit(0);  // What the threads have started is ended by its GroupGuard.
}

}  // namespace

void put_kept_extensions(const PythonInterpreter& python, const PythonJob& job,
                         const PythonScratch& scratch) {
  const std::string subject = subject_of(job.script, job.made_from, job.architecture, python);
  KeptExtensions(process::cache_folder(), subject).put_into(scratch.folder("extensions").get());
  const std::string bridge = kept_bridge(python).bytes;
  if (bridge.empty()) return;
  write_file_in(scratch.folder("bridge").get(), "libkbench_torch.so", bridge);
}

PythonServer::PythonServer() { start(); }

void PythonServer::start() {
  auto [ours, theirs] = process::make_socket_pair();
  pid_ = fork();
  if (pid_ < 0) throw Error(ErrorCode::kIo, "no process for Python's server");
  if (pid_ == 0) {
    constexpr int kControl = STDERR_FILENO + 1;
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(theirs.get(), kControl);
    close_range(kControl + 1, ~0u, 0);
    serve_all(UniqueFd(kControl));
  }
  control_.emplace(std::move(ours));
}

PythonServer::~PythonServer() {
  control_.reset();  // It ends at the end of its socket.
  TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, 0));
}

UniqueFd PythonServer::connect() {
  const std::lock_guard lock(mutex_);
  auto [ours, theirs] = process::make_socket_pair();
  if (control_->closed()) {  // Somebody has ended it.
    TEMP_FAILURE_RETRY(waitpid(pid_, nullptr, 0));
    start();
  }
  control_->send(kConnect, "", std::vector<int>{theirs.get()});
  return std::move(ours);
}

PythonHelper::PythonHelper() : own_server_(std::make_unique<PythonServer>()) {
  channel_.emplace(own_server_->connect(), kServerPatience);
}

PythonHelper::PythonHelper(UniqueFd connection) {
  channel_.emplace(std::move(connection), kServerPatience);
}

PythonHelper::~PythonHelper() { end(); }

std::string PythonHelper::run(const PythonJob& job) {
  const Json request = {{"package", job.package},     {"script", job.script},
                        {"input", job.input},         {"files", job.files},
                        {"seconds", job.seconds},     {"for_torch", job.for_torch},
                        {"whose", job.whose},         {"architecture", job.architecture},
                        {"meanwhile", job.meanwhile}, {"made_from", job.made_from}};
  return ask(kJob, request.dump(-1, ' ', false, Json::error_handler_t::replace),
             job.seconds + 2 * kGraceSeconds + kSearchSeconds)
      .at("answer");
}

std::string PythonHelper::prepare_bridge(double seconds) {
  const Json request = {{"seconds", seconds}};
  return ask(kBridge, request.dump(), seconds + 2 * kGraceSeconds + kSearchSeconds).at("answer");
}

pid_t PythonHelper::start_torch(const TorchOrder& order) {
  const Json request = {{"script", order.script},
                        {"device_uuid", order.device_uuid},
                        {"architecture", order.architecture},
                        {"host_bytes", order.host_bytes},
                        {"question", order.question}};
  return ask(kStart, request.dump(), kSearchSeconds).at("process");
}

TorchAnswer PythonHelper::ask_torch(const TorchQuestion& question,
                                    std::span<const int> descriptors) {
  const Json request = {{"text", question.text},
                        {"seconds", question.seconds},
                        {"held", question.held},
                        {"spin", question.spin}};
  const Json said = ask(kAsk, request.dump(-1, ' ', false, Json::error_handler_t::replace),
                        question.seconds + kGraceSeconds, descriptors);
  TorchAnswer answer{.late = said.at("late"),
                     .last_words = said.value("last_words", ""),
                     .killed = said.value("killed", false),
                     .ns = said.at("ns")};
  if (said.contains("text")) answer.text = said.at("text");
  return answer;
}

/// Sends a request and returns the answer. Throws what it says went wrong.
Json PythonHelper::ask(uint32_t kind, const std::string& text, double seconds,
                       std::span<const int> descriptors) {
  if (!channel_) throw Error(ErrorCode::kInternal, "Python's helper has been ended");
  channel_->send(kind, text, descriptors);
  const auto wait = std::chrono::duration<double>(seconds);
  const auto frame = channel_->receive(std::chrono::duration_cast<std::chrono::milliseconds>(wait),
                                       kMostFrameBytes);
  if (!frame) throw Error(ErrorCode::kInternal, "Python's helper gives no answer");
  Json answer = Json::parse(frame->payload, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object() && answer.contains("answer")) return answer;
  if (!answer.is_object() || !answer.contains("code")) {
    throw Error(ErrorCode::kInternal, "Python's helper gives a strange answer");
  }
  throw Error(static_cast<ErrorCode>(answer.at("code").get<int>()), answer.at("message"));
}

void PythonHelper::end() {
  if (!channel_) return;
  try {
    ask(kEnd, "", kEndSeconds);
  } catch (const Error& error) {
    // A process that outlives the helper could disturb the run, so there is no run.
    std::fprintf(stderr, "Python's helper failed to end what it started: %s\n", error.what());
    _exit(1);
  }
  channel_.reset();
  own_server_.reset();
}

}  // namespace kbench::runner
