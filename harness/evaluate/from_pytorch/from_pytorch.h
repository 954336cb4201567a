// Tasks from PyTorch: a problem's file as KernelBench has them, Python with a class Model,
// get_inputs() and get_init_inputs(), becomes a task's file. python3 with torch runs it, locked in
// as a candidate's Python is, and records which of PyTorch's functions forward() calls.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/runner/python_helper.h"
#include "kbench/task.h"
#include "kbench/variables.h"

namespace kbench::from_pytorch {

/// One file at one choice of sizes.
struct Problem {
  std::string text;        ///< of the file
  std::string shown;       ///< what messages call it
  std::string name;        ///< of the task: "my/block"
  std::string title = {};  ///< of the task
  /// "batch_size=2,kernel=(3,5)": values that constants at the file's top level have instead of
  /// their own. Empty: the file as it is.
  std::string sizes = {};
  /// Divides whole numbers: those at the top level, in functions and in lists of the files beside,
  /// or those in classes.
  int divisor = 1;
  bool divides_sizes = true, divides_classes = false;
  std::string module_class = {};                   ///< empty: Model, or the only one
  std::string init = {};                           ///< "width=8,eps=1e-6": for its constructor
  int list = 1;                                    ///< of several lists of inputs
  std::map<std::string, std::string> beside = {};  ///< name -> text: files that it may read
};

/// Sizes in that form.
std::string sizes_text(const Variables& sizes);

/// Inputs and parameters of a traced task in the order in which the module has them.
struct Given {
  std::vector<std::string> inputs = {}, parameters = {};
};

/// What came of it.
struct Traced {
  std::string task = {};  ///< a task's file, each step by itself; empty: see `error`
  Given given = {};
  Variables sizes = {};  ///< the integers and lists of integers at the file's top level
  std::vector<std::string> notes = {};  ///< in what the task is not the file
  std::string error = {};               ///< one line, with file and line
};

/// Of each, in one process. `seconds` limits each. Throws Error: kUnsupported where there is no
/// python3 with torch or it cannot be locked in, kTimeout, kCompile where the process ends early.
std::vector<Traced> trace(runner::PythonHelper& python, std::span<const Problem> problems,
                          double seconds);

/// The answers of trace.py to requests about files, in one process. Throws as trace().
nlohmann::ordered_json ask_about(runner::PythonHelper& python, std::span<const Problem> problems,
                                 const std::vector<nlohmann::ordered_json>& given, double seconds);

/// A preset's sizes, as in Problem::sizes.
struct PresetSizes {
  Preset preset;
  std::string sizes;
};

/// A task's file with what there is to say about it.
struct WrittenTask {
  std::string text = {};
  std::vector<std::string> notes = {};
  Variables sizes = {};       ///< the file's own
  std::string smoke = {};     ///< "its sizes divided by 8" where smoke has sizes that kbench chose
  std::string compared = {};  ///< how it was compared with the module, or why not
};

/// The file of a problem, steps that repeat folded, compared with the module (compare.h) at the
/// smallest of its sizes. The file says how it was compared. The problem itself is preset v0.1;
/// every other preset is traced too. Where `given` has no smoke and the sizes are large, smoke has
/// the problem's divided by a power of two; where one file cannot say these and the others, the
/// comparison alone is done at them. Throws what trace() and task_file_text() do, and Traced::error
/// and a difference from the module as kInvalidArgument.
WrittenTask task_of(runner::PythonHelper& python, const Problem& problem,
                    const std::vector<PresetSizes>& given, double seconds);

// The Python of this room, as text inside the library.

std::string trace_script();    ///< recorded.py, operators.py and trace.py, one after the other
std::string compare_script();  ///< compare.py

}  // namespace kbench::from_pytorch
