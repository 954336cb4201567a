// Candidates: kernels and a dispatch list, as data. docs/candidate-format.md describes the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/task.h"

namespace kbench {

/// A text with the place it was written at, for later diagnostics.
struct Sourced {
  std::string text;
  Location at;
};

/// A kernel as the file gives it.
struct Kernel {
  enum class Language { glsl, hlsl, spirv, cuda, ptx, triton };
  std::string name;
  Language language = Language::glsl;
  std::string file;    ///< path as diagnostics should show it; for inline source the YAML file
  std::string source;  ///< text, of any language but SPIR-V
  int first_line = 1;  ///< line of `file` that the source's first line stands on
  std::vector<uint32_t> spirv;
  /// CUDA: a name expression, as "scale<float, 4>"; CUDA, PTX, Triton and SPIR-V: may be empty
  /// where the source has one kernel.
  std::string entry = "main";
  std::vector<std::pair<std::string, Sourced>> constants;    ///< macro name -> expression
  std::vector<std::pair<std::string, Sourced>> defines;      ///< "N" or "ld(b,i)" -> its text
  std::vector<std::pair<uint32_t, Sourced>> specialization;  ///< constant id -> expression
  std::optional<Sourced> num_warps;                          ///< of Triton: of 32 threads; unset: 4
  std::optional<Sourced> num_stages;  ///< of Triton: of a software pipeline; unset: 3
  Location at;
};

/// True for a kernel that is launched as CUDA launches: grid, block, a list of parameters.
bool is_cuda(Kernel::Language language);
/// "GLSL", "CUDA C++": as messages name it.
std::string name_of(Kernel::Language language);

/// A push-constant member, packed in order by std430 rules; or a parameter of a CUDA kernel.
struct PushItem {
  enum class Kind { u32, i32, f32, u64, address, i64, f64, boolean };
  Kind kind = Kind::u32;
  Sourced value;  ///< an expression; for address the name of a buffer
};

std::string_view name_of(PushItem::Kind kind);  ///< "u32", "address", "bool", ...

/// A loop around steps, which run for `variable` = 0, 1, ..., count - 1; expressions may use it.
struct Repeat {
  size_t group = 0;  ///< the same of all steps that are repeated together
  std::string variable;
  Sourced count;
};

/// Values of a uniform block: of its members by name, or of all in order, without names.
struct UniformField {
  std::string name;             ///< empty in a list
  std::vector<Sourced> values;  ///< one for each number of the member
  Location at;
};
struct UniformBlock {
  Sourced place;  ///< a binding of set 0 ("3"), of another ("1.3"), a register ("b0"), a name
  std::vector<UniformField> fields;
};

/// A buffer as a built-in step names it, under another shape of as many elements where one is
/// given.
struct Operand {
  Sourced name;
  std::optional<std::vector<Sourced>> shape;
  /// In a task's file: the operand stands for one at each turn, the outermost repeat first.
  /// Operands with repeats of one group take turns.
  std::vector<Repeat> repeats = {};
};

/// An attribute of a built-in step: an expression or a word, or a list of expressions.
struct StepAttribute {
  std::string name;
  std::vector<Sourced> values;
  bool is_list = false;
  Location at;
};

/// One step of setup or dispatch.
struct Step {
  enum class Kind { kernel, op };
  Kind kind = Kind::kernel;
  Location at;
  std::vector<Repeat> repeats;  ///< that it stands in, the outermost first
  size_t text_bytes = 0;        ///< of all that the file says of it
  // a kernel
  std::string kernel;
  std::vector<Sourced> bind;
  std::vector<UniformBlock> uniforms;
  std::vector<PushItem> push;     ///< of a CUDA kernel its parameters, behind those of `bind`
  std::vector<Sourced> groups;    ///< of a CUDA kernel its grid, in blocks
  std::vector<Sourced> block;     ///< CUDA: threads of a block; none for Triton
  std::optional<Sourced> shared;  ///< CUDA: bytes of dynamic shared memory
  // or an operator of the eager baseline
  std::string op;
  std::vector<Operand> in;
  std::vector<Operand> out;
  std::vector<StepAttribute> attributes;
};

/// Scratch memory the harness owns, holding garbage before every run.
struct Temporary {
  std::string name;
  std::optional<DType> dtype;  ///< unset (`real` in the file): what the task stores floats in
  std::vector<Sourced> shape;
  Location at;
};

/// Constants in a buffer that steps can only read.
struct DataBuffer {
  std::string name;
  std::vector<PushItem> items;  ///< u32, i32, f32, u64, i64 or f64
  Location at;
};

/// A Python file that defines `ModelNew`, a torch.nn.Module that computes the task, as KernelBench
/// has it.
struct TorchModule {
  std::string file;  ///< path as diagnostics should show it; for inline source the YAML file
  std::string source;
  Location at;
};

/// A candidate as its file says it: checked for form, not yet against the task's sizes.
struct Candidate {
  std::string path;    ///< the YAML file
  std::string folder;  ///< what its files and includes must stay inside of
  TaskId task;
  Location task_at;
  std::vector<DType> dtypes;  ///< of kTaskDTypes: what it is written for; empty: for any
  Location dtype_at;
  Location dispatch_at;
  std::string name, author, description;
  /// What it asks of the task's sizes, "dim % 4 == 0": expressions over shape variables. Sizes at
  /// which one does not hold are not held against it (HoldsAt in kbench/result.h).
  std::vector<Sourced> requirements;
  std::vector<std::pair<std::string, Sourced>> constants;  ///< for expressions and all kernels
  std::vector<std::pair<std::string, Sourced>> defines;    ///< for all kernels that take macros
  std::vector<Kernel> kernels;
  std::vector<Temporary> temporaries;
  std::vector<DataBuffer> data;
  std::vector<Step> setup;
  std::vector<Step> dispatch;
  std::optional<TorchModule> torch;             ///< in place of kernels, buffers and steps
  std::map<std::string, std::string> includes;  ///< path relative to the folder -> text
  std::string hash;  ///< SHA-256 of the file, of every file it names and of their includes, in hex
};

/// Reads a candidate: a YAML file, a folder holding candidate.yaml, or a Python file that defines
/// ModelNew. Only regular files of its
/// own folder are read, no symbolic link is followed (kbench/candidate_source.h), and no more is
/// read than kbench/candidate_limits.h allows. Throws Error (kParse, kIo, kNotFound) with file,
/// line and column; messages are one line, what they quote escaped and cut (kbench/error.h).
Candidate load_candidate(const std::string& path);
/// The same from text; relative files are looked up in `folder`.
Candidate parse_candidate(const std::string& text, const std::string& file,
                          const std::string& folder);
/// Whether the candidate may be run in the type: not where it says that it is written for others.
bool is_for(const Candidate& candidate, DType dtype);
/// Throws kUnsupported where it may not.
void require_dtype(const Candidate& candidate, DType dtype);
/// How many of the requirements are false with these values of all of a task's variables. Throws
/// kParse at one that is no integer expression over them.
int requirements_broken(const std::vector<Sourced>& requirements, const Variables& variables);
/// The file that `#include "name"` means in the file `from` (a Kernel::file, or a path returned
/// here): path and text; nothing when there is no such file. Looks beside `from` first, then in the
/// candidate's folder, among what load_candidate read: files on disk are not touched, so that what
/// is compiled is what was hashed.
std::optional<std::pair<std::string, std::string>> find_include(const Candidate& candidate,
                                                                const std::string& name,
                                                                const std::string& from);
/// The files a candidate set consists of: every *.yaml below the folder, and every *.py there that
/// defines ModelNew and that none of them names, sorted; or the one file. Entries that are no
/// regular files are listed too; load_candidate refuses them. Throws kNotFound and kIo.
std::vector<std::string> candidate_files(const std::string& path);

/// A buffer a step can name: the task's tensors, the candidate's temporaries and its data.
struct BufferSlot {
  enum class Kind { input, parameter, constant, output, temporary, data };
  Kind kind;
  std::string name;
  TensorType type;
  int value = -1;                    ///< graph value id, for the task's own tensors
  bool setup = false;                ///< a temporary written by setup: read-only in dispatch
  std::vector<uint32_t> words = {};  ///< of data: what it holds
};

/// An expression worked out for a place whose type the shader says: as an integer, where the
/// expression has no real part, and as a real, `/` dividing as reals do.
struct ResolvedNumber {
  Sourced given;
  double real = 0;
  std::optional<int64_t> integer;
};

struct ResolvedUniform {
  struct Field {
    std::string name;
    Location at;
    std::vector<ResolvedNumber> values;
  };
  Sourced place;
  std::vector<Field> fields;
};

/// A kernel with its numbers worked out.
struct ResolvedKernel {
  const Kernel* kernel = nullptr;
  /// Text in front of the source that defines KB_REAL and what goes with it (real_names()); empty
  /// where neither the kernel nor what it includes says one of these names.
  std::string real_names;
  /// In order: KB_DTYPE_F32 and its like, shape variables as KB_<name>, constants, defines.
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::pair<uint32_t, ResolvedNumber>> specialization;
  uint32_t num_warps = 0, num_stages = 0;  ///< of Triton
};

/// A push constant, or a parameter of a CUDA kernel, in ResolvedStep::push.
struct ResolvedArgument {
  PushItem::Kind kind = PushItem::Kind::address;
  size_t offset = 0, size = 0;  ///< bytes
  int buffer = -1;              ///< of an address
};

/// A step with names and expressions worked out.
struct ResolvedStep {
  Step::Kind kind = Step::Kind::kernel;
  Location at;
  size_t step = 0;  ///< index into the candidate's setup or dispatch; repeats have it several times
  int kernel = -1;  ///< index into kernels; -1 where it launches none
  std::vector<int> bind;  ///< buffers; of an operator inputs then outputs
  /// Zeros where addresses come; of a CUDA kernel all its parameters.
  std::vector<std::byte> push;
  std::vector<std::pair<size_t, int>> addresses;  ///< (byte offset in push, buffer index)
  std::array<uint32_t, 3> groups = {1, 1, 1};     ///< of a CUDA kernel its grid
  std::vector<ResolvedArgument> arguments;        ///< what `push` holds
  std::vector<ResolvedUniform> uniforms;
  // of a CUDA kernel
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t shared_bytes = 0;  ///< dynamic
  OperatorCall call;          ///< of an operator
};

/// A candidate against one task at one size: ready to run on any device.
struct ResolvedCandidate {
  const Candidate* candidate = nullptr;  ///< what it was resolved from
  DType real = DType::f32;               ///< Graph::dtype(): what built-in steps store floats in
  std::vector<BufferSlot> buffers;
  std::vector<ResolvedKernel> kernels;
  std::vector<ResolvedStep> setup;
  std::vector<ResolvedStep> dispatch;
};

/// The numbers of the device that expressions can use, by name; docs/candidate-reference.md has
/// what each is.
const std::vector<std::string>& device_number_names();
using DeviceNumbers = std::map<std::string, int64_t>;

/// Works out names, expressions, shapes. Throws Error (kParse) with the place where a name is
/// unknown, an expression is not a positive integer, an output is never bound, setup touches an
/// input or an output, a built-in operator's shapes do not fit, or a push block is over 128 bytes;
/// kUnsupported where an expression asks for a number of the device and `device` lacks it. The
/// candidate must outlive the result.
ResolvedCandidate resolve(const Candidate& candidate, const Graph& graph,
                          const DeviceNumbers& device = {});

/// A candidate file (YAML) that computes the graph with built-in operators only, one a step: what
/// the eager baseline does, and a start for replacing part of a task.
std::string eager_candidate_yaml(const Task& task, const Graph& graph);

/// Evaluates an integer expression over named integers: + - * / (rounding down) % ( ), comparisons,
/// min, max, ceil_div(a, b), align(a, b), pow2(a) (the next power of two), log2(a) (rounding down),
/// ceil_log2(a), sqrt(a); list[2] is list_2. Throws kParse at `at`, also for a division by zero and
/// where an operand or a result is no integer below 2^53.
int64_t evaluate_integer(const Sourced& expression, const std::map<std::string, double>& names);
/// The same over reals, '/' and log2 being theirs; the result is finite. Throws kParse at `at`.
double evaluate_real(const Sourced& expression, const std::map<std::string, double>& names);
/// The names expressions may use: integer and real shape variables; lists as name_0, name_1, ...;
/// what an identifier cannot hold becomes _.
std::map<std::string, double> expression_names(const Variables& variables);

}  // namespace kbench
