#include "harness/measure/runner/python_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "harness/measure/process/child_process.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/process/fd_pair.h"
#include "harness/measure/runner/lock_in.h"
#include "harness/measure/runner/python_group.h"
#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"

namespace kbench::runner {
namespace {

using Json = nlohmann::json;

constexpr uint32_t kJob = 1, kAnswer = 2;
constexpr size_t kMostFrameBytes = size_t{64} << 20;
constexpr int kAnswerDescriptor = 3;
constexpr int kNoLock = 97, kNoProgram = 98;  // exit statuses if python3 could not be started
constexpr uint64_t kMostMemory = uint64_t{8} << 30;
constexpr double kGraceSeconds = 10;
constexpr double kSearchSeconds = 60;  // for finding an interpreter
constexpr size_t kMostProcesses = 64;  // and 4 for each processor, as translations are parallel
constexpr auto kWatchInterval = std::chrono::milliseconds(200);

/// In the forked process: locks it in and executes python3.
[[noreturn]] void become_python(const PythonInterpreter& python, const PythonScratch& scratch,
                                int input, int output, int answer) {
  setpgid(0, 0);
  // Everything else is closed: the socket to the runner, the judge's channel.
  const int given = fcntl(answer, F_DUPFD, 10);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  dup2(given, kAnswerDescriptor);
  close_range(kAnswerDescriptor + 1, ~0u, 0);
  if (chdir(scratch.path().c_str()) != 0) _exit(kNoLock);
  LockIn lock({.parent = 0, .host_memory_bytes = kMostMemory, .readable = {}, .device = {}});
  if (!lock.for_python(python.readable, scratch.path())) _exit(kNoLock);
  const std::string home = "HOME=" + scratch.path(), temporary = "TMPDIR=" + scratch.path();
  const std::string cache = "TRITON_CACHE_DIR=" + scratch.path("cache");
  const std::string triton_home = "TRITON_HOME=" + scratch.path();
  const std::string script = scratch.path("script.py");
  const char* environment[] = {
      home.c_str(),         temporary.c_str(),           cache.c_str(),    triton_home.c_str(),
      "PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8", nullptr};
  const char* arguments[] = {python.program.c_str(), "-I", "-B", script.c_str(), nullptr};
  execve(python.program.c_str(), const_cast<char**>(arguments), const_cast<char**>(environment));
  _exit(kNoProgram);
}

/// Does not reap the child.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

/// Which limit the job exceeds; empty for none. It runs the candidate's own code.
std::string taken_too_much(pid_t group, const PythonScratch& scratch) {
  const size_t most = kMostProcesses + 4 * std::thread::hardware_concurrency();
  const std::string files = over_limit(scratch.path(), {});
  if (!files.empty()) {
    return "its Python file writes " + files + " into its scratch folder, the most that it may";
  }
  if (size_of_group(group) > most) {
    return "its Python file starts more than " + std::to_string(most) +
           " processes, the most that it may have at once";
  }
  return "";
}

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
      over = has_ended(child);
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

/// The interpreter for a package; each is searched once.
const PythonSearch& interpreter_for(const std::string& package) {
  static std::map<std::string, PythonSearch> known;
  auto at = known.find(package);
  if (at == known.end()) at = known.emplace(package, find_python(package)).first;
  return at->second;
}

/// Runs python3 in the scratch folder and ends all that it started. Returns the answer or a
/// failure().
Json run_python(const Json& job, const PythonInterpreter& python, const PythonScratch& scratch) {
  const auto write = [&](const std::string& name, const std::string& text) {
    replace_file(scratch.path(name), text, Sync::no);
  };
  write("script.py", job.at("script"));
  write("input", job.at("input"));
  for (const auto& [name, text] : job.at("files").items()) write(name, text);
  const UniqueFd input(open(scratch.path("input").c_str(), O_RDONLY | O_CLOEXEC));
  auto [answer_read, answer_write] = process::make_pipe();
  auto [output_read, output_write] = process::make_pipe();
  const pid_t child = fork();
  if (child == 0) {
    become_python(python, scratch, input.get(), output_write.get(), answer_write.get());
  }
  answer_write.reset();
  output_write.reset();
  if (child < 0) return failure(ErrorCode::kIo, "no process for python3");
  setpgid(child, child);
  std::optional<GroupGuard> guard;
  try {
    guard.emplace(child, scratch.path());
  } catch (const Error&) {
    end_group(child, kGraceSeconds);
    throw;
  }
  process::Deadline limit(job.at("seconds"));
  std::string answered, said, too_much;
  const bool done = collect(
      child, answer_read.get(), output_read.get(),
      [&] {
        too_much = taken_too_much(child, scratch);
        return too_much.empty() && !limit.passed();
      },
      answered, said);
  said = process::last_line(said, 300);
  int status = 0;
  // It ends by itself after its answer; then what it started is ended.
  process::Deadline deadline(done ? 1 : 0);
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && !deadline.passed()) usleep(1000);
  if (!end_group(child, kGraceSeconds)) _exit(1);  // The runner then sees that its helper failed.
  if (too_much.empty()) too_much = taken_too_much(child, scratch);
  if (!too_much.empty()) return failure(ErrorCode::kUnsupported, too_much);
  if (!done) return failure(ErrorCode::kTimeout, "Triton's translation took too long");
  if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) == kNoLock) {
    return failure(ErrorCode::kUnsupported,
                   "this system cannot hold Triton's Python process in (Landlock and seccomp are "
                   "needed)");
  }
  if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram) {
    return failure(ErrorCode::kUnsupported, "'" + shown(python.program) + "' cannot be run");
  }
  if (answered.empty()) {
    return failure(ErrorCode::kCompile, "Triton's process ended without an answer: " +
                                            (said.empty() ? "it said nothing" : said));
  }
  return {{"answer", answered}};
}

Json serve_job(const Json& job) {
  const std::string package = job.at("package");
  const PythonSearch& search = interpreter_for(package);
  if (!search.found) {
    return failure(ErrorCode::kUnsupported,
                   "takes a python3" + (package.empty() ? "" : " with the package " + package) +
                       ", and none of this machine will do: " + search.tried +
                       "; KBENCH_PYTHON names another");
  }
  PythonScratch scratch;
  Json answer = run_python(job, *search.found, scratch);
  scratch.remove();
  return answer;
}

[[noreturn]] void serve(UniqueFd socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  signal(SIGPIPE, SIG_IGN);
  try {
    process::Channel channel(std::move(socket));
    while (!channel.ended()) {
      const auto frame = channel.receive(std::chrono::hours(24), kMostFrameBytes);
      if (!frame) continue;
      Json answer;
      try {
        answer = serve_job(Json::parse(frame->payload));
      } catch (const Error& e) {
        answer = failure(e.code(), e.message());
      }
      channel.send(kAnswer, answer.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  } catch (const std::exception&) {  // The runner has ended.
  }
  _exit(0);
}

}  // namespace

PythonHelper::PythonHelper() {
  auto [ours, theirs] = process::make_socket_pair();
  pid_ = fork();
  if (pid_ < 0) throw Error(ErrorCode::kIo, "no process for Triton's helper");
  if (pid_ == 0) {
    ours.reset();
    serve(std::move(theirs));
  }
  channel_ = std::make_unique<process::Channel>(std::move(ours));
}

PythonHelper::~PythonHelper() { end(); }

std::string PythonHelper::run(const PythonJob& job) {
  if (!channel_) throw Error(ErrorCode::kInternal, "Triton's helper has been ended");
  const Json request = {{"package", job.package},
                        {"script", job.script},
                        {"input", job.input},
                        {"files", job.files},
                        {"seconds", job.seconds}};
  channel_->send(kJob, request.dump(-1, ' ', false, Json::error_handler_t::replace));
  const auto wait = std::chrono::duration<double>(job.seconds + 2 * kGraceSeconds + kSearchSeconds);
  const auto frame = channel_->receive(std::chrono::duration_cast<std::chrono::milliseconds>(wait),
                                       kMostFrameBytes);
  if (!frame) throw Error(ErrorCode::kInternal, "Triton's helper gives no answer");
  const Json answer = Json::parse(frame->payload, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object() && answer.contains("answer")) return answer.at("answer");
  if (!answer.is_object() || !answer.contains("code")) {
    throw Error(ErrorCode::kInternal, "Triton's helper gives a strange answer");
  }
  throw Error(static_cast<ErrorCode>(answer.at("code").get<int>()), answer.at("message"));
}

void PythonHelper::end() {
  if (pid_ < 0) return;
  channel_.reset();  // The helper ends at the end of its socket.
  int status = 0;
  const auto ended = TEMP_FAILURE_RETRY(waitpid(pid_, &status, 0));
  pid_ = -1;
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  // A process that outlives the helper could disturb the run, so there is no run.
  std::fputs("Triton's helper failed to end what it started\n", stderr);
  _exit(1);
}

}  // namespace kbench::runner
