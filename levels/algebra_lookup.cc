#include <algorithm>
#include <sstream>

#include "kbench/candidate.h"
#include "kbench/certificate.h"
#include "levels/tables.h"

namespace kbench {
namespace {

std::vector<Algebra> read_all() {
  std::vector<Algebra> all;
  for (const auto& [name, text] : levels::algebra_candidates()) {
    const std::string yaml(text);
    const Candidate candidate = parse_candidate(yaml, std::string(name), "");
    all.push_back({candidate.task, candidate.description, yaml, {}});
  }
  std::ranges::sort(all, {}, &Algebra::task);
  std::istringstream lines{std::string(levels::algebra_results())};
  for (std::string line; std::getline(lines, line);) {
    Result result = result_from_json(line);
    const auto found = std::ranges::find(all, result.task, &Algebra::task);
    if (found != all.end() && result.correct()) found->measured.push_back(std::move(result));
  }
  return all;
}

}  // namespace

const std::vector<Algebra>& known_algebra() {
  static const std::vector<Algebra> all = read_all();
  return all;
}

const Algebra* lookup_algebra(TaskId task) {
  const auto found = std::ranges::find(known_algebra(), task, &Algebra::task);
  return found != known_algebra().end() ? &*found : nullptr;
}

const Result* best_measured(const Algebra& algebra, Preset preset, DType dtype) {
  const Result* best = nullptr;
  for (const Result& each : algebra.measured) {
    if (each.preset != name_of(preset) || each.dtype != dtype) continue;
    if (best == nullptr || each.speedup.point > best->speedup.point) best = &each;
  }
  return best;
}

}  // namespace kbench
