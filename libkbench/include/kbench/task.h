// The suite's tasks: each a function that builds a graph, with names, presets and tolerance.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/graph.h"
#include "kbench/variables.h"

namespace kbench {

struct CertificateFile;

/// Level and number, as KernelBench counts them (level1/19 is ReLU), or the name of a task of one's
/// own (kbench/task_file.h).
struct TaskId {
  int level = 0;
  int number = 0;
  std::string own = {};  ///< "my/mlp", where level and number are 0; else empty
  /// Of a task of one's own: a hash of its file without comments; 0 for the file added last.
  uint64_t meaning = 0;
  auto operator<=>(const TaskId&) const = default;
  /// The task word of the draws' counter.
  uint32_t draw_word() const;
};
std::string to_string(const TaskId& id);  ///< "level1/19", "my/mlp"
/// "level1/19", "1/19" or the name of a task of one's own, with the meaning of the file of that
/// name that was added last; throws kInvalidArgument.
TaskId parse_task_id(std::string_view text);
/// Whether the text can name a task of one's own: two words of letters, digits, '_', '-' and '.'
/// with a '/' between, the first of which begins with a letter and is no level's.
bool is_own_name(std::string_view text);

/// A task at one size in one precision: what its graph is built from.
struct TaskAt {
  TaskId task;
  std::string preset;   ///< a name_of(Preset); empty where `variables` has all of the task's
  Variables variables;  ///< values in place of the preset's, of some of the variables or of all
  DType dtype = DType::f32;  ///< of kTaskDTypes
  bool operator==(const TaskAt&) const = default;
};
TaskAt task_at(TaskId task, Preset preset, Variables variables = {}, DType dtype = DType::f32);

/// A pass in float32 needs |c - r| <= relative * (s + |r|) for every element, s being the RMS of r.
/// In halves: HonestError.
struct Tolerance {
  double relative = 1e-4;
  std::string reason;  ///< why it differs from the default, with the measured number
};

/// How far from the unrounded truth honest computing in float16 or bfloat16 comes, as audits of a
/// task found it (kbench-dev audit --tolerances): of operators that store the type between them, of
/// fused ones that round once, of sums in other orders.
struct HonestError {
  double relative = 0;   ///< largest |c - r| / (s + |r|) of an element; see kbench/compare.h
  double rms = 0;        ///< root mean square of the same over an output's elements
  int64_t elements = 1;  ///< of the smallest output that this is of
  std::string relative_of = {};  ///< which variant, at which preset
  std::string rms_of = {};
  /// Not empty: why the task is not defined in the type.
  std::string undefined = {};
};

/// How far from the truth a result may be; kbench/compare.h has the rule.
struct Bounds {
  double relative;  ///< largest |c - r| / (s + |r|) of an element
  double rms;       ///< root mean square of the same over an output's elements
  // Not explicit, as most results are held to the first alone.
  Bounds(double relative = 1e-4, double rms = std::numeric_limits<double>::infinity())
      : relative(relative), rms(rms) {}
  bool operator==(const Bounds&) const = default;
};
/// Twice what honest computing in the half needs, and no less than a step of the type in any
/// element.
Bounds bounds_from(const HonestError& honest, DType half);

/// A part of a task that no output depends on: variants without it compute the same values, so that
/// an audit (kbench/certificate.h) cannot tell them from the task.
struct Dead {
  /// Descriptions (Variant) that it excuses; '*' and '?' as in file names.
  std::vector<std::string> variants;
  std::string proof;
};

/// One task of the suite, an entry of an explicit table in levels/.
struct Task {
  TaskId id;
  std::string
      name;  ///< KernelBench's file name without number and suffix, "ReLU"; or a file's title
  std::string family;  ///< "activation", "convolution", ...
  std::vector<VariableSpec> variables;
  std::function<void(Graph& graph)> build;
  Tolerance tolerance = {};
  std::vector<Dead> dead = {};
  /// Why its outputs can be known without its inputs; empty: they cannot.
  std::string trivial = {};
  /// By half. One that is missing has not been audited: its honest error counts as two steps of the
  /// type in an element, a quarter of one in the mean.
  std::map<DType, HonestError> honest = {};
  /// The text of the file that a task of one's own is; empty: one of the suite.
  std::string file = {};
  /// Of a task of one's own: what audits of it found (kbench/certificate.h), one a preset and type.
  std::vector<std::shared_ptr<const CertificateFile>> certificates = {};
  /// "preset smoke": of those beside its file that are of another meaning or tolerance.
  std::vector<std::string> ignored_certificates = {};
};
/// What the task's results in that type are held to.
Bounds bounds_of(const Task& task, DType dtype);
bool is_defined(const Task& task, DType dtype);
/// Throws kInvalidArgument, saying why, where it is not: "level2/65 is not defined in float16:
/// ...".
void require_defined(const Task& task, DType dtype);

/// All tasks, by level and number.
const std::vector<Task>& tasks();
/// Makes a task of one's own known to this process, for as long as it lives; of several with one
/// name the last one counts. Its `id.own` must be a name and its `id.meaning` not 0. Returns the
/// task as it is kept: one that is there already is not added again. Any thread.
const Task& add_own_task(Task task);
/// Those that count, by name.
std::vector<const Task*> own_tasks();
/// Null when neither the suite has such a task nor was one added. Here and below the suite is
/// kbench's unless one is given.
const Task* lookup_task(const TaskId& id, std::span<const Task> suite = tasks());
/// Throws kNotFound when the suite has no such task.
const Task& find_task(const TaskId& id, std::span<const Task> suite = tasks());
/// The task that a person means: "level1/19" or "1/19"; its name, "relu" or "level1/ReLU"; the name
/// of KernelBench's file, "19_ReLU.py". Case does not count, nor which signs part the words. Where
/// no name is the text, the only one that begins with it will do, else the only one that holds it.
/// Throws kInvalidArgument listing the tasks where several fit, kNotFound with the name that is
/// nearest where none does.
const Task& named_task(std::string_view text, std::span<const Task> suite = tasks());
/// The id that a candidate's file names its task by: parse_task_id(), whether or not the task is
/// known, or the name of one. Throws as they do.
TaskId task_id_of(std::string_view text, std::span<const Task> suite = tasks());
/// Whether a name that fits several tasks stands for all of them.
enum class Names { of_one, of_all };
/// Tasks matching a selection: comma-separated "level1/1", "1/1", "level2/*", "2/*", "2/1-9",
/// "my/mlp", "my/*", or names as named_task() takes them. Throws kInvalidArgument for a malformed
/// or ambiguous item, kNotFound for one that matches nothing.
std::vector<const Task*> select_tasks(std::string_view selection,
                                      std::span<const Task> suite = tasks(),
                                      Names names = Names::of_one);

/// The task's variables at a preset, with overrides applied. Throws kInvalidArgument naming the
/// variable when an override is unknown or of another type.
Variables variables_of(const Task& task, Preset preset, const Variables& overrides = {});
Variables variables_of(const TaskAt& at, std::span<const Task> suite = tasks());
/// The task's graph. Throws kShape naming operator and shapes where the sizes make no sense, and
/// kInvalidArgument for an override of a variable the task does not read (it follows from others).
std::unique_ptr<Graph> build_graph(const Task& task, Preset preset, const Variables& overrides = {},
                                   DType dtype = DType::f32);
/// The same; throws kNotFound too, when the suite has no such task.
std::unique_ptr<Graph> build_graph(const TaskAt& at, std::span<const Task> suite = tasks());

/// What KernelBench's module of the task takes to be made: a Python list over the task's variables,
/// "[in_channels, out_channels, (out_channels, 1, 1)]"; of a task of one's own all of its variables
/// in the file's order.
std::string init_inputs(const TaskId& task);
/// What its forward() takes beside tensors, by name: {"s": 3.14}. Mostly nothing.
const Variables& forward_scalars(const TaskId& task);
/// init_inputs() for a reader who knows the variables that are no lists: "[in_features, bias_shape]
/// with bias_shape = (64,)".
std::string init_inputs_text(const TaskId& task, const Variables& variables);

/// How the task's program differed in KernelBench's first release, whose sizes preset v0 has: "it
/// has a mean before its softmax". Empty where it was the same.
std::string_view first_release(const TaskId& task);

// Further sizes of a task, at which a candidate that is right in general is right too.

/// Values to set in place of the task's own: at most two sets, the same for a task every time.
/// Changed are integer variables in which the presets differ and which change nothing but extents:
/// a candidate's file serves all presets, so it is written for any value of these. New values are
/// larger, one or more of them above 64 where that costs little: multiples of four and not of eight
/// where the preset's are multiples of four, so that kernels which take four values at a time are
/// right at them, too; and a kernel of one invocation a row has no more rounds of loops than
/// llvmpipe runs, 65,535. Fewer sets, or none, where the task allows no more or is much work at the
/// preset already.
std::vector<Variables> other_sizes(const TaskAt& at, std::span<const Task> suite = tasks());

/// How many of a candidate's requirements do not hold with these values of all variables.
using SizesAllowed = std::function<int(const Variables& all)>;

/// How much work drawn sizes are.
enum class DrawnWork {
  little,   ///< milliseconds on a CPU: primes, odd numbers, even ones that four does not divide,
            ///< multiples of four, one, numbers beyond 64, smaller or larger than the task's own
  a_share,  ///< between a quarter and the whole of the task's own: odd numbers, multiples of four,
            ///< of 64, even ones that four does not divide, none larger than the task's own
};

/// Up to `count` different sets of values, drawn from `seed`. Changed are the same variables as
/// above. Sets with a requirement that does not hold (`allowed`, which may be empty) are left out.
/// Fewer sets, or none, where the task allows no more.
std::vector<Variables> drawn_sizes(const TaskAt& at, uint64_t seed, int count, DrawnWork work,
                                   const SizesAllowed& allowed = {},
                                   std::span<const Task> suite = tasks());

}  // namespace kbench
