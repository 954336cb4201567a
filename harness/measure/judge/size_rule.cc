#include "harness/measure/judge/size_rule.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

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

/// Of a result that turned out to be a failure no time counts.
void drop_times(Result& result) {
  result.samples = 0;
  result.speedup = {};
  result.candidate_ms = result.baseline_ms = result.setup_ms = 0;
  result.gbytes_per_s = result.tflops = 0;
}

/// The failure in place of what had passed.
void fail(Result& result, const Variables& sizes, const Result& wrong) {
  const std::string own = own_text(result, sizes);
  Result failed = wrong;
  static_cast<Experiment&>(failed) = result;
  failed.message = "at " + sizes_text(sizes) + ": " + wrong.message + " (right at " + own + ")";
  failed.lane = result.lane;
  failed.compile_s = result.compile_s;
  failed.stage_s = result.stage_s;
  drop_times(failed);
  result = std::move(failed);
}

}  // namespace

SizeUse::SizeUse(const std::map<std::string, std::string>& files, const std::string& manifest,
                 bool module)
    : reads_all_(module) {
  for (const auto& [path, bytes] : files) {
    if (path.ends_with(".spv") || path.ends_with(".ptx")) {
      hidden_ = true;
      continue;
    }
    add_words(bytes, words_);
    if (path != manifest) continue;
    add_words(bytes, in_manifest_);
    hidden_ = hidden_ || bytes.find("language: ptx") != std::string::npos;
  }
}

bool SizeUse::reads(const std::string& variable) const {
  return reads_all_ || words_.contains("KB_" + variable) || in_manifest_.contains(variable);
}

bool SizeUse::may_hold(int64_t value) const {
  return hidden_ || words_.contains(std::to_string(value));
}

Variables read_of(Variables sizes, const SizeUse& use) {
  std::erase_if(sizes, [&](const auto& each) { return !use.reads(each.first); });
  return sizes;
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
  const auto holds_own = [&](const std::string& name) {
    const auto own = result.variables.find(name);
    const auto* value =
        own == result.variables.end() ? nullptr : std::get_if<int64_t>(&own->second);
    return value != nullptr && use.may_hold(*value);
  };
  std::string tied;  // to which sizes the candidate is tied, and why
  for (const Variables& set : sizes) {
    const Variables read = read_of(set, use);
    if (read.empty()) {
      if (tied.empty() && !set.empty()) tied = "it reads none of " + own_text(result, set);
      continue;
    }
    const Result there = values_at(read);
    if (there.correct() || is_infrastructure_fault(there.verdict)) continue;
    if (is_about_form(there.verdict)) {
      tied = "at " + sizes_text(read) + " it is " + std::string(name_of(there.verdict)) + ": " +
             there.message;
      break;
    }
    // A number in its files that equals the variable's value may stand for it.
    Variables certain = read;
    std::erase_if(certain, [&](const auto& each) { return holds_own(each.first); });
    if (certain.size() == read.size()) return fail(result, read, there);
    if (!certain.empty()) {
      const Result again = values_at(certain);
      const bool wrong = !again.correct() && !is_infrastructure_fault(again.verdict);
      if (wrong && !is_about_form(again.verdict)) return fail(result, certain, again);
    }
    tied = "at " + sizes_text(read) + " it is " + std::string(name_of(there.verdict)) +
           ", and its files hold " + own_text(result, read) + " as numbers: " + there.message;
    break;
  }
  if (!tied.empty()) add_note(result, "tied to its sizes: " + tied);
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
