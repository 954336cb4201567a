// What feedback is put together from: facts about a result, and sections of text made of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/feedback.h"
#include "kbench/graph.h"

namespace kbench {

/// A result with what follows from it: the task's graph at the judged sizes and the candidate
/// resolved against it, where they can be had.
struct Facts {
  const Result& result;
  const Candidate* candidate = nullptr;
  const Evidence& evidence;
  std::unique_ptr<Graph> graph;
  std::optional<ResolvedCandidate> resolved;
};
Facts facts_of(const Result& result, const Candidate* candidate, const Evidence& evidence);

// --- quoting (feedback_quotes.cc) ----------------------------------------------------------------

/// A line of the candidate's files, without the blanks around it; empty where it is not known.
std::string source_line(const Facts& facts, const std::string& file, int line);
/// "KB_dim = 25, TILE = 16": the macros of the candidate's kernels that a line names.
std::string macros_in(const Facts& facts, const std::string& line);
/// "16 x 16 x 1" of a kernel's source, or nothing where it is not written there in numbers and
/// macros.
std::optional<std::array<int64_t, 3>> local_size(const ResolvedKernel& kernel);
/// Lines of kernels that hold a loop: those whose end is not plain to see first.
std::vector<std::string> loop_lines(const Candidate& candidate, size_t most);

// --- sections (feedback_sections.cc) -------------------------------------------------------------

/// Text that stands by itself, whole lines. Where there is no room for all, those of the highest
/// `rank` go first.
struct Section {
  int rank = 0;
  std::string text;
};
/// What is told of the verdict, in order.
std::vector<Section> sections_of(const Facts& facts);
/// The verdict and the message alone.
Section verdict_section(const Facts& facts);

// --- hints (feedback_hints.cc) -------------------------------------------------------------------

/// What to try, from the table: at most `most`.
std::vector<std::string> hints_for(const Facts& facts, size_t most);

/// Numbers as people read them.
std::string short_number(double value);
std::string bytes_text(double bytes);
std::string sizes_text(const Variables& variables);

}  // namespace kbench
