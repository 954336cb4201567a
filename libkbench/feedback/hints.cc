// The tables of hints: by verdict, by what is known of the result, and by words of its message.
#include <algorithm>
#include <cctype>
#include <span>

#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

struct Hint {
  Verdict verdict;
  /// Words of kbench or a compiler in the message or a diagnostic; "" matches all. Hints with words
  /// or a condition come before the general ones.
  const char* word;
  const char* text;
  bool (*when)(const Facts& facts) = nullptr;  ///< null: always
};

bool races(const Facts& facts) { return facts.evidence.racing > 0; }

/// At most one element in a hundred, or a single one.
bool few_wrong(const Facts& facts) {
  constexpr int64_t kFew = 100;
  const Evidence& seen = facts.evidence;
  return seen.wrong > 0 && seen.wrong <= std::max<int64_t>(1, seen.elements / kFew);
}

/// No race and no warning was seen, so that only the usual cause can be named.
bool nothing_seen(const Facts& facts) {
  return !races(facts) &&
         std::ranges::none_of(facts.result.diagnostics,
                              [](const Diagnostic& each) { return each.severity == "warning"; });
}

constexpr const char* kRaces =
    "Two runs on the same inputs differ: let one invocation alone write an element, put barrier() "
    "between writing and reading shared memory, and let no workgroup read what another writes in "
    "the same step.";
constexpr const char* kModuleRaces =
    "Two runs on the same inputs differ: a kernel of yours races, or memory is read before it is "
    "written.";

/// For candidates of kernels and steps.
constexpr Hint kHints[] = {
    {Verdict::invalid_candidate, "Missing parenthesis",
     "Quote expressions that hold a comma: groups: [\"ceil_div(a, b)\"]. Unquoted, YAML splits "
     "them."},
    {Verdict::invalid_candidate, "not valid YAML",
     "Every line of a shader under `source: |`, #version too, is indented deeper than the key; a "
     "line that is not ends the block, and the error is reported further down. A shader in a file "
     "of its own avoids that."},
    {Verdict::invalid_candidate, "could not find expected",
     "A line of inline source that is not indented ends the block: indent all of it, #version "
     "too."},
    {Verdict::invalid_candidate, "declares binding",
     "bind: [a, b, c] is binding 0, 1, 2 of set 0, in that order; the shader declares exactly "
     "those."},
    {Verdict::invalid_candidate, "push",
     "push: gives the members of the shader's push_constant block their values in order; kinds and "
     "number must be the same."},
    {Verdict::invalid_candidate, "unknown key",
     "Keys: kbench, task, name, author, description, constants, kernels, temps, setup, dispatch; "
     "of a kernel: file or source, language, entry, constants, defines, specialization, of Triton "
     "num_warps, num_stages; of a step: kernel, bind, uniforms, push, groups, of CUDA kernel, "
     "grid, "
     "block, shared, bind, args; or op, in, out, attributes."},
    {Verdict::invalid_candidate, "bytes, but this step gives",
     "args are the kernel's parameters in order, behind those of bind: a buffer's name is a "
     "pointer, {i32: n} an int, {u64: n} a size_t, {f32: s} a float; of Triton those that are no "
     "tl.constexpr."},
    {Verdict::invalid_candidate, "which no constants give",
     "A tl.constexpr parameter gets its value from the kernel's constants of its name, from "
     "KB_<shape variable>, or from its default."},
    {Verdict::invalid_candidate, "system scope",
     "Use device scope: __threadfence(), cuda::thread_scope_device."},
    {Verdict::invalid_candidate, "no step of dispatch binds",
     "Each output of the task has to be bound by a step of dispatch, under its own name."},
    {Verdict::compile_error, "undeclared identifier",
     "Shape variables are macros with the prefix KB_ (KB_batch_size); constants of the candidate "
     "are macros under their own names; everything else the shader declares itself."},
    {Verdict::compile_error, "\" is undefined",
     "Shape variables are macros with the prefix KB_ (KB_batch_size); constants of the candidate "
     "are macros under their own names; everything else the source declares itself."},
    {Verdict::compile_error, "open source file",
     "There are the candidate's own files and the toolkit's device headers (cuda_fp16.h, mma.h, "
     "cooperative_groups.h); host headers are not, and their functions are not needed: fmaxf, "
     "expf, rsqrtf are built in."},
    {Verdict::compile_error, "power of 2",
     "Blocks of Triton have powers of two: give pow2(dim) as a constant, and mask what is beyond."},
    {Verdict::compile_error, "NameError",
     "A Triton kernel sees its parameters and tl.constexpr values of its file: give sizes as "
     "tl.constexpr parameters (KB_<shape variable>, or a constant of the kernel)."},
    {Verdict::compile_error, "#version",
     "A GLSL file begins with #version 450; nothing but comments may stand before it."},
    {Verdict::compile_error, "extension",
     "Types and functions beyond GLSL 4.50 need their #extension line behind #version."},
    {Verdict::compile_error, "no matching overloaded function",
     "GLSL's names are min, max, clamp, mix, abs, inversesqrt, fma; there is no erf and no rsqrt. "
     "Arguments must agree: int converts to uint and float by itself, float to int never."},
    {Verdict::compile_error, "cannot convert",
     "GLSL does not narrow by itself: write the cast, as in uint(x) or float(x)."},
    {Verdict::compile_error, "constant expression",
     "The size of an array must be a constant: a macro, a const or a specialization constant."},
    {Verdict::unsupported, "groups in",
     "Fold the groups: spread them over x and y, or let each workgroup loop over several tiles."},
    {Verdict::unsupported, "for one binding",
     "Push {address: NAME} and read through a buffer_reference instead of binding the tensor."},
    {Verdict::unsupported, "buffers, the device's limit",
     "Push {address: NAME} for some of the buffers."},
    {Verdict::unsupported, "shared memory",
     "Use smaller tiles in shared memory, or keep part of them in registers."},
    {Verdict::unsupported, "",
     "Stay within the device's limits: smaller workgroups, less shared memory, no optional "
     "feature."},
    {Verdict::out_of_memory, "its temporaries",
     "Use fewer or smaller temporaries, or reuse one when its last reader has run."},
    {Verdict::out_of_memory, "host memory",
     "The compiler or driver took the memory: less unrolling, smaller constant arrays."},
    {Verdict::timeout, "compiling",
     "Compiling took too long: less unrolling, fewer specialised kernels, loops in place of "
     "copies."},
    {Verdict::timeout, "",
     "Look for a loop that may not end: a bound read from data, a condition that waits for other "
     "workgroups. Workgroups are not guaranteed to run at the same time."},
    {Verdict::timeout, "",
     "A barrier() or __syncthreads() must be reached by every invocation of its workgroup: none "
     "may have returned before."},
    {Verdict::crashed, "",
     "Look for indices and addresses outside of buffers; on a CPU device such a store ends the "
     "process."},
    {Verdict::device_lost, "", "Look for endless loops, and for addresses outside of buffers."},
    {Verdict::not_written, "",
     "The output must be bound where the shader stores, and the group count above 0 in every "
     "dimension; a guard that returns too early has the same effect."},
    {Verdict::partly_written, "", kRaces, races},
    {Verdict::partly_written, "",
     "Groups times local size must reach every element: round up with ceil_div, and do not assume "
     "that sizes are multiples of the tile.",
     nothing_seen},
    {Verdict::partly_written, "",
     "Every element has to be reached by an invocation that stores it: see what the warnings and "
     "the pattern say of those that are not.",
     [](const Facts& facts) { return !nothing_seen(facts); }},
    {Verdict::not_finite, "", kRaces, races},
    {Verdict::not_finite, "",
     "Subtract the maximum before exp; keep a divisor from 0; the identity of max is the lowest "
     "float and not 0; write temporaries and shared memory before they are read."},
    {Verdict::all_zero, "", kRaces, races},
    {Verdict::all_zero, "",
     "The kernel writes and computes nothing: an accumulator that is never added to, a loop "
     "without turns, a wrong binding."},
    {Verdict::low_precision, "", kRaces, races},
    {Verdict::low_precision, "computes in float16",
     "Compute and accumulate in float32: the tolerance excludes float16 arithmetic."},
    {Verdict::low_precision, "",
     "Accumulate in float32, in several partial sums where there are many terms; avoid "
     "approximations of exp, tanh and erf."},
    {Verdict::wrong_values, "", kRaces, races},
    {Verdict::wrong_values, "", "Few elements are wrong: look at tails and at initial values.",
     few_wrong},
    {Verdict::wrong_values, "",
     "Check each index against the row-major strides of the shapes, barrier() between writing and "
     "reading shared memory, and whether every operator of the task is there."},
    {Verdict::input_modified, "",
     "Inputs and parameters are read only, and what setup wrote may not change in dispatch: write "
     "to temporaries and outputs."},
    {Verdict::interferes, "",
     "Join every stream and thread before forward() returns: nothing may run on the device "
     "afterwards."},
    {Verdict::not_general, "",
     "Take every size from KB_<shape variable> or an expression, never as a number, and test "
     "indices where a size is no multiple of a tile; or say with requires: what sizes it is made "
     "for."},
    {Verdict::impossible, "", "Compute all of every output in every run, from that run's inputs."},
    {Verdict::out_of_bounds, "past its end",
     "Test the index before storing: the last workgroup reaches past the end where sizes are no "
     "multiple of the local size."},
    {Verdict::out_of_bounds, "before its start",
     "An index became negative (as uint: very large): test it before it is used."},
    {Verdict::out_of_bounds, "",
     "Test every index before it is used to store, against the extents of what is stored to."},
};

/// For candidates that are a ModelNew.
constexpr Hint kModuleHints[] = {
    {Verdict::invalid_candidate, "unmatched parameters",
     "ModelNew has a parameter for each of the task's, of its name and shape, and no other: what "
     "is none of the task's weights is a buffer or a plain attribute."},
    {Verdict::invalid_candidate, "cannot be made",
     "The constructor takes the arguments that the task gives, in that order. It runs more than "
     "once; parameters hold the task's weights as soon as they are made."},
    {Verdict::invalid_candidate, "forward() returns",
     "forward() returns the task's output, a tensor of its shape; a tuple where there are "
     "several."},
    {Verdict::compile_error, "extension of its module",
     "What load_inline compiles is whole by itself: kernels in cuda_sources, a C++ function that "
     "launches them, its declaration in cpp_sources, its name in functions."},
    {Verdict::compile_error, "ModuleNotFoundError",
     "There are PyTorch, the packages it needs, and Python's standard library."},
    {Verdict::compile_error, "",
     "The one block is the whole file: imports, kernels, helpers and ModelNew."},
    {Verdict::out_of_memory, "",
     "Use fewer or smaller tensors at a time: fuse operators, work in place on tensors of your "
     "own, or go through the batch in parts."},
    {Verdict::timeout, "compiling",
     "Compiling took too long: fewer and smaller extensions, or Triton in place of CUDA C++."},
    {Verdict::timeout, "",
     "Look for a loop that may not end, for Python loops over elements, and for an autotuning of "
     "many configurations."},
    {Verdict::crashed, "same device", "Make tensors where the input is: device=x.device."},
    {Verdict::crashed, "illegal memory access",
     "A kernel reads or writes outside of its tensors: mask loads and stores, count in 64 bits, "
     "and call contiguous() on what it takes for dense."},
    {Verdict::crashed, "",
     "See which line fails. Inputs and weights can only be read: a write to them ends the process "
     "on a CPU. There are no files to write, no network and no other programs."},
    {Verdict::device_lost, "", "Look for endless loops, and for addresses outside of tensors."},
    {Verdict::not_finite, "",
     "Subtract the maximum before exp; keep a divisor from 0; what torch.empty gives holds "
     "anything until all of it is written."},
    {Verdict::not_finite, "", kModuleRaces, races},
    {Verdict::low_precision, "",
     "Accumulate in float32, in several partial sums; compute in no narrower type than the task's: "
     "no autocast, no TF32 (in Triton input_precision=\"ieee\" for tl.dot of float32)."},
    {Verdict::wrong_values, "", kModuleRaces, races},
    {Verdict::wrong_values, "", "Few elements are wrong: look at tails and at initial values.",
     few_wrong},
    {Verdict::wrong_values, "",
     "Compare each operator with the task's. Weights are written after the constructor has run, "
     "and each call has other inputs: nothing may be kept from either."},
    {Verdict::all_zero, "", "Is the kernel launched on the tensor that forward() returns?"},
    {Verdict::input_modified, "",
     "Inputs and weights are read only: no in-place operator (relu_, add_, out=) and no store to "
     "them."},
    {Verdict::interferes, "",
     "Join every stream and thread before forward() returns: nothing may run on the device "
     "afterwards."},
    {Verdict::not_general, "",
     "Take every size from the tensors' shapes or the constructor's arguments, never as a number, "
     "and mask what lies beyond a block."},
    {Verdict::impossible, "",
     "Compute all of every output in every call, from that call's inputs."},
    {Verdict::out_of_bounds, "",
     "A kernel stores outside of its tensors: mask stores, and round grids up, not down."},
};

/// For all candidates.
constexpr Hint kCommonHints[] = {
    {Verdict::missing, "", "There is no candidate file for this task."},
    {Verdict::does_not_fit, "", "Not the candidate's fault: the task needs a smaller preset here."},
    {Verdict::harness_error, "", "Not the candidate's fault: the same candidate may pass again."},
};

/// A message without quoted text, file and kernel names, which may hold any word.
std::string own_words(const std::string& text) {
  std::string words;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (!quoted) words += text[i];
  }
  if (quoted) words = text;  // it was an apostrophe
  constexpr std::string_view kKernel = "kernel ";
  for (size_t at = words.find(kKernel); at != std::string::npos; at = words.find(kKernel, at)) {
    at += kKernel.size();
    words.erase(at, words.find(' ', at) - at);
  }
  const size_t place = words.find(": ");
  const bool numbered = place != std::string::npos && place > 0 &&
                        std::isdigit(static_cast<unsigned char>(words[place - 1])) != 0;
  return numbered ? words.substr(place + 2) : words;
}

/// A single word may be a name in the candidate; several words are from a message.
bool is_name(std::string_view word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool says(const Result& result, std::string_view word) {
  const auto in = [&](const std::string& text) {
    return (is_name(word) ? own_words(text) : text).find(word) != std::string::npos;
  };
  return in(result.message) || std::ranges::any_of(result.diagnostics, [&](const Diagnostic& each) {
           return each.severity == "error" && in(each.message);
         });
}

}  // namespace

std::vector<std::string> hints_for(const Facts& facts, size_t most) {
  std::vector<std::string> hints;
  const auto add_from = [&](std::span<const Hint> table) {
    for (const bool special : {true, false}) {
      for (const Hint& hint : table) {
        const std::string_view word = hint.word;
        const bool is_special = !word.empty() || hint.when != nullptr;
        if (hint.verdict != facts.result.verdict || is_special != special) continue;
        if (!word.empty() && !says(facts.result, word)) continue;
        if (hint.when != nullptr && !hint.when(facts)) continue;
        if (hints.size() < most) hints.emplace_back(hint.text);
      }
    }
  };
  if (facts.module()) {
    add_from(kModuleHints);
  } else {
    add_from(kHints);
  }
  add_from(kCommonHints);
  return hints;
}

}  // namespace kbench
