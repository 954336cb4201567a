#include "harness/measure/judge/size_rule.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "kbench/score.h"
#include "libkbench/base/text.h"

namespace kbench::judge {
namespace {

void add_words(std::string_view text, std::set<std::string>& words) {
  for (std::string_view word : words_in(text)) {
    // "48u" and "48L" are numbers, too.
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      while (word.size() > 1 && std::string_view("uUlL").find(word.back()) != word.npos) {
        word.remove_suffix(1);
      }
    }
    words.emplace(word);
  }
}

/// Whether the verdict is about the candidate at those sizes, and not about its values there.
bool is_about_form(Verdict verdict) {
  switch (verdict) {
    case Verdict::invalid_candidate:
    case Verdict::compile_error:
    case Verdict::unsupported:
    case Verdict::out_of_memory:
      return true;
    default:
      return false;
  }
}

void add_note(Result& result, const std::string& message) {
  Diagnostic note;
  note.severity = "note";
  note.message = message;
  result.diagnostics.push_back(std::move(note));
}

std::string own_text(const Result& result, const Variables& sizes) {
  Variables own;
  for (const auto& [name, value] : sizes) {
    const auto found = result.variables.find(name);
    if (found != result.variables.end()) own.insert(*found);
  }
  return sizes_text(own);
}

/// The failure in place of what had passed.
void fail(Result& result, const Variables& sizes, const Result& wrong) {
  const std::string own = own_text(result, sizes);
  Result failed = wrong;
  static_cast<Experiment&>(failed) = result;
  failed.message = "at " + sizes_text(sizes) + ": " + wrong.message + " (right at " + own + ")";
  failed.holds_at = HoldsAt{1, 0, WrongAt{sizes, wrong.verdict, wrong.message}};
  failed.seed = result.seed;
  failed.lane = result.lane;
  failed.compile_s = result.compile_s;
  failed.stage_s = result.stage_s;
  drop_times(failed);
  result = std::move(failed);
}

}  // namespace

SizeUse::SizeUse(const std::map<std::string, std::string>& files, bool module) : module_(module) {
  for (const auto& [path, bytes] : files) {
    if (path.ends_with(".spv") || path.ends_with(".ptx")) {
      hidden_ = true;
      continue;
    }
    add_words(bytes, words_);
    hidden_ = hidden_ || bytes.find("language: ptx") != std::string::npos;
  }
}

bool SizeUse::takes(const std::string& variable, const VariableValue& value) const {
  const bool named = module_ || words_.contains("KB_" + variable) || words_.contains(variable);
  return named && !hidden_ && !words_.contains(to_string(value));
}

bool SizeUse::can_depend_on(const Variables& sizes) const {
  const auto named = [&](const auto& each) {
    return words_.contains("KB_" + each.first) || words_.contains(each.first);
  };
  return module_ || hidden_ || words_.contains("op") || words_.contains("length") ||
         std::ranges::any_of(sizes, named);
}

std::string sizes_text(const Variables& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) {
    text += (text.empty() ? "" : ", ") + name + "=" + to_string(value);
  }
  return text;
}

void look_at_other_sizes(Result& result, const std::vector<Variables>& sizes, const SizeUse& use,
                         const std::function<Result(const Variables&)>& values_at) {
  const auto is_wrong = [](const Result& there) {
    return !there.correct() && !is_infrastructure_fault(there.verdict);
  };
  for (const Variables& set : sizes) {
    const Result there = values_at(set);
    if (!is_wrong(there)) continue;
    Variables taken = set;
    std::erase_if(taken, [&](const auto& each) {
      const auto own = result.variables.find(each.first);
      return own == result.variables.end() || !use.takes(each.first, own->second);
    });
    const bool all = taken.size() == set.size();
    const Result again = all || taken.empty() ? there : values_at(taken);
    if (!taken.empty() && is_wrong(again) && !is_about_form(again.verdict)) {
      return fail(result, taken, again);
    }
    add_note(result, "tied to its sizes, " + own_text(result, set) + ": at " + sizes_text(set) +
                         " it is " + std::string(name_of(there.verdict)) + ": " + there.message);
    return;
  }
}

std::optional<HoldsAt> try_drawn_sizes(const std::vector<Variables>& sizes,
                                       const std::function<Result(const Variables&)>& values_at,
                                       const std::function<bool()>& late) {
  HoldsAt holds_at;
  for (const Variables& set : sizes) {
    if (late()) break;
    const Result there = values_at(set);
    if (is_infrastructure_fault(there.verdict)) continue;
    ++holds_at.tried;
    if (there.correct()) {
      ++holds_at.right;
    } else if (!holds_at.first_wrong) {
      holds_at.first_wrong = WrongAt{set, there.verdict, there.message};
    }
  }
  return holds_at.tried > 0 ? std::optional(holds_at) : std::nullopt;
}

void time_at_sizes(const std::vector<Variables>& sizes, const SizeUse& use,
                   const std::function<Result(const Variables&)>& measured_at, Result& result) {
  const auto not_general = [&](const std::string& why) {
    result.verdict = Verdict::not_general;
    result.message = why;
    drop_times(result);
  };
  Workloads found;
  std::vector<Interval> speedups;
  for (const Variables& set : sizes) {
    if (!use.can_depend_on(set)) {
      return not_general("its files name no size of the task: it was not tried at " +
                         sizes_text(set));
    }
    const Result there = measured_at(set);
    if (is_infrastructure_fault(there.verdict)) {
      add_note(result, "not timed at " + sizes_text(set) + ": " +
                           std::string(name_of(there.verdict)) + ": " + there.message);
    } else if (!there.correct()) {
      return not_general("at " + sizes_text(set) + " it is " + std::string(name_of(there.verdict)) +
                         (there.message.empty() ? "" : ": " + there.message));
    } else {
      found.each.push_back({set, there.speedup, there.candidate_ms, there.baseline_ms});
      speedups.push_back(there.speedup);
    }
  }
  if (speedups.empty()) return;
  found.geomean = geometric_mean_interval(speedups);
  found.least = *std::ranges::min_element(speedups, {}, &Interval::point);
  result.workloads = std::move(found);
}

void require_general(Result& result) {
  if (!result.correct() || !result.holds_at || result.holds_at->everywhere()) return;
  const WrongAt& wrong = *result.holds_at->first_wrong;
  result.verdict = Verdict::not_general;
  result.message = "right at " + std::to_string(result.holds_at->right) + " of " +
                   std::to_string(result.holds_at->tried) + " further sizes; at " +
                   sizes_text(wrong.sizes) + " it is " + std::string(name_of(wrong.verdict)) +
                   (wrong.message.empty() ? "" : ": " + wrong.message);
  drop_times(result);
}

}  // namespace kbench::judge
