#include "kbench/feedback.h"

#include <algorithm>
#include <cstdio>

#include "kbench/error.h"
#include "libkbench/base/hash.h"
#include "libkbench/base/text.h"
#include "libkbench/feedback/parts.h"

namespace kbench {
namespace {

constexpr const char* kWholeCandidate =
    "Answer with one fenced yaml block whose top level has `kbench: 1`, and one fenced block for "
    "each file of a kernel, its name behind the language: ```glsl relu.comp, ```cuda relu.cu, "
    "```python relu.py. Each `file:` of the yaml names one of them.";
constexpr const char* kWholeModel =
    "Answer with one fenced python block, a whole file that defines `class "
    "ModelNew(torch.nn.Module)`.";

/// The sections with a blank line between them. Where they are longer than `most` bytes, sections
/// of the highest rank are dropped first, the last of equals first.
std::string fitted(std::vector<Section> sections, size_t most) {
  const auto length = [&] {
    size_t sum = 0;
    for (const Section& section : sections) sum += section.text.size() + 1;
    return sum;
  };
  while (sections.size() > 1 && length() > most) {
    size_t last = 0;
    for (size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].rank >= sections[last].rank) last = i;
    }
    sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(last));
  }
  std::string text;
  for (const Section& section : sections) text += (text.empty() ? "" : "\n") + section.text;
  if (text.size() > most) {
    size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
  }
  return text;
}

Feedback made_of(std::string text) {
  std::string hash = Sha256().add(text).hex();
  return {std::move(text), std::move(hash)};
}

}  // namespace

Feedback feedback(const Result& result, const Candidate* candidate, const Evidence& evidence,
                  const FeedbackOptions& options) {
  const Facts facts = facts_of(result, candidate, evidence);
  std::vector<Section> sections = {verdict_section(facts)};
  if (options.evidence) {
    std::vector<Section> more = sections_of(facts);
    std::move(more.begin(), more.end(), std::back_inserter(sections));
  }
  return made_of(fitted(std::move(sections), options.max_characters));
}

Feedback feedback(const Extraction& extraction, const FeedbackOptions& options) {
  std::vector<Section> sections;
  const char* said = "";
  const char* wanted = "";
  const bool model = extraction.asked == AnswerForm::model;
  switch (extraction.outcome) {
    case Outcome::candidate:
      said = "The answer holds a candidate.";
      break;
    case Outcome::wrong_task:
      said = "The answer's candidate is for another task than the one asked for.";
      wanted = model ? "Write ModelNew for the task of the prompt, without a `# task:` of another."
                     : "The `task:` of candidate.yaml must be the task of the prompt.";
      break;
    case Outcome::truncated:
      said = "The answer was cut off at the token limit before a candidate was whole.";
      wanted = "Think less, and write the candidate first; leave out explanations.";
      break;
    case Outcome::refused:
      said = "The request was declined; there is no answer to judge.";
      break;
    case Outcome::too_long:
      said = "The prompt does not fit the model's context.";
      break;
    case Outcome::unanswered:
      said = "The request was not answered.";
      break;
    case Outcome::no_candidate:
      said = "The answer holds no candidate.";
      wanted = model ? kWholeModel : kWholeCandidate;
      break;
  }
  sections.push_back({0, std::string(said) + "\n"});
  if (!extraction.explanation.empty()) {
    sections.push_back({1, shown(extraction.explanation, 1000) + "\n"});
  }
  if (*wanted != '\0' && options.evidence) sections.push_back({2, std::string(wanted) + "\n"});
  if (options.evidence && !extraction.files.empty()) {
    std::string names = "Found in it:";
    size_t listed = 0;
    for (const auto& [path, text] : extraction.files) {
      constexpr size_t kMost = 20;
      if (++listed > kMost) break;
      names += " '" + shown(path, 80) + "'";
    }
    sections.push_back({3, names + "\n"});
  }
  return made_of(fitted(std::move(sections), options.max_characters));
}

Facts facts_of(const Result& result, const Candidate* candidate, const Evidence& evidence) {
  Facts facts{result, candidate, evidence, nullptr, std::nullopt};
  if (lookup_task(result.task) == nullptr || result.preset.empty()) return facts;
  try {
    facts.graph = build_graph(result);
    if (candidate && !candidate->torch) facts.resolved = resolve(*candidate, *facts.graph);
  } catch (const Error&) {  // the result says what is wrong
    return facts;
  }
  return facts;
}

std::string short_number(double value) { return digits_text(value, 4); }

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) bytes /= 1000, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %s", bytes, units[unit]);
  return text;
}

std::string sizes_text(const Variables& variables) {
  return listed(variables, [](const auto& variable) {
    return variable.first + " = " + to_string(variable.second);
  });
}

}  // namespace kbench
