// The steps that an import has found, and the candidate file that they make.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kbench/tensor.h"
#include "libkbench/import/worlds.h"

namespace kbench::importing {

struct PlanBuffer {
  enum class Kind { task, parameter, temporary };
  Kind kind = Kind::temporary;
  std::string name;  ///< of a temporary once it is written out
  DType dtype = DType::f32;
  std::vector<Number> shape;
  bool shaped = true;      ///< false of a parameter whose shape the file does not say
  bool from_task = false;  ///< a parameter whose shape is the task's
  std::string path;        ///< of a parameter: its name in ModelNew
  bool output = false;
};

struct PlanOperand {
  int buffer = -1;
  std::vector<Number> shape;
};

struct PlanArgument {
  std::string kind;  ///< "" for a buffer, else i32, f32, ...
  int buffer = -1;
  Number value;
};

struct PlanAttribute {
  std::string name;
  std::vector<Number> values;
  bool list = false, real = false;
  std::string word;
};

struct PlanStep {
  int line = 0;
  int kernel = -1;  ///< of Plan::kernels
  std::vector<Number> grid, block;
  Number shared;
  std::vector<PlanArgument> args;
  std::string op;
  std::vector<PlanOperand> in, out;
  std::vector<PlanAttribute> attributes;
};

struct PlanKernel {
  std::string name, entry, source;
};

/// Filled while a file is followed; written out once.
class Plan {
 public:
  Plan(const Worlds& worlds, std::string file) : worlds_(worlds), file_(std::move(file)) {}

  std::vector<PlanBuffer> buffers;
  std::vector<PlanKernel> kernels;
  std::vector<PlanStep> steps;

  int add_buffer(PlanBuffer buffer);
  int add_kernel(const std::string& entry, const std::string& source);
  void add_step(PlanStep step);
  /// y = value everywhere, by a small kernel of kbench's own.
  void add_fill(int buffer, const std::vector<Number>& shape, const Number& value, int line);
  void add_copy(int from, int to, const std::vector<Number>& shape, int line);
  void note(int line, const std::string& message);
  /// From here on results hold at the primary preset only.
  void only_here(int line, const std::string& message);

  std::string yaml(const Task& task, const std::string& name);
  const std::vector<ImportFinding>& notes() const { return notes_; }
  const Worlds& worlds() const { return worlds_; }

 private:
  std::string number(const Number& n, bool real, int line, const std::string& what);
  std::string expression(const Number& n, bool real, int line, const std::string& what);
  std::string step_text(const PlanStep& step);
  std::string operand(const PlanOperand& operand, int line);
  void name_temporaries();

  const Worlds& worlds_;
  std::string file_;
  std::vector<ImportFinding> notes_;
};

Number product(const std::vector<Number>& shape, int line);

}  // namespace kbench::importing
