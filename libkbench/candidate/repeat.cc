// Repeated steps: parsing `repeat`, and resolving the steps of every turn.
#include <algorithm>

#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/parser.h"
#include "libkbench/candidate/resolver.h"

namespace kbench {
namespace {

/// The bytes of all texts below the node.
size_t text_bytes(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar().size();
  size_t bytes = 0;
  if (node.IsSequence()) {
    for (const auto& item : node) bytes += text_bytes(item);
  }
  if (node.IsMap()) {
    for (const auto& item : node) bytes += text_bytes(item.first) + text_bytes(item.second);
  }
  return bytes;
}

}  // namespace

size_t end_of_repeat(const std::vector<Step>& steps, size_t begin, size_t end, size_t depth) {
  size_t last = begin + 1;
  while (last < end && steps[last].repeats.size() > depth &&
         steps[last].repeats[depth].group == steps[begin].repeats[depth].group) {
    ++last;
  }
  return last;
}

/// Adds the step, or those below its `steps`.
void CandidateParser::add_steps(const YAML::Node& node, std::vector<Repeat> repeats,
                                std::vector<Step>& steps) {
  const auto entries = yaml_.entries(node, "a step");
  const auto find = [&](const char* key) -> const YamlEntry* {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const YamlEntry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &*found;
  };
  if (const YamlEntry* entry = find("repeat")) add_repeats(*entry, repeats);
  const YamlEntry* group = find("steps");
  if (!group) {
    steps.push_back(step(node));
    steps.back().repeats = std::move(repeats);
    steps.back().text_bytes = text_bytes(node);
    check_count(yaml_.at(node), "steps of setup and dispatch",
                candidate_.setup.size() + steps.size(), limits::kSteps);
    return;
  }
  yaml_.fields(node, "a repeated list of steps", {"repeat", "steps"}, {"repeat", "steps"});
  const auto nodes = yaml_.list(group->value, "steps");
  if (nodes.empty()) fail_parse(group->at, "there is no step to repeat");
  for (const YAML::Node& each : nodes) {
    errors_.keep([&] { add_steps(each, repeats, steps); });
  }
}

void CandidateParser::add_repeats(const YamlEntry& entry, std::vector<Repeat>& repeats) {
  const auto variables = yaml_.entries(entry.value, "repeat");
  if (variables.empty()) {
    fail_parse(entry.at, "repeat names no variable, as in {repeat: {b: batch_size}}");
  }
  check_count(entry.at, "repeats around a step", repeats.size() + variables.size(),
              limits::kRepeats);
  for (const YamlEntry& variable : variables) {
    check_constant_name(variable, "repeat's variable");
    for (const Repeat& outer : repeats) {
      if (outer.variable != variable.key) continue;
      fail_parse(variable.at, "'" + variable.key + "' is the variable of a repeat around this one");
    }
    repeats.push_back({++repeat_groups_, variable.key,
                       yaml_.text(variable.value, "the times that " + variable.key + " counts")});
  }
}

/// Refuses a variable whose name already has a meaning.
void CandidateResolver::check_repeats(const Step& step) const {
  const auto& device = device_number_names();
  const auto kernel = kernel_indices_.find(step.kernel);
  const SymbolTable& scope = kernel == kernel_indices_.end()
                                 ? scope_
                                 : kernel_scopes_[static_cast<size_t>(kernel->second)];
  for (const Repeat& repeat : step.repeats) {
    const bool of_device = std::find(device.begin(), device.end(), repeat.variable) != device.end();
    if (!of_device && !scope.knows(repeat.variable)) continue;
    fail_parse(repeat.count.at, "the variable '" + repeat.variable +
                                    "' of a repeat has the name of a shape variable, a constant or "
                                    "a number of the device; use another");
  }
}

std::vector<ResolvedStep> CandidateResolver::resolve_steps(const std::vector<Step>& steps,
                                                           Phase phase) {
  bool repeats_right = true;
  for (const Step& step : steps) repeats_right &= errors_.keep([&] { check_repeats(step); });
  std::vector<ResolvedStep> resolved;
  if (repeats_right) {
    errors_.keep([&] { resolve_range(steps, {0, steps.size()}, phase, resolved); });
  }
  return resolved;
}

/// Resolves the steps between two indices, inside the repeats that are running.
void CandidateResolver::resolve_range(const std::vector<Step>& steps, StepRange range, Phase phase,
                                      std::vector<ResolvedStep>& resolved) {
  const size_t depth = running_.size();
  while (range.begin < range.end) {
    const Step& first = steps[range.begin];
    if (first.repeats.size() == depth) {
      if (!errors_.keep([&] { add_step(first, range.begin, phase, resolved); })) {
        touch_all(first, phase);
      }
      ++range.begin;
      continue;
    }
    const Repeat& repeat = first.repeats[depth];
    const size_t end = end_of_repeat(steps, range.begin, range.end, depth);
    scope_.set_running(running_);
    repeated_bytes_ += repeat.count.text.size();
    const int64_t count =
        scope_.integer(repeat.count, 1, static_cast<int64_t>(limits::kLaunches),
                       "the number of times that '" + repeat.variable + "' counts");
    for (int64_t turn = 0; turn < count; ++turn) {
      running_.emplace_back(repeat.variable, turn);
      resolve_range(steps, {range.begin, end}, phase, resolved);
      running_.pop_back();
      if (errors_.any()) break;  // it would be told once more in each turn
    }
    range.begin = end;
  }
}

/// Resolves one step; an error names the turn at which it occurs.
void CandidateResolver::add_step(const Step& step, size_t index, Phase phase,
                                 std::vector<ResolvedStep>& resolved) {
  if (!running_.empty()) count_launch(step);
  scope_.set_running(running_);
  try {
    resolved.push_back(step.kind == Step::Kind::op ? operator_step(step, phase)
                                                   : kernel_step(step, phase));
    resolved.back().step = index;
  } catch (const Error& error) {
    if (running_.empty()) throw;
    std::string turn;
    for (const auto& [name, value] : running_) {
      turn += (turn.empty() ? " (where " : ", ") + name + " is " + std::to_string(value);
    }
    std::vector<Error> all;
    for (const Error& each : error.all()) {
      all.emplace_back(each.code(), each.location(), each.message() + turn + ")");
    }
    throw Error(std::move(all));
  }
}

void CandidateResolver::count_launch(const Step& step) {
  repeated_bytes_ += step.text_bytes;
  if (++launches_ > limits::kLaunches) {
    fail_parse(step.at, "with its repeats the candidate has more than " +
                            std::to_string(limits::kLaunches) + " launches");
  }
  if (repeated_bytes_ > limits::kRepeatedBytes) {
    fail_parse(
        step.at,
        "the repeated steps have more than " + std::to_string(limits::kRepeatedBytes) +
            " bytes of text, counted as often as they run; shorten them or repeat them less often");
  }
}

}  // namespace kbench
