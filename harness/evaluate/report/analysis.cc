#include "harness/evaluate/report/analysis.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"

namespace kbench::report {
namespace {

constexpr int kCurveSteps = 30;

int most_samples(const Study& study) {
  int most = std::max(study.scope.samples, 1);
  for (const Participant& one : study.participants) {
    for (const TaskId& task : study.scope.tasks) {
      most = std::max(most, static_cast<int>(study.attempts.chains(one.model, task).size()));
    }
  }
  return most;
}

std::vector<int> default_ks(int samples) {
  std::vector<int> ks;
  for (const int k : {1, 5, 10}) {
    if (k < samples) ks.push_back(k);
  }
  ks.push_back(samples);
  return ks;
}

/// 1, 2, 3, ... up to 10, then about five for each doubling.
std::vector<int> curve_ks(int samples) {
  std::set<int> ks = {samples};
  for (double k = 1; k < samples; k = std::max(k + 1, k * 1.15)) ks.insert(int(k));
  return {ks.begin(), ks.end()};
}

/// From p = 0 to the speedup that one winner in ten exceeds, at most 5.
std::vector<double> curve_ps(const std::vector<ModelReport>& models) {
  std::vector<double> speedups;
  for (const ModelReport& model : models) {
    for (const Winner& winner : model.winners) {
      if (winner.solved()) speedups.push_back(winner.value());
    }
  }
  std::ranges::sort(speedups);
  double most = 2;
  if (!speedups.empty()) {
    most = std::clamp(speedups[speedups.size() * 9 / 10 - (speedups.size() > 9)] * 1.2, 2.0, 5.0);
  }
  const double step = std::ceil(most * 20 / kCurveSteps) / 20;
  std::vector<double> ps;
  for (int i = 0; i <= kCurveSteps && i * step < most + step; ++i) ps.push_back(i * step);
  return ps;
}

class Analyst {
 public:
  Analyst(const Study& study, const AnalysisOptions& options)
      : study_(study), options_(options), bootstrap_(levels_of(study.scope.tasks)) {}

  Analysis run() {
    all_.attempts = std::max(study_.attempts.longest_chain(), 1);
    const int samples = most_samples(study_);
    all_.ks = options_.ks.empty() ? default_ks(samples) : options_.ks;
    all_.thresholds = options_.thresholds;
    all_.models.resize(study_.participants.size());
    const auto of_each = [&](const auto& add) {
      tbb::parallel_for(size_t{0}, all_.models.size(), [&](size_t i) { add(i); });
    };
    of_each([&](size_t i) { report(study_.participants[i], all_.models[i]); });
    all_.curve_ps = curve_ps(all_.models);
    of_each([&](size_t i) { add_fast_curve(all_.models[i]); });
    rank();
    compare();
    return std::move(all_);
  }

 private:
  static std::vector<int> levels_of(const std::vector<TaskId>& tasks) {
    std::vector<int> levels;
    for (const TaskId& task : tasks) levels.push_back(task.level);
    return levels;
  }

  std::vector<Ranking> ranked_samples(const ModelReport& of) const {
    return rankings(study_.attempts, of.model, study_.scope, study_.confirmations);
  }

  Score fast(std::span<const Ranking> ranked, int k, const Criterion& criterion,
             const Bootstrap& bootstrap) const {
    std::vector<std::optional<Share>> shares;
    for (const Ranking& task : ranked) shares.push_back(fast_at_k(task, k, criterion));
    return mean_share(shares, bootstrap);
  }

  int first_k() const { return all_.ks.front(); }

  void report(const Participant& one, ModelReport& to) const {
    const AttemptSet& set = study_.attempts;
    to.model = one.model;
    to.name = one.name;
    to.samples_of = draws(set, one.model, study_.scope);
    for (const Draws& task : to.samples_of) {
      to.samples += task.n + task.lost;
      to.lost += task.lost;
      to.solved += task.c > 0;
    }
    to.solved_share = wilson(to.solved, static_cast<int>(to.samples_of.size()));
    for (const int k : all_.ks) to.pass.push_back(mean_pass_at_k(to.samples_of, k, bootstrap_));
    const std::vector<Ranking> ranked = ranked_samples(to);
    for (const int k : all_.ks) {
      to.all_of.push_back(mean_pass_hat_k(to.samples_of, k, bootstrap_));
      to.best.push_back(best_of(ranked, k, bootstrap_));
    }
    add_fast(ranked, to);
    add_stricter(to);
    add_winners(ranked, to);
    add_levels(ranked, to);
    to.correct_by = by_attempt(set, one.model, study_.scope, bootstrap_);
    to.fast_by = by_attempt(set, one.model, study_.scope, bootstrap_, {.p = 1});
    to.funnel = funnel(set, one.model, study_.scope);
    to.spending = spending(set, one.model, study_.scope, study_.confirmations);
    int samples = 0;
    for (const Draws& task : to.samples_of) {
      samples = samples == 0 ? task.n + task.lost : std::min(samples, task.n + task.lost);
    }
    to.curve_ks = curve_ks(samples);
    for (const int k : to.curve_ks) {
      to.pass_curve.push_back(mean_pass_at_k(to.samples_of, k, bootstrap_));
    }
  }

  void add_fast(std::span<const Ranking> ranked, ModelReport& to) const {
    for (const double p : all_.thresholds) {
      FastScore& score = to.fast.emplace_back();
      score.p = p;
      for (const int k : all_.ks) {
        score.at_point.push_back(fast(ranked, k, {.p = p}, bootstrap_));
        score.at_low.push_back(fast(ranked, k, {.p = p, .at_low = true}, bootstrap_));
      }
    }
  }

  void add_fast_curve(ModelReport& to) const {
    const std::vector<Ranking> ranked = ranked_samples(to);
    for (const double p : all_.curve_ps) {
      to.fast_curve.push_back(fast(ranked, first_k(), {.p = p}, bootstrap_));
      to.low_curve.push_back(fast(ranked, first_k(), {.p = p, .at_low = true}, bootstrap_));
    }
  }

  /// The score under stricter rules.
  void add_stricter(ModelReport& to) const {
    const auto pass_1 = [&](const MetricScope& scope) {
      return mean_pass_at_k(draws(study_.attempts, to.model, scope), 1, bootstrap_);
    };
    MetricScope first = study_.scope, strict = study_.scope, own = study_.scope;
    MetricScope general = study_.scope;
    general.general = true;
    to.general = pass_1(general);
    first.attempts = 1;
    strict.strict = true;
    own.own_kernels = true;
    to.first_answer = pass_1(first);
    to.strict = pass_1(strict);
    to.own_kernels = pass_1(own);
  }

  void add_winners(std::span<const Ranking> ranked, ModelReport& to) const {
    std::vector<double> speedups;
    for (const Ranking& task : ranked) {
      const Winner& winner = to.winners.emplace_back(winner_of(task));
      to.confirmed += winner.solved() && winner.confirmed;
      to.withdrawn += winner.solved() && winner.confirmed && winner.confirmed->point == 0;
      to.unconfirmed += winner.unconfirmed();
      if (winner.solved() && winner.value() > 0) speedups.push_back(winner.value());
    }
    to.median_speedup = median(std::move(speedups));
  }

  void add_levels(std::span<const Ranking> ranked, ModelReport& to) const {
    std::map<int, std::vector<size_t>> tasks;
    for (size_t i = 0; i < study_.scope.tasks.size(); ++i) {
      tasks[study_.scope.tasks[i].level].push_back(i);
    }
    const auto report_of = [&](const std::vector<size_t>& own) {
      LevelReport report;
      std::vector<Draws> passed;
      std::vector<Ranking> ranked_there;
      std::vector<int> levels;
      for (const size_t i : own) {
        report.solved += to.samples_of[i].c > 0;
        passed.push_back(to.samples_of[i]);
        ranked_there.push_back(ranked[i]);
        levels.push_back(study_.scope.tasks[i].level);
      }
      report.tasks = static_cast<int>(own.size());
      const Bootstrap bootstrap(levels);
      report.pass = mean_pass_at_k(passed, first_k(), bootstrap);
      report.fast = fast(ranked_there, first_k(), {.p = 1}, bootstrap);
      return report;
    };
    for (const auto& [level, own] : tasks) to.levels[level] = report_of(own);
    std::vector<size_t> collapsing, others;
    for (size_t i = 0; i < study_.scope.tasks.size(); ++i) {
      (collapses(study_.scope.tasks[i]) ? collapsing : others).push_back(i);
    }
    if (collapsing.empty()) return;
    to.collapsing = report_of(collapsing);
    if (!others.empty()) to.not_collapsing = report_of(others);
  }

  void rank() {
    const auto column = std::ranges::find_if(all_.thresholds, [](double p) { return p >= 1; });
    const auto low = [](const Score& score) { return score.value ? score.value->low : -1; };
    const auto key = [&](const ModelReport& model) {
      const bool any = column != all_.thresholds.end();
      const auto index = static_cast<size_t>(column - all_.thresholds.begin());
      return std::pair(any ? low(model.fast[index].at_point.front()) : 0, low(model.pass.front()));
    };
    std::ranges::stable_sort(all_.models, std::greater<>(), key);
  }

  void compare() {
    std::vector<uint32_t> models;
    for (const ModelReport& model : all_.models) models.push_back(model.model);
    if (models.size() < 2) return;
    all_.swarm = swarm(study_.attempts, models, study_.scope, study_.confirmations);
    for (size_t i = 0; i < models.size(); ++i) {
      for (size_t j = i + 1; j < models.size(); ++j) {
        all_.comparisons.push_back(compare_models(study_.attempts, models[i], models[j],
                                                  study_.scope, first_k(), bootstrap_));
      }
    }
  }

  const Study& study_;
  const AnalysisOptions& options_;
  Bootstrap bootstrap_;
  Analysis all_;
};

}  // namespace

Analysis analyse(const Study& study, const AnalysisOptions& options) {
  return Analyst(study, options).run();
}

}  // namespace kbench::report
