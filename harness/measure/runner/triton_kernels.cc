// Triton kernels: what the process that translates them is asked, and what it answers.
#include <cstring>
#include <string>
#include <string_view>

#include "harness/measure/cuda/triton.h"
#include "harness/measure/runner/cuda_kernels.h"
#include "harness/measure/runner/resolved.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

/// Triton's name of a type of numbers: "fp32" for "f32", "i1" for "bool", else the same.
std::string triton_name(std::string_view name) {
  if (name == "bool") return "i1";
  return name.starts_with('f') ? "fp" + std::string(name.substr(1)) : std::string(name);
}

std::string triton_type(const ResolvedCandidate& candidate, const ResolvedArgument& argument) {
  if (argument.kind != PushItem::Kind::address) return triton_name(name_of(argument.kind));
  const BufferSlot& buffer = candidate.buffers[static_cast<size_t>(argument.buffer)];
  return "*" + triton_name(name_of(buffer.type.dtype));
}

/// The argument's type, and what Triton may assume of its value.
cuda::TritonArgument triton_argument(const ResolvedCandidate& candidate, const ResolvedStep& step,
                                     const ResolvedArgument& argument) {
  using Kind = PushItem::Kind;
  cuda::TritonArgument made{.type = triton_type(candidate, argument)};
  const bool integer = argument.kind == Kind::u32 || argument.kind == Kind::i32 ||
                       argument.kind == Kind::u64 || argument.kind == Kind::i64;
  uint64_t bits = 0;
  std::memcpy(&bits, step.push.data() + argument.offset, argument.size);
  // Tensors begin at multiples of 256 bytes; of an address, `bits` is the offset in the tensor.
  made.by16 = (argument.kind == Kind::address || integer) && bits % 16 == 0;
  made.one = integer && bits == 1;
  return made;
}

/// The request for a kernel, from all steps that launch it; nothing if their parameters differ in
/// type or number.
std::optional<cuda::TritonRequest> triton_request(const ResolvedCandidate& candidate,
                                                  size_t index) {
  const ResolvedKernel& resolved = candidate.kernels[index];
  cuda::TritonRequest request;
  request.entry = resolved.kernel->entry;
  request.constants = resolved.macros;
  request.num_warps = resolved.num_warps;
  request.num_stages = resolved.num_stages;
  bool first = true;
  for (const ResolvedStep* step : steps_of(candidate, index)) {
    if (!first && step->arguments.size() != request.arguments.size()) return std::nullopt;
    for (size_t i = 0; i < step->arguments.size(); ++i) {
      const cuda::TritonArgument made = triton_argument(candidate, *step, step->arguments[i]);
      if (first) {
        request.arguments.push_back(made);
        continue;
      }
      cuda::TritonArgument& known = request.arguments[i];
      if (known.type != made.type) return std::nullopt;
      known.by16 = known.by16 && made.by16;
      known.one = known.one && made.one;
    }
    first = false;
  }
  return request;
}

}  // namespace

/// Triton specializes a kernel for its arguments, so all steps that launch it have to agree.
void CudaCompilers::compile_triton(const ResolvedCandidate& candidate, size_t index, double seconds,
                                   std::string& ptx, CudaAttempt& attempt) {
  const Kernel& kernel = *candidate.kernels[index].kernel;
  const std::string name = at(kernel.at) + "kernel " + kernel.name;
  const auto refuse = [&](Refused refusal) { attempt.refusal = std::move(refusal); };
  if (!python_) return refuse(unsupported("Triton kernels are not translated here"));
  const std::string file = "kernel.py";
  auto request = triton_request(candidate, index);
  if (!request) return refuse(invalid(name + " is launched with parameters of different types"));
  request->device = capability();
  request->path = file;
  cuda::TritonAnswer answer;
  try {
    const std::string answered = python_->run({.package = "triton",
                                               .script = std::string(cuda::triton_script()),
                                               .files = {{file, kernel.source}},
                                               .input = cuda::encode(*request),
                                               .seconds = seconds});
    answer = cuda::decode_triton_answer(answered, *request);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kTimeout) return refuse({Verdict::timeout, e.message()});
    // The candidate's own Python module may have written a malformed answer.
    if (e.code() == ErrorCode::kParse) return refuse(invalid(name + ": " + e.message()));
    if (e.code() != ErrorCode::kCompile) throw;
    return refuse({Verdict::compile_error, name + ": " + e.message()});
  }
  if (answer.unsupported) return refuse(unsupported(name + ": " + answer.message));
  if (answer.invalid) return refuse(invalid(name + " " + answer.message));
  if (!answer.ok()) {
    const int line = answer.line > 0 ? kernel.first_line + answer.line - 1 : 0;
    attempt.diagnostics.push_back(
        {.severity = "error", .file = shown(kernel.file), .line = line, .message = answer.message});
    return refuse(
        {Verdict::compile_error, at(Location{shown(kernel.file), line, 0}) + answer.message});
  }
  ptx = std::move(answer.ptx);
  attempt.kernel.entry = std::move(answer.entry);
  attempt.kernel.triton = true;
  attempt.kernel.kept = std::move(answer.kept);
  attempt.kernel.shared_bytes = answer.shared_bytes;
  attempt.kernel.threads = 32 * answer.num_warps;
}

}  // namespace kbench::runner
