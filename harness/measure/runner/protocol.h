// The messages between judge and runner: one struct each, sent as JSON in a frame of its kind.
//
// A runner serves the candidates of one author, one after another, or the eager baseline of one
// task after another (RunnerKind). It answers each request of the judge with one message; while
// it loads a candidate it also requests the candidate's files from the judge. The judge trusts a
// candidate's runner before the first run, when no code of the author has been executed. Afterwards
// it checks: the times in Ran must agree with its clock.
//
//   judge                     runner
//   Open                      Opened                          device open, locked in; before it the
//                                                             process does not touch the device
//   Load                      ReadFile* ... Loaded            parsed; File answers a ReadFile
//   Build | Prepare           Built                           candidate compiled, or baseline ready
//                                                             (a second Build is for other sizes)
//   Attach + descriptors      Attached                        shared memory imported; a first part
//                                                             may come before Build, unanswered
//   Run                       Ran                             setup or dispatch, between timestamps
//                                                             (Refused if validation complains)
//   Profile                   Profiled                        dispatch, each step timed
//   Forget                    Forgotten                       the candidate is gone; next is Load
// Any request may be answered by Refused (the candidate's fault) or Failed (any other error).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/tensor.h"
#include "libkbench/base/enum_names.h"

namespace kbench::runner {

/// How a runner is started, what it opens, and what of it is believed. An eager runner is trusted.
/// Of the others the judge's clock bounds what they say (clock_rule.h); of a python3 nothing is
/// believed (docs/modelnew.md).
enum class RunnerKind {
  /// The eager baseline. Not locked in; opens the Vulkan device; timed by the device.
  eager,
  /// A candidate's kernels. Locked in; opens and is timed as above.
  vulkan,
  /// The same for kernels in CUDA C++, PTX or Triton, which CUDA's driver launches: the device is
  /// opened so that this driver starts in a process that is locked in (vulkan::OpenOptions::cuda).
  cuda,
  /// A ModelNew, by python3 with PyTorch: both processes are locked in and open the device by CUDA;
  /// timed by kbench's own clock around python3.
  torch,
};

constexpr std::string_view name_of(RunnerKind kind) {
  constexpr std::string_view kNames[] = {"eager", "vulkan", "cuda", "torch"};
  return name_in<RunnerKind::torch>(kNames, kind);
}

/// The descriptor of a runner's channel to the judge.
inline constexpr int kChannelDescriptor = 3;
/// That of its connection to the judge's Python server, if it has one.
inline constexpr int kPythonDescriptor = 4;
/// What a process is started as: an eager runner, one of the other kinds, or that which runners are
/// forked from. The last is not shorter than the others, which replace it in lists of processes.
inline constexpr char kEagerRole[] = "eager", kCandidateRole[] = "candidate",
                      kPrototypeRole[] = "prototype";

enum class MessageKind : uint32_t {
  opened = 1,
  load,
  read_file,
  file,
  loaded,
  build,
  prepare,
  built,
  attach,
  attached,
  run,
  ran,
  refused,
  failed,
  profile,
  profiled,
  open,
  forget,
  forgotten,
};

/// The longest message from a candidate's runner once it has run, bytes.
inline constexpr size_t kMostBytesOnceRun = 64 << 10;
/// The longest of all other messages, bytes: a candidate's file.
inline constexpr size_t kMostBytes = size_t{64} << 20;

struct Open {
  static constexpr MessageKind kKind = MessageKind::open;
  RunnerKind kind = RunnerKind::vulkan;
};

struct Opened {
  static constexpr MessageKind kKind = MessageKind::opened;
  std::string device_uuid;
  std::string lock;  ///< LockIn::text()
  /// The process that is to run a ModelNew, which is opening the device, too; 0: none.
  int32_t python = 0;
};

struct Load {
  static constexpr MessageKind kKind = MessageKind::load;
  std::string manifest;                      ///< name of the YAML file in the candidate's folder
  std::string folder;                        ///< as it is shown in messages
  std::vector<std::string> task_files = {};  ///< own_task_files() of the judge
};

struct ReadFile {
  static constexpr MessageKind kKind = MessageKind::read_file;
  std::string path;  ///< relative to the candidate's folder
};

/// The bytes of a file, or an error if `refused`, or nothing if not `found`.
struct File {
  static constexpr MessageKind kKind = MessageKind::file;
  bool found = false;
  std::string bytes;
  bool refused = false;
  ErrorCode code = ErrorCode::kIo;
  std::string message;
};

struct Loaded {
  static constexpr MessageKind kKind = MessageKind::loaded;
  TaskId task;
  std::string hash;
  RunnerKind kind = RunnerKind::vulkan;  ///< of the runner that it needs
  /// Its code runs in Python: its runner can build it once only, and must not have served another
  /// candidate.
  bool needs_python = false;
  std::vector<std::string> made_for;  ///< the candidate's requirements on sizes
};

/// Builds the loaded candidate at a size of its task.
struct Build {
  static constexpr MessageKind kKind = MessageKind::build;
  TaskAt at;
  double seconds = 0;         ///< for compiling
  bool full_headers = false;  ///< Rule::full_headers
  bool check = false;         ///< it will not run: a module is made all the same
};

/// Prepares a task's eager baseline, and compares it with the float64 reference if that has not
/// been done.
struct Prepare {
  static constexpr MessageKind kKind = MessageKind::prepare;
  TaskAt at;
  uint64_t seed = 0;      ///< of the tensors for that comparison
  bool verified = false;  ///< the comparison has been made on this device, by this build
  std::vector<std::string> task_files = {};  ///< as Load has them
};

/// Memory that a program needs besides the task's own tensors.
struct Wanted {
  std::string name;
  DType dtype = DType::f32;
  uint64_t bytes = 0;
  bool setup = false;  ///< written by setup, read-only in dispatch
  std::vector<uint32_t> words =
      {};  ///< if not empty, its content, which the candidate may only read
};

struct Built {
  static constexpr MessageKind kKind = MessageKind::built;
  std::vector<Wanted> wanted;  ///< a candidate's temporaries and scratch; the baseline's arena
  std::vector<std::string> kernels;  ///< a candidate's, by name
  bool has_setup = false;
  uint64_t stack_bytes = 0;    ///< of local memory that an invocation may leave something in
  bool asks_lengths = false;   ///< a kernel queries the length of a buffer
  std::string float16_kernel;  ///< name of a kernel that computes in float16, or empty
  std::string approximations;  ///< "kernel tanh uses tanh.approx.f32", or empty
  double compile_s = 0;
  std::vector<Diagnostic> diagnostics;
  /// What launches it: Vulkan's command lists; CUDA's own driver, whose hand-over takes longer
  /// (Run::empty measures it); or PyTorch in a process of its own, of which the same holds.
  RunnerKind launched_by = RunnerKind::vulkan;
  std::string version;  ///< of PyTorch, where that launches it
  /// Of a candidate's steps, for each of dispatch: what kbench does in it, an operator's name;
  /// empty for a kernel of its own.
  std::vector<std::string> library;
};

/// A tensor's place in the shared memory.
struct Place {
  int slab = 0;
  uint64_t offset = 0, bytes = 0;
};

/// The places of all tensors. Slabs that stay imported are named by their present indices and get
/// the first new ones, in the order of `kept`; all others are released. The descriptors of `slabs`
/// come with the message, in order, and their indices follow. With `more` it is a first part, which
/// is imported while the program is built and not answered; the second part keeps nothing itself,
/// and its slabs follow the first part's.
struct Attach {
  static constexpr MessageKind kKind = MessageKind::attach;
  struct Slab {
    uint64_t bytes = 0;
    uint32_t memory_type = 0;
    bool read_only = false;
  };
  std::vector<int> kept;
  std::vector<Slab> slabs;
  std::vector<Place> given;    ///< by value id; of intermediates empty
  std::vector<Place> outputs;  ///< by output index
  std::vector<Place> wanted;   ///< as Built::wanted
  bool more = false;
};

struct Attached {
  static constexpr MessageKind kKind = MessageKind::attached;
};

struct Run {
  static constexpr MessageKind kKind = MessageKind::run;
  bool setup = false;  ///< setup's steps, not dispatch's
  /// Buffers are bound without the redzones behind them. A device with bounds checks drops stores
  /// past their ends and loads zeros: such a run diagnoses a wrong result and is never a sample.
  bool exact = false;
  /// Everything but the steps: flushes the caches and hands the device over. Only for what CUDA's
  /// driver or PyTorch launches, before its first run.
  bool empty = false;
  double seconds = 0;  ///< after which the runner gives up
  // Of a module of PyTorch:
  int calls = 1;           ///< dispatch so many times, each on inputs of its own
  bool capture = false;    ///< in a CUDA graph, where that works
  bool own_clock = false;  ///< its process says what they took, too: Ran::own_ns
};

/// Nanoseconds: device times, but of a module of PyTorch the runner's own clock around its process.
struct Ran {
  static constexpr MessageKind kKind = MessageKind::ran;
  double flush_ns = 0;  ///< of the cache flush before the run
  double run_ns = 0;
  // Of a module of PyTorch:
  double other_ns = 0;                 ///< by the runner's clock: what it did beside the two
  bool captured = false;               ///< it was replayed as a CUDA graph, not called
  double own_ns = 0;                   ///< on the device, by its process's word
  std::vector<Diagnostic> notes = {};  ///< on extensions that it has built since
  double build_s = 0;                  ///< which took so long, and is no part of run_ns
};

/// Drops everything that the candidate made, but the imported memory: another one follows.
struct Forget {
  static constexpr MessageKind kKind = MessageKind::forget;
};

struct Forgotten {
  static constexpr MessageKind kKind = MessageKind::forgotten;
};

/// Times each of dispatch's steps. The sum differs from a Run, as timestamps separate the steps.
struct Profile {
  static constexpr MessageKind kKind = MessageKind::profile;
  double seconds = 0;    ///< after which the runner gives up
  bool profiler = true;  ///< of a module: by PyTorch's profiler, where nothing faster will do
};

/// The most entries of Profiled::step_ns; the last one holds all further steps.
inline constexpr size_t kMostProfiledSteps = 1024;

struct Profiled {
  static constexpr MessageKind kKind = MessageKind::profiled;
  std::vector<double> step_ns;
  std::vector<std::string> library;  ///< of a module: as in Built, for each; else empty
};

/// The candidate cannot be run, through its own fault.
struct Refused {
  static constexpr MessageKind kKind = MessageKind::refused;
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
  std::vector<Diagnostic> diagnostics = {};
  bool size = false;  ///< only because a buffer is too large: all else has been checked
};
inline Refused invalid(std::string message) {
  return {Verdict::invalid_candidate, std::move(message)};
}
inline Refused unsupported(std::string message) {
  return {Verdict::unsupported, std::move(message)};
}

/// An error of device, driver, machine or kbench.
struct Failed {
  static constexpr MessageKind kKind = MessageKind::failed;
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// A message's payload, and back. decode() throws kParse for a malformed one.
template <class M>
std::string encode(const M& message);
template <class M>
M decode(std::string_view payload);

}  // namespace kbench::runner
