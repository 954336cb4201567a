// What a judge and a runner say to each other: one message a struct, JSON in a frame of its kind.
//
// A runner serves one program: a task's eager baseline (the opponent; it may be given one task
// after another) or one candidate. The judge asks, the runner answers each request with one
// message; only while it loads a candidate does it ask back, for the candidate's files. What a
// candidate's runner says is trusted before its first run, when no line of the candidate has been
// executed, and checked afterwards: a Ran is two numbers that the judge's clock must bear out.
//
//   judge                     runner
//   Open                      Opened                          device open, locked in; until then
//                                                             the process gets ready and takes
//                                                             nothing of the device
//   Load                      ReadFile* ... Loaded            parsed; File answers a ReadFile
//   Build | Prepare           Built                           resolved, compiled; or baseline ready
//                                                             (a second Build is for other sizes)
//   Attach + descriptors      Attached                        shared memory imported; a first part
//                                                             may come before Build, unanswered
//   Select                    Selected                        which configurations run from now on
//   Run                       Ran                             setup or dispatch, between timestamps
//                                                             (Refused where validation objects)
//   Profile                   Profiled                        dispatch, each step timed
// Any request may be answered by Refused (the candidate's fault) or Failed (somebody else's).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/vulkan/shared_memory.h"
#include "kbench/error.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/tensor.h"

namespace kbench::runner {

/// The descriptor a runner finds its channel on.
inline constexpr int kChannelDescriptor = 3;
/// The role of a process that runners are copied from. As long as the longest of theirs, which
/// takes its place where processes are listed.
inline constexpr char kPrototypeRole[] = "prototype";

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
  select,
  selected,
};

/// No message of a candidate's that has run may be longer, bytes.
inline constexpr size_t kMostBytesOnceRun = 64 << 10;
/// Any other message, bytes; a candidate's files are the longest.
inline constexpr size_t kMostBytes = size_t{64} << 20;

struct Open {
  static constexpr MessageKind kKind = MessageKind::open;
  bool cuda = false;  ///< for candidates with kernels in CUDA, PTX or Triton too
};

struct Opened {
  static constexpr MessageKind kKind = MessageKind::opened;
  std::string device_uuid;
  std::string lock;  ///< what holds the runner in, as text
};

struct Load {
  static constexpr MessageKind kKind = MessageKind::load;
  std::string manifest;  ///< name of the YAML file in the candidate's folder
  std::string folder;    ///< as messages show it
};

struct ReadFile {
  static constexpr MessageKind kKind = MessageKind::read_file;
  std::string path;  ///< relative to the candidate's folder
};

/// Either an error, or there is no such file, or its bytes.
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
  bool needs_cuda = false;    ///< Open has to have said so, where the device takes such kernels
  bool needs_python = false;  ///< it can be built once: Python ends before there is any memory
};

/// The loaded candidate at the task's sizes.
struct Build {
  static constexpr MessageKind kKind = MessageKind::build;
  TaskAt at;
  double seconds = 0;  ///< for compiling
};

/// A task's eager baseline, held to the float64 reference first unless that has been done.
struct Prepare {
  static constexpr MessageKind kKind = MessageKind::prepare;
  TaskAt at;
  uint64_t seed = 0;  ///< of the tensors it is held to the reference on
  /// Slabs that stay imported, by their indices until now; in this order they are the first that
  /// the next Attach counts. All others are given back.
  std::vector<int> kept;
  bool verified = false;  ///< it has been, on this device and by this build
  /// Where compiled pipelines are kept from run to run, and what they hold for; empty: nowhere.
  std::string cache_folder, cache_subject;
};

/// Memory that a program wants besides the task's own tensors.
struct Wanted {
  std::string name;
  DType dtype = DType::f32;
  uint64_t bytes = 0;
  bool setup = false;                ///< written by setup, read-only in dispatch
  std::vector<uint32_t> words = {};  ///< not empty: what it holds, and the candidate may only read
};

/// A kernel of dispatch that was compiled in several ways, the first of which runs until a Select.
struct Tunable {
  std::string kernel;
  std::vector<std::string> configs;  ///< as a TunedConfig's text
};

struct Built {
  static constexpr MessageKind kKind = MessageKind::built;
  std::vector<Wanted> wanted;  ///< a candidate's temporaries and scratch; the baseline's arena
  std::vector<std::string> kernels;  ///< a candidate's, by name
  bool has_setup = false;
  bool asks_lengths = false;   ///< a kernel asks how long a buffer is
  std::string float16_kernel;  ///< name of a kernel that computes in float16, or empty
  std::string approximations;  ///< "kernel tanh uses tanh.approx.f32", or empty
  double compile_s = 0;
  std::vector<Diagnostic> diagnostics;
  std::vector<Tunable> tunable;
  /// What launches it: "vulkan" command lists, or "cuda", NVIDIA's own driver, whose hand-over
  /// takes longer (Run::empty tells how long).
  std::string lane = "vulkan";
};

/// Which of its configurations each Tunable runs with.
struct Select {
  static constexpr MessageKind kKind = MessageKind::select;
  std::vector<uint32_t> configs;
};

struct Selected {
  static constexpr MessageKind kKind = MessageKind::selected;
};

/// A tensor's place in the shared memory.
struct Place {
  int slab = 0;
  uint64_t offset = 0, bytes = 0;
  bool operator==(const Place&) const = default;
};

/// Where everything lies. The descriptors of `slabs` come with the message, in order; they are
/// counted on from those that a Prepare kept. With `more` it is a first part, imported while the
/// program is built and not answered; the slabs of the second are counted on from it.
struct Attach {
  static constexpr MessageKind kKind = MessageKind::attach;
  struct Slab {
    uint64_t bytes = 0;
    uint32_t memory_type = 0;
    bool read_only = false;
  };
  std::vector<Slab> slabs;
  std::vector<Place> given;    ///< inputs, parameters and constants, by value id; else empty
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
  /// Buffers are bound without the redzones behind them, where a device with bounds checks drops
  /// what is stored there and gives zeros: tells what a wrong result comes from, and is no sample.
  bool exact = false;
  /// Everything but the steps: caches are made cold and the device is handed over for nothing. Of
  /// what the "cuda" lane launches, while none of it has run.
  bool empty = false;
  double seconds = 0;  ///< after which the runner gives up
};

/// Device times, nanoseconds.
struct Ran {
  static constexpr MessageKind kKind = MessageKind::ran;
  double flush_ns = 0;  ///< making the caches cold
  double run_ns = 0;
};

/// Dispatch's steps, each timed. What it takes in all differs from a Run: timestamps hold steps
/// apart.
struct Profile {
  static constexpr MessageKind kKind = MessageKind::profile;
  double seconds = 0;  ///< after which the runner gives up
};

/// No more steps are told apart; the last holds the rest.
inline constexpr size_t kMostProfiledSteps = 1024;

struct Profiled {
  static constexpr MessageKind kKind = MessageKind::profiled;
  std::vector<double> step_ns;
};

/// The candidate cannot be run, by its own fault.
struct Refused {
  static constexpr MessageKind kKind = MessageKind::refused;
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
  std::vector<Diagnostic> diagnostics;
  bool size = false;  ///< for the size of a buffer alone: all else has been looked at
};

/// Something else went wrong: device, driver, machine, kbench.
struct Failed {
  static constexpr MessageKind kKind = MessageKind::failed;
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// A message's payload, and back. Reading throws kParse for anything that is not such a message.
template <class M>
std::string encode(const M& message);
template <class M>
M decode(std::string_view payload);

}  // namespace kbench::runner
