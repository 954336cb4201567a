#include "harness/measure/runner/protocol.h"

#include "libkbench/scoring/json_fields.h"

namespace kbench::runner {

static void read_field(const JsonField& field, RunnerKind& kind) {
  kind = field.as([](std::string_view name) {
    const auto found = value_named(name, RunnerKind::torch);
    if (!found) throw Error(ErrorCode::kParse, "no kind of runner");
    return *found;
  });
}

KBENCH_FIELDS(Open, kind)
KBENCH_FIELDS(Opened, device_uuid, lock, python)
KBENCH_FIELDS(Load, manifest, folder, task_files)
KBENCH_FIELDS(ReadFile, path)
KBENCH_FIELDS(Loaded, task, hash, kind, needs_python, made_for)
KBENCH_FIELDS(Build, at, seconds, full_headers, check)
KBENCH_FIELDS(Prepare, task_files, at, seed, verified)
KBENCH_FIELDS(Wanted, name, dtype, bytes, setup, words)
KBENCH_FIELDS(Built, wanted, kernels, has_setup, stack_bytes, asks_lengths, float16_kernel,
              approximations, compile_s, diagnostics, launched_by, version, library)
KBENCH_FIELDS(Forget)
KBENCH_FIELDS(Forgotten)
KBENCH_FIELDS(Place, slab, offset, bytes)
KBENCH_FIELDS(Attach::Slab, bytes, memory_type, read_only)
KBENCH_FIELDS(Attach, kept, slabs, given, outputs, wanted, more)
KBENCH_FIELDS(Attached)
KBENCH_FIELDS(Run, setup, exact, empty, seconds, calls, capture, own_clock)
KBENCH_FIELDS(Ran, flush_ns, run_ns, other_ns, captured, own_ns, notes, build_s)
KBENCH_FIELDS(Profile, seconds, profiler)
KBENCH_FIELDS(Profiled, step_ns, library)
KBENCH_FIELDS(Refused, verdict, message, diagnostics, size)
KBENCH_FIELDS(Failed, code, message)

template <class M>
std::string encode(const M& message) {
  return json_line(message);
}

template <class M>
M decode(std::string_view payload) {
  return value_of_line<M>(payload, "a malformed message between judge and runner");
}

/// A file's bytes need not be text: a flag, an error's code, then bytes or message as they are.
template <>
std::string encode(const File& file) {
  std::string text;
  text += file.refused ? 'r' : file.found ? 'f' : 'n';
  text += static_cast<char>(file.code);
  return text + (file.refused ? file.message : file.bytes);
}

template <>
File decode(std::string_view payload) {
  const auto last = static_cast<char>(ErrorCode::kInternal);
  if (payload.size() < 2 || payload[1] < 0 || payload[1] > last) {
    throw Error(ErrorCode::kParse, "a malformed file between judge and runner");
  }
  File file;
  file.refused = payload[0] == 'r';
  file.found = payload[0] == 'f';
  file.code = static_cast<ErrorCode>(payload[1]);
  (file.refused ? file.message : file.bytes) = payload.substr(2);
  return file;
}

#define KBENCH_MESSAGE(M)                \
  template std::string encode(const M&); \
  template M decode(std::string_view);
KBENCH_MESSAGE(Open)
KBENCH_MESSAGE(Opened)
KBENCH_MESSAGE(Load)
KBENCH_MESSAGE(ReadFile)
KBENCH_MESSAGE(Loaded)
KBENCH_MESSAGE(Build)
KBENCH_MESSAGE(Prepare)
KBENCH_MESSAGE(Built)
KBENCH_MESSAGE(Attach)
KBENCH_MESSAGE(Attached)
KBENCH_MESSAGE(Run)
KBENCH_MESSAGE(Ran)
KBENCH_MESSAGE(Profile)
KBENCH_MESSAGE(Profiled)
KBENCH_MESSAGE(Forget)
KBENCH_MESSAGE(Forgotten)
KBENCH_MESSAGE(Refused)
KBENCH_MESSAGE(Failed)
#undef KBENCH_MESSAGE

}  // namespace kbench::runner
