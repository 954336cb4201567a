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
/// The workgroup's size from a kernel's source; nothing where it is not given there in numbers and
/// macros.
std::optional<std::array<int64_t, 3>> local_size(const ResolvedKernel& kernel);
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

// --- hints (hints.cc) ----------------------------------------------------------------------------

/// At most `most` hints from the table.
std::vector<std::string> hints_for(const Facts& facts, size_t most);

/// Short texts for people.
std::string short_number(double value);
std::string bytes_text(double bytes);
std::string sizes_text(const Variables& variables);

}  // namespace kbench
