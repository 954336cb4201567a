// The table of hints. A hint follows from what was found: words of kbench or of a compiler in the
// message or in an error, and clues (clues.cc). A new hint is a row here.
#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <span>

#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

/// The languages that a candidate is written in. A ModelNew may have kernels in CUDA or Triton,
/// too.
enum Written : unsigned {
  kGlsl = 1,
  kOtherShader = 2,
  kShader = kGlsl | kOtherShader,
  kCuda = 4,    ///< as kernels of steps
  kTriton = 8,  ///< as kernels of steps
  kSteps = kShader | kCuda | kTriton,
  kModule = 16,
  kModuleCuda = 32,
  kModuleTriton = 64,
  kAnyCuda = kCuda | kModuleCuda,
  kAnyTriton = kTriton | kModuleTriton,
  kAny = kSteps | kModule,
};

/// A set of verdicts.
constexpr uint64_t of(std::initializer_list<Verdict> verdicts) {
  uint64_t set = 0;
  for (const Verdict each : verdicts) set |= uint64_t{1} << static_cast<unsigned>(each);
  return set;
}
constexpr uint64_t kReading = of({Verdict::invalid_candidate});
constexpr uint64_t kCompiling = of({Verdict::compile_error});
constexpr uint64_t kUnsupported = of({Verdict::unsupported});
constexpr uint64_t kMemory = of({Verdict::out_of_memory});
constexpr uint64_t kTime = of({Verdict::timeout});
constexpr uint64_t kCrash = of({Verdict::crashed});
constexpr uint64_t kPrecision = of({Verdict::low_precision});
constexpr uint64_t kModified = of({Verdict::input_modified});
constexpr uint64_t kBounds = of({Verdict::out_of_bounds});
constexpr uint64_t kUnwritten = of({Verdict::not_written, Verdict::partly_written});
constexpr uint64_t kWrong =
    of({Verdict::not_finite, Verdict::all_zero, Verdict::low_precision, Verdict::wrong_values}) |
    kUnwritten;
constexpr uint64_t kPython = kReading | kCompiling | kCrash;

struct Hint {
  unsigned written;   ///< in any of these
  uint64_t verdicts;  ///< one of these
  /// What the message or an error says, alternatives separated by '|'; "" where that does not
  /// matter. A single word counts outside of quotes and names only.
  const char* says;
  Clue (*clue)(const Facts& facts);  ///< null: none is asked for
  const char* text;                  ///< {} stands for the clue's words
};

/// Hints that know the cause, those that are closest to it first.
constexpr Hint kCauses[] = {
    // the form of a candidate
    {kSteps, kReading, "Missing parenthesis", nullptr,
     "Quote expressions that hold a comma: groups: [\"ceil_div(a, b)\"]. Unquoted, YAML splits "
     "them."},
    {kSteps, kReading, "not valid YAML", nullptr,
     "Every line of a shader under `source: |`, #version too, is indented deeper than the key; a "
     "line that is not ends the block, and the error is reported further down. A shader in a file "
     "of its own avoids that."},
    {kSteps, kReading, "could not find expected", nullptr,
     "A line of inline source that is not indented ends the block: indent all of it, #version "
     "too."},
    {kSteps, kReading, "declares binding", nullptr,
     "bind: [a, b, c] is binding 0, 1, 2 of set 0, in that order; the shader declares exactly "
     "those."},
    {kSteps, kReading, "push", nullptr,
     "push: gives the members of the shader's push_constant block their values in order; kinds and "
     "number must be the same."},
    {kSteps, kReading, "unknown key", nullptr,
     "Keys: kbench, task, name, author, description, constants, kernels, temps, setup, dispatch; "
     "of a kernel: file or source, language, entry, constants, defines, specialization, of Triton "
     "num_warps, num_stages; of a step: kernel, bind, uniforms, push, groups, of CUDA kernel, "
     "grid, block, shared, bind, args; or op, in, out, attributes."},
    {kCuda | kTriton, kReading, "bytes, but this step gives", nullptr,
     "args are the kernel's parameters in order, behind those of bind: a buffer's name is a "
     "pointer, {i32: n} an int, {u64: n} a size_t, {f32: s} a float; of Triton those that are no "
     "tl.constexpr."},
    {kTriton, kReading, "which no constants give", nullptr,
     "A tl.constexpr parameter gets its value from the kernel's constants of its name, from "
     "KB_<shape variable>, or from its default."},
    {kTriton, kReading, "parameters, but its step gives", nullptr,
     "args are the kernel's parameters in order, without those that are tl.constexpr."},
    {kTriton, kReading, "takes more parameters than", nullptr,
     "args are the kernel's parameters in order, without those that are tl.constexpr: one of these "
     "lacks its annotation, or an argument is missing."},
    {kCuda, kReading, "no __global__ function", nullptr,
     "The file has the kernel alone, as a __global__ function; the step of dispatch launches it, "
     "with grid and block."},
    {kCuda, kReading, "system scope", nullptr,
     "Use device scope: __threadfence(), cuda::thread_scope_device."},
    {kSteps, kReading, "no step of dispatch binds", nullptr,
     "Each output of the task has to be bound by a step of dispatch, under its own name."},
    // CUDA where there is none, and other element types
    {kAny, kUnsupported, "launches no CUDA kernels", nullptr,
     "CUDA and Triton need a GPU of NVIDIA's, and this device is none: write the kernel in GLSL, "
     "or choose another device (`kbench devices` lists them)."},
    {kModule, kUnsupported, "has no CUDA", nullptr,
     "This device is no GPU of NVIDIA's: leave out what is compiled for CUDA, or choose another "
     "device (`kbench devices` lists them)."},
    {kModule, kPython | kUnsupported,
     "not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs are available", nullptr,
     "The module asks for CUDA, and this device has none: make tensors where the input is "
     "(device=x.device), without cuda()."},
    {kAny, kUnsupported, "the candidate is written for", nullptr,
     "The candidate's `dtype:` says which element types its kernels are written for, and the task "
     "was asked for in another: ask for it with --dtype, or change kernels and `dtype:`."},
    {kShader, kUnsupported, "16-bit", nullptr,
     "float16 is not there on this device, or not in this way: where the task is in f32, compute "
     "in float."},
    // limits of the device
    {kSteps, kUnsupported, "groups in", nullptr,
     "Fold the groups: spread them over x and y, or let each workgroup loop over several tiles."},
    {kSteps, kUnsupported, "for one binding", nullptr,
     "Push {address: NAME} and read through a buffer_reference instead of binding the tensor."},
    {kSteps, kUnsupported, "buffers, the device's limit", nullptr,
     "Push {address: NAME} for some of the buffers."},
    {kAnyCuda, kUnsupported, "bytes of shared memory of its own", nullptr,
     "More than 48 KiB of shared memory are given by the launch: an extern __shared__ array, and "
     "`shared` in the step; or take smaller tiles."},
    {kSteps, kUnsupported, "shared memory", nullptr,
     "Use smaller tiles in shared memory, or keep part of them in registers."},
    {kCuda, kUnsupported, "threads, the limit is", nullptr,
     "A block has 1024 threads at most, in all its dimensions together: take a smaller block, and "
     "more of them in the grid."},
    {kCuda, kUnsupported, "registers a thread", nullptr,
     "Too many registers for so many threads: a smaller block, or __launch_bounds__(threads) in "
     "front of the kernel."},
    {kShader, kUnsupported, "invocations", nullptr, "Take a smaller local size, and more groups."},
    {kSteps, kMemory, "its temporaries", nullptr,
     "Use fewer or smaller temporaries, or reuse one when its last reader has run."},
    {kAny, kMemory, "host memory", nullptr,
     "The compiler or driver took the memory: less unrolling, smaller constant arrays."},
    // compilers: shaders, and names that are not known
    {kGlsl, kCompiling, "", lacks_extension,
     "{}, behind #version: without it the name is not known, and that is what the error says."},
    {kGlsl, kCompiling, "", speaks_cuda, "{} in GLSL."},
    {kAnyCuda, kCompiling,
     "\"half\" is undefined|\"__half\" is undefined|\"half2\" is undefined|\"__half2\" is "
     "undefined",
     nullptr, "half and its functions are in <cuda_fp16.h>: include it."},
    {kAnyCuda, kCompiling, "nv_bfloat16", nullptr,
     "bfloat16 and its functions are in <cuda_bf16.h>: include it."},
    {kSteps, kCompiling, "undeclared identifier|\" is undefined", names_a_variable,
     "Perhaps {} is meant: shape variables are macros with that prefix."},
    {kSteps, kCompiling, "undeclared identifier|\" is undefined", nullptr,
     "Shape variables are macros with the prefix KB_ (KB_batch_size); constants of the candidate "
     "are macros under their own names; everything else the source declares itself."},
    {kGlsl | kAnyCuda, kCompiling, "expecting COMMA or SEMICOLON|expected a \";\"", nullptr,
     "Perhaps a semicolon is missing in that line, or at the end of the one before."},
    {kGlsl, kCompiling, "#version", nullptr,
     "A GLSL file begins with #version 450; nothing but comments may stand before it."},
    {kGlsl, kCompiling, "extension", nullptr,
     "Types and functions beyond GLSL 4.50 need their #extension line behind #version."},
    {kGlsl, kCompiling, "no matching overloaded function", nullptr,
     "GLSL's names are min, max, clamp, mix, abs, inversesqrt, fma; there is no erf and no rsqrt. "
     "Arguments must agree: int converts to uint and float by itself, float to int never."},
    {kGlsl, kCompiling, "cannot convert", nullptr,
     "GLSL does not narrow by itself: write the cast, as in uint(x) or float(x)."},
    {kGlsl, kCompiling, "array size must be", nullptr,
     "The size of an array must be a constant: a macro, a const or a specialization constant."},
    {kGlsl, kCompiling, "can't modify", nullptr,
     "What is const, readonly or an input cannot be written to: copy it to a variable first."},
    // compilers: CUDA C++
    {kCuda, kCompiling, "torch/extension.h|ATen/|c10/", nullptr,
     "Only the __global__ kernel is compiled, without PyTorch: the step of dispatch gives it plain "
     "pointers, and launches it. C++ around it with torch::Tensor belongs into a ModelNew."},
    {kCuda, kCompiling, "open source file", nullptr,
     "There are the candidate's own files and the toolkit's device headers (cuda_fp16.h, mma.h, "
     "cooperative_groups.h); host headers are not, and their functions are not needed: fmaxf, "
     "expf, rsqrtf are built in."},
    // compilers: Triton
    {kAnyTriton, kCompiling | kCrash, "power of 2", nullptr,
     "Blocks of Triton have powers of two: take the next power (in a manifest pow2(dim) as a "
     "constant), and mask what is beyond."},
    {kAnyTriton, kCompiling, "NameError", nullptr,
     "A Triton kernel sees its parameters and tl.constexpr values of its file: give sizes as "
     "tl.constexpr parameters (KB_<shape variable> of a manifest, or a constant of the kernel)."},
    {kAnyTriton, kCompiling | kCrash, "should have M >=|>= 16", nullptr,
     "tl.dot takes blocks of at least 16 in each dimension: take larger blocks and mask what is "
     "beyond, or multiply and tl.sum."},
    {kAnyTriton, kCompiling | kCrash, "triton.language' has no attribute", nullptr,
     "triton.language has no function of this name: tanh, erf, pow and their like are in "
     "triton.language.extra.libdevice; tanh(x) is 2 * tl.sigmoid(2 * x) - 1."},
    {kAnyTriton, kCompiling | kCrash, "is re-assigned to", nullptr,
     "A variable has one type and one shape throughout a loop: make it before the loop with those "
     "that it gets in it (tl.zeros of that shape, tl.float32), and convert what is added with "
     "to()."},
    {kAnyTriton, kCompiling | kCrash, "unsupported AST node type", nullptr,
     "Triton's kernels are a part of Python: no break, continue, try, lists that grow or calls of "
     "Python's functions; write a mask, or a while with a condition."},
    {kAnyTriton, kCompiling | kCrash, "Cannot make_shape_compatible", nullptr,
     "The two blocks have other shapes: give one of them an axis with [:, None] or [None, :], and "
     "compare the constants of both."},
    // Python
    {kModule | kTriton, kPython, "SyntaxError|IndentationError|TabError", nullptr,
     "Python cannot read the file, and nothing of it ran: look at the line that is named, how it "
     "is indented, and for an open bracket or quote above it."},
    {kModule, kPython, "ModuleNotFoundError", nullptr,
     "There are PyTorch, the packages it needs, and Python's standard library: do without the "
     "package that is named."},
    {kModule, kPython, "is not defined", nullptr,
     "The one block is the whole file: the name that is not defined needs its import or its "
     "definition there (import torch.nn.functional as F)."},
    {kModule, kPython, "before Module.__init__()", nullptr,
     "__init__ has to call super().__init__() first."},
    {kModule, kPython, "unmatched parameters", nullptr,
     "ModelNew has a parameter for each of the task's, of its name and shape, and no other: what "
     "is none of the task's weights is a buffer or a plain attribute."},
    {kModule, kReading, "forward() returns", nullptr,
     "forward() returns the task's output, a tensor of its shape; a tuple where there are "
     "several."},
    {kModule, kCrash, "forward() missing|forward() takes", nullptr,
     "forward() takes the task's inputs in their order, and nothing else that has no default."},
    {kModule, kPython, "same device", nullptr, "Make tensors where the input is: device=x.device."},
    {kModule, kPython, "Segmentation fault|Bus error|signal 11|signal 7", nullptr,
     "The process died of a wrong address: perhaps code that the module compiles, or what it does "
     "with data_ptr() or ctypes, reaches outside of a tensor."},
    {kModule, kPython, "illegal memory access", nullptr,
     "A kernel reads or writes outside of its tensors: mask loads and stores, count in 64 bits, "
     "and call contiguous() on what it takes for dense."},
    {kModule, kPython, "expected scalar type|same dtype", nullptr,
     "Operands have different element types: a tensor that the module makes needs the input's "
     "(dtype=x.dtype), or a to()."},
    {kModule, kPython, "cannot be multiplied", nullptr,
     "The shapes do not fit a product: the last extent of the left one is the first of the right "
     "one; a weight of nn.Linear is [out, in], so that it is x @ weight.t()."},
    {kModule, kPython, "must match the size of tensor", nullptr,
     "The shapes do not broadcast, counted from the last axis: add an axis with [:, None] or "
     "view(), as for a bias of a convolution."},
    {kModule, kPython, "view size is not compatible", nullptr,
     "view() needs dense memory: call reshape(), or contiguous() before it."},
    {kModule, kPython, "can't convert cuda", nullptr,
     "Leave the tensor on its device: NumPy works on the CPU only."},
    {kModule, kPython, "module 'torch' has no attribute", nullptr,
     "The PyTorch here has no such function: the name is misspelt, or that of another version "
     "(`kbench devices` says which one it is)."},
    {kModule, kReading, "cannot be made", nullptr,
     "The constructor takes the arguments that the task gives, in that order. It runs more than "
     "once; parameters hold the task's weights as soon as they are made."},
    {kModule, kCompiling, "undefined reference", nullptr,
     "A function is declared and not defined: what cpp_sources declares has to be defined in "
     "cuda_sources under the same name and parameters."},
    {kModule, kCompiling, "extension of its module", nullptr,
     "What load_inline compiles is whole by itself: kernels in cuda_sources, a C++ function that "
     "launches them, its declaration in cpp_sources, its name in functions."},
    {kModule, kPython, "a kernel with more threads", nullptr,
     "Perhaps a launch asks for too much: a block has 1024 threads at most, and 48 KiB of shared "
     "memory unless cudaFuncSetAttribute allows more."},
    // what a run showed
    {kModule, kWrong, "", repeats_its_first_output,
     "The first call is right, later ones repeat it, whatever their inputs are: what the first "
     "computed is kept. Compute it anew in each call, from its inputs."},
    {kSteps, kWrong, "", repeats_its_first_output,
     "The first run is right, later ones repeat it, whatever their inputs are: what the first "
     "computed is kept, perhaps in what setup wrote. Compute all of it in dispatch."},
    {kAny, kWrong, "", is_wrong_on_other_inputs,
     "Run again and again on the same inputs it is right, on other inputs after that it is wrong: "
     "perhaps something is kept from the first call, or it is right for some values of the inputs "
     "only."},
    {kModule, kWrong, "", races,
     "Two runs on the same inputs differ: perhaps a kernel races, memory is read before it is "
     "written, or random numbers are drawn."},
    {kSteps, kWrong, "", races,
     "Two runs on the same inputs differ: let one invocation alone write an element, put barrier() "
     "(CUDA: __syncthreads()) between writing and reading shared memory, and let no workgroup read "
     "what another writes in the same step."},
    {kShader, kWrong | kTime | kCrash | of({Verdict::device_lost}), "", warned_of_barrier,
     "Perhaps it is the barrier at {}: every invocation of a workgroup has to reach it, and some "
     "may have returned or skip its branch. Test the index around loads and stores, not around the "
     "barrier."},
    {kSteps | kModuleCuda, kWrong, "", shares_without_barrier,
     "Shared memory is used, and nowhere is there a {}: it has to stand between writing there and "
     "reading what another invocation wrote."},
    {kSteps, kModified | kWrong, "", stores_where_an_input_is,
     "Perhaps the buffers are swapped: {}. They are given in the order of the bindings (of CUDA: "
     "of the parameters)."},
    {kSteps, kModified, "", stores_to_an_input,
     "Inputs and parameters are read only, and {}: let it write to a temporary or an output."},
    {kSteps, kWrong, "", names_are_crossed, "Perhaps the buffers are swapped: {}, in this order."},
    {kSteps, kWrong | kBounds | kModified | kCrash, "", another_element_type,
     "The element type is not that of the buffer: {}."},
    {kAny, kWrong, "", reads_what_it_did_not_write,
     "The result depends on what stood in memory before: outputs, temporaries, shared memory and "
     "what torch.empty gives hold anything until they are written. Write them first, zeros too."},
    {kSteps, kWrong, "", adds_in_place,
     "Perhaps several invocations add to one element ({}), of which all but one are lost, or it "
     "adds to what stood there before: sum in a variable and store once, or clear the buffer and "
     "use atomicAdd."},
    {kSteps, kUnwritten, "", launches_too_few,
     "Perhaps too few are launched ({}): round the number of groups up with ceil_div, and do not "
     "assume that sizes are multiples of the tile."},
    {kShader | kCuda, kBounds, "past its end", nullptr,
     "Test the index before storing: the last workgroup reaches past the end where sizes are no "
     "multiple of the local size."},
    {kShader | kCuda, kBounds, "before its start", nullptr,
     "An index became negative (as uint: very large): test it before it is used."},
    {kAnyTriton, kBounds | kCrash, "", masks_nothing,
     "No load or store has a mask: give mask=offsets < n to tl.load and tl.store, as the last "
     "block reaches past the end."},
    {kModule, kModified, "", works_in_place,
     "Perhaps it is {} in the module: inputs and weights are read only, and what works in place on "
     "them, or on a view of them, writes to them. Call it without the underscore, or on a clone."},
    {kSteps, kPrecision, "computes in float16", nullptr,
     "Compute and accumulate in float32: the tolerance excludes float16 arithmetic."},
    {kAny, kPrecision, "", dots_in_tf32,
     "Perhaps it is TF32: tl.dot of float32 takes input_precision=\"ieee\", and allow_tf32 stays "
     "off."},
    {kModule, kPrecision, "", writes_halves,
     "Perhaps it is {}: compute in no narrower type than the task's."},
    {kAny, kPrecision, "approximate functions", nullptr,
     "The approximate functions that the message names are not accurate enough: use expf, tanhf "
     "and division without fast math."},
    {kAny, kWrong, "", few_are_wrong,
     "Few elements are wrong: look at tails and at initial values."},
    // time
    {kModule, kTime, "compiling", nullptr,
     "Compiling took too long: fewer and smaller extensions, or Triton in place of CUDA C++."},
    {kSteps, kTime, "compiling", nullptr,
     "Compiling took too long: less unrolling, fewer specialised kernels, loops in place of "
     "copies."},
};

/// These hints say what a verdict mostly comes from; they are told where no cause is known.
constexpr Hint kUsual[] = {
    {kAny, of({Verdict::missing}), "", nullptr, "There is no candidate file for this task."},
    {kAny, of({Verdict::does_not_fit}), "", nullptr,
     "Not the candidate's fault: the task needs a smaller preset here."},
    {kAny, of({Verdict::harness_error}), "", nullptr,
     "Not the candidate's fault: the same candidate may pass again."},
    {kModule, kMemory, "", nullptr,
     "Use fewer or smaller tensors at a time: fuse operators, work in place on tensors of your "
     "own, or go through the batch in parts."},
    {kSteps, kTime, "", nullptr,
     "Look for a loop that may not end: a bound read from data, a condition that waits for other "
     "workgroups. Workgroups are not guaranteed to run at the same time."},
    {kModule, kTime, "", nullptr,
     "Look for a loop that may not end, for Python loops over elements, and for an autotuning of "
     "many configurations."},
    {kSteps, kCrash, "", nullptr,
     "Perhaps an index or an address is outside of its buffer; on a CPU device such a store ends "
     "the process."},
    {kModule, kCrash, "", nullptr,
     "There are no files to write, no network and no other programs; a kernel must not reach "
     "outside of its tensors."},
    {kAny, of({Verdict::device_lost}), "", nullptr,
     "Perhaps a loop does not end, or an address is outside of its buffer."},
    {kSteps, of({Verdict::not_written}), "", nullptr,
     "The output must be bound where the kernel stores, and the group count above 0 in every "
     "dimension; a guard that returns too early has the same effect."},
    {kSteps, of({Verdict::partly_written}), "", nullptr,
     "Perhaps the number of groups is rounded down (round up with ceil_div), a size is taken for a "
     "multiple of the tile, or a guard returns too early."},
    {kModule, kUnwritten, "", nullptr,
     "Perhaps a kernel is not launched on the tensor that forward() returns, or not for all of its "
     "elements."},
    {kAny, of({Verdict::not_finite}), "", nullptr,
     "Perhaps exp overflows (subtract the maximum before exp), a divisor is 0, or memory is read "
     "before it is written; the identity of max is the lowest float and not 0."},
    {kSteps, of({Verdict::all_zero}), "", nullptr,
     "Perhaps an accumulator is never added to, a loop has no turns, or a binding is another."},
    {kModule, of({Verdict::all_zero}), "", nullptr,
     "Is the kernel launched on the tensor that forward() returns?"},
    {kAny, kPrecision, "", nullptr,
     "Accumulate in float32, in several partial sums where there are many terms; compute in no "
     "narrower type than the task's, and avoid approximations of exp, tanh and erf."},
    {kSteps, kModified, "", nullptr,
     "Inputs and parameters are read only, and what setup wrote may not change in dispatch: write "
     "to temporaries and outputs."},
    {kModule, kModified, "", nullptr,
     "Inputs and weights are read only: no in-place operator (relu_, add_, out=) and no store to "
     "them."},
    {kAny, kBounds, "", nullptr,
     "Test every index before it is used to store, against the extents of what is stored to."},
    {kAny, of({Verdict::interferes}), "", nullptr,
     "Join every stream and thread before forward() returns: nothing may run on the device "
     "afterwards."},
    {kSteps, of({Verdict::not_general}), "", nullptr,
     "Take every size from KB_<shape variable> or an expression, never as a number, and test "
     "indices where a size is no multiple of a tile; or say with requires: what sizes it is made "
     "for."},
    {kModule, of({Verdict::not_general}), "", nullptr,
     "Take every size from the tensors' shapes or the constructor's arguments, never as a number, "
     "and mask what lies beyond a block."},
    {kAny, of({Verdict::race}), "", nullptr,
     "Between a write and a read by other threads stands __syncthreads(), reached by all of the "
     "block, also before the next write to the same place; and nothing is read that none wrote."},
    {kAny, of({Verdict::impossible}), "", nullptr,
     "Compute all of every output in every run, from that run's inputs."},
};

unsigned written_in(const Facts& facts) {
  if (!facts.candidate) return kSteps;
  unsigned written = 0;
  if (const TorchModule* module = facts.module()) {
    const auto names = [&](const char* word) {
      return find_word(module->source, word) != std::string::npos;
    };
    written = kModule;
    if (names("triton")) written |= kModuleTriton;
    if (names("cuda_sources") || names("CUDAExtension")) written |= kModuleCuda;
  }
  for (const Kernel& kernel : facts.candidate->kernels) {
    written |= kernel.language == Kernel::Language::triton ? kTriton
               : is_cuda(kernel.language)                  ? kCuda
               : kernel.language == Kernel::Language::glsl ? kGlsl
                                                           : kOtherShader;
  }
  return written == 0 ? kSteps : written;
}

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

/// Whether the message or an error has any of these words, which are separated by '|'.
bool says(const Result& result, std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find('|'));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    const auto in = [&](const std::string& text) {
      return (is_name(word) ? own_words(text) : text).find(word) != std::string::npos;
    };
    const auto has_it = [&](const Diagnostic& each) {
      return each.severity == "error" && in(each.message);
    };
    if (in(result.message) || std::ranges::any_of(result.diagnostics, has_it)) return true;
  }
  return false;
}

/// Adds the table's hints that fit, `most` in all at most.
void add_fitting(std::span<const Hint> table, const Facts& facts, size_t most,
                 std::vector<std::string>& texts) {
  const unsigned written = written_in(facts);
  const uint64_t verdict = of({facts.result.verdict});
  for (const Hint& hint : table) {
    const std::string_view words = hint.says;
    if (texts.size() >= most) return;
    if ((hint.written & written) == 0 || (hint.verdicts & verdict) == 0) continue;
    if (!words.empty() && !says(facts.result, words)) continue;
    const Clue clue = hint.clue ? hint.clue(facts) : Clue("");
    if (!clue) continue;
    std::string text = hint.text;
    if (const size_t place = text.find("{}"); place != text.npos) text.replace(place, 2, *clue);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
}

}  // namespace

Hints hints_for(const Facts& facts) {
  // A candidate that never ran has one error first, and the first row that fits is closest to it.
  const bool ran = (of({facts.result.verdict}) & (kReading | kCompiling | kUnsupported)) == 0;
  const size_t most = ran ? 3 : 1;
  Hints hints;
  add_fitting(kCauses, facts, most, hints.texts);
  hints.know_the_cause = !hints.texts.empty();
  // Where the output is that of one change to the task, feedback has named the cause before.
  if (!hints.know_the_cause && facts.evidence.matches.empty()) {
    add_fitting(kUsual, facts, most, hints.texts);
  }
  return hints;
}

}  // namespace kbench
