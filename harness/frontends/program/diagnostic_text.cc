#include "harness/frontends/program/diagnostic_text.h"

#include <algorithm>
#include <optional>

#include "harness/frontends/program/text.h"
#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "kbench/feedback.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench::program {
namespace {

/// The candidate's source files, for quoting.
struct Quoted {
  std::optional<Candidate> candidate;
  Evidence evidence;  ///< contains its YAML file

  explicit Quoted(const std::string& path) {
    try {
      const CandidatePlace place = candidate_place(path);
      if (auto text = CandidateFolder(place.folder).read(place.manifest)) {
        evidence.files.emplace(place.manifest, *std::move(text));
      }
      candidate = load_candidate(path);
    } catch (const Error&) {  // nothing to quote, or only the YAML file
    }
  }
};

/// The position in the line of the first quoted name that it contains.
std::optional<size_t> place_of_quoted(const std::string& message, const std::string& line) {
  for (size_t at = message.find('\''); at != std::string::npos;) {
    const size_t end = message.find('\'', at + 1);
    if (end == std::string::npos) return std::nullopt;
    const std::string name = message.substr(at + 1, end - at - 1);
    if (const size_t found = find_word(line, name); found != line.npos) return found;
    at = message.find('\'', end + 1);
  }
  return std::nullopt;
}

}  // namespace

std::string format_diagnostics(const Result& result, const std::string& candidate,
                               const std::string& indent) {
  if (result.diagnostics.empty()) return "";
  const Quoted quoted(candidate);
  const Facts facts =
      facts_of(result, quoted.candidate ? &*quoted.candidate : nullptr, quoted.evidence);
  std::string text;
  for (const Diagnostic& each : result.diagnostics) {
    text += indent + format_diagnostic(each) + "\n";
    const std::string line = source_line(facts, each.file, each.line);
    if (line.empty()) continue;
    text += indent + "    | " + line + "\n";
    if (const auto place = place_of_quoted(each.message, line)) {
      text += indent + "    | " + std::string(*place, ' ') + "^\n";
    }
  }
  return text;
}

bool repeats_diagnostic(const Result& result) {
  const auto first =
      std::ranges::find(result.diagnostics, std::string("error"), &Diagnostic::severity);
  return first != result.diagnostics.end() &&
         result.message == at(Location{first->file, first->line, first->column}) + first->message;
}

}  // namespace kbench::program
