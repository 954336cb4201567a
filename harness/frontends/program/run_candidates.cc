#include "harness/frontends/program/run_candidates.h"

#include <filesystem>
#include <map>
#include <utility>

#include "kbench/attempt.h"

namespace kbench::program {

namespace fs = std::filesystem;

std::vector<std::string> best_of_run(const std::string& folder) {
  std::error_code ignored;
  fs::path set = fs::absolute(folder, ignored).lexically_normal();
  if (!set.has_filename()) set = set.parent_path();
  const fs::path run = set.parent_path().parent_path();
  if (set.parent_path().filename() != "candidates" ||
      !fs::exists(run / "attempts.jsonl", ignored)) {
    return {};
  }
  const std::string prefix = "candidates/" + set.filename().string() + "/";
  struct Best {
    double speedup = -1;
    std::string candidate;
  };
  std::map<TaskId, Best> best;
  read_attempts((run / "attempts.jsonl").string(), [&](const Attempt& attempt) {
    if (attempt.outcome != Outcome::candidate || !attempt.candidate.starts_with(prefix)) return;
    const double speedup = attempt.correct() ? attempt.speedup.point : -1;
    Best& so_far = best[attempt.task];
    if (speedup >= so_far.speedup) so_far = {speedup, attempt.candidate.substr(prefix.size())};
  });
  std::vector<std::string> files;
  for (const auto& [task, each] : best)
    files.push_back((fs::path(folder) / each.candidate).string());
  return files;
}

}  // namespace kbench::program
