// The parts of a question, and with which settings a result was made: by the lists in
// kbench/question.h.
#pragma once

#include <string>
#include <type_traits>

#include "kbench/question.h"

namespace kbench {

/// A part of a question: rule, plan, limits.
template <class T>
concept IsPart = requires(T& part) {
  each_asked_field([](const char*, auto&, const FieldWords&) {}, part);
};

/// Calls visit(part's name, part) for rule, plan and limits.
template <class Visit, class Q>
void each_part(const Visit& visit, Q& question) {
  each_field(
      [&](const char* name, auto& value) {
        if constexpr (IsPart<std::remove_reference_t<decltype(value)>>) visit(name, value);
      },
      question);
}

/// "tolerance=kbench other_sizes=note precision=0.01 ...": every field of rule, plan and limits
/// that is set. Results whose settings differ are not of one experiment.
std::string settings_text(const Question& question);
/// The same of what earlier versions wrote: "tolerance=kbench precision=0.01 max_seconds=0
/// samples=8..1000 seed=7 own sizes alone". Any other text as it is.
std::string settings_of_today(const std::string& text);

}  // namespace kbench
