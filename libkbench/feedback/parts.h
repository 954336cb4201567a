// The parts of feedback: facts about a result, and sections of text made from them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/feedback.h"
#include "kbench/graph.h"

namespace kbench {

/// A result, the task's graph at the judged sizes, and the candidate resolved against it where
/// these can be built.
struct Facts {
  const Result& result;
  const Candidate* candidate = nullptr;
  const Evidence& evidence;
  std::unique_ptr<Graph> graph;
  std::optional<ResolvedCandidate> resolved;

  /// The candidate's ModelNew; null where it has kernels, or is not known.
  const TorchModule* module() const {
    return candidate && candidate->torch ? &*candidate->torch : nullptr;
  }
};
Facts facts_of(const Result& result, const Candidate* candidate, const Evidence& evidence);

// --- quoting (quotes.cc) -------------------------------------------------------------------------

/// A line of the candidate's files, without the blanks around it; empty where it is not known.
std::string source_line(const Facts& facts, const std::string& file, int line);
/// The line of a ModelNew that an error's text ends with: "NameError: ... (line 5)"; 0: none.
int line_in(const std::string& message);
/// "KB_dim = 25, TILE = 16": the macros of the candidate's kernels that a line names.
std::string macros_in(const Facts& facts, const std::string& line);
/// The size of a step's workgroups: a block's as the step says it, a shader's from its source;
/// nothing where it is not given there in numbers and macros.
using Workgroup = std::optional<std::array<int64_t, 3>>;
Workgroup workgroup_of(const ResolvedStep& step, const ResolvedKernel& kernel);
/// How many invocations a step launches, where the size of its workgroups is known.
std::optional<double> invocations_of(const ResolvedStep& step, const Workgroup& workgroup);
/// Lines of kernels that hold a loop; those least certain to end come first.
std::vector<std::string> loop_lines(const Candidate& candidate, size_t most);

// --- sections (sections.cc) ----------------------------------------------------------------------

/// A section of whole lines. Where not all fit, sections of the highest `rank` are dropped first.
struct Section {
  int rank = 0;
  std::string text;
};
/// The sections for the result's verdict, in order.
std::vector<Section> sections_of(const Facts& facts);
/// The verdict and the message alone.
Section verdict_section(const Facts& facts);

// --- clues (clues.cc) ----------------------------------------------------------------------------

/// A sign that a mistake was made: nothing where it was not, else words for the hint's {}, or ""
/// where the hint has none.
using Clue = std::optional<std::string>;

// These come from warnings, and from what was seen when the candidate ran.
Clue warned_of_barrier(const Facts& facts);  ///< "c.yaml:14", where the barrier stands
Clue races(const Facts& facts);
Clue reads_what_it_did_not_write(const Facts& facts);
Clue repeats_its_first_output(const Facts& facts);
Clue is_wrong_on_other_inputs(const Facts& facts);
Clue few_are_wrong(const Facts& facts);

// These come from the candidate's text, which shows what is likely and not what is certain.
Clue shares_without_barrier(const Facts& facts);    ///< "barrier()": what is nowhere in it
Clue adds_in_place(const Facts& facts);             ///< "y[...] += ..."
Clue stores_where_an_input_is(const Facts& facts);  ///< and not where its step gives an output
Clue stores_to_an_input(const Facts& facts);        ///< and to its output, too
Clue names_are_crossed(const Facts& facts);     ///< two buffers of a step, each named as the other
Clue another_element_type(const Facts& facts);  ///< than that of the buffer that a step gives
Clue launches_too_few(const Facts& facts);      ///< "384 invocations for 400 elements"
Clue writes_halves(const Facts& facts);         ///< ".half()"
Clue dots_in_tf32(const Facts& facts);
Clue works_in_place(const Facts& facts);  ///< "relu_()"
Clue masks_nothing(const Facts& facts);   ///< Triton that loads and stores without a mask

// These come from the lines that a compiler's errors are about.
Clue lacks_extension(const Facts& facts);   ///< "float16_t needs `#extension ...`"
Clue speaks_cuda(const Facts& facts);       ///< "float4 is vec4": CUDA's and HLSL's names in GLSL
Clue names_a_variable(const Facts& facts);  ///< "KB_dim", where dim or DIM is not known

// --- hints (hints.cc) ----------------------------------------------------------------------------

/// The hints for the author. Where none knows the cause, they say what the verdict mostly comes
/// from. There are no more of them than a reader takes in.
struct Hints {
  bool know_the_cause = false;
  std::vector<std::string> texts;
};
Hints hints_for(const Facts& facts);

/// Short texts for people.
std::string short_number(double value);
std::string bytes_text(double bytes);
std::string sizes_text(const Variables& variables);

}  // namespace kbench
