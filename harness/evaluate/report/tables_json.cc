#include "harness/evaluate/report/tables_json.h"

#include <algorithm>
#include <cmath>

#include "harness/evaluate/report/tables.h"
#include "kbench/version.h"
#include "libkbench/base/json_text.h"

namespace kbench::report {
namespace {

Json json_of(const std::optional<Interval>& interval) {
  return interval ? report::json_of(*interval) : Json(nullptr);
}

Json json_of(const Amount& amount) {
  return {{"sum", amount.known > 0 ? Json(amount.sum) : Json(nullptr)},
          {"known", amount.known},
          {"unknown", amount.unknown},
          {"lower_bound", amount.lower_bound()}};
}

Json json_of(const Funnel& f) {
  Json outcomes = Json::object(), verdicts = Json::object();
  for (const auto& [outcome, count] : f.outcomes) outcomes[std::string(name_of(outcome))] = count;
  for (const auto& [verdict, count] : f.verdicts) verdicts[std::string(name_of(verdict))] = count;
  return {{"answered", f.answered},
          {"candidates", f.candidates},
          {"resolved", f.resolved},
          {"compiled", f.compiled},
          {"ran", f.ran},
          {"correct", f.correct},
          {"faster", f.faster},
          {"unfinished", f.unfinished},
          {"lenient", f.lenient},
          {"with_builtins", f.with_builtins},
          {"tried_at_sizes", f.tried_at_sizes},
          {"general", f.general},
          {"distinct", f.distinct},
          {"outcomes", outcomes},
          {"verdicts", verdicts}};
}

Json json_of(const std::vector<ByAttempt>& all) {
  Json list = Json::array();
  for (const ByAttempt& at : all) {
    list.push_back({{"attempt", at.attempt},
                    {"chains", at.chains},
                    {"good", at.good},
                    {"newly", at.newly},
                    {"open", at.open},
                    {"lost", at.lost},
                    {"share", {{"low", at.share.low}, {"high", at.share.high}}},
                    {"interval", report::json_of(at.interval)},
                    {"hazard", at.hazard()}});
  }
  return list;
}

Json json_of(const Spending& s) {
  return {{"attempts", s.attempts},
          {"input_tokens", json_of(s.input)},
          {"cached_tokens", json_of(s.cached)},
          {"output_tokens", json_of(s.output)},
          {"reasoning_tokens", json_of(s.reasoning)},
          {"cost", json_of(s.cost)},
          {"seconds", s.seconds},
          {"solved", s.solved},
          {"faster", s.faster},
          {"cost_per_solved", or_null(s.cost.per(s.solved))},
          {"cost_per_faster", or_null(s.cost.per(s.faster))},
          {"output_tokens_per_solved", or_null(s.output.per(s.solved))}};
}

Json json_of(const BestOf& best) {
  return {{"arithmetic", json_of(best.arithmetic)},
          {"geometric", json_of(best.geometric)},
          {"undefined", best.undefined},
          {"unconfirmed", best.unconfirmed},
          {"lower_bound", best.lower_bound()}};
}

template <class T>
Json by_k(const std::vector<int>& ks, const std::vector<T>& values) {
  Json all = Json::object();
  for (size_t i = 0; i < ks.size(); ++i) {
    if constexpr (std::is_same_v<T, Score>) {
      all[std::to_string(ks[i])] = report::json_of(values[i]);
    } else {
      all[std::to_string(ks[i])] = json_of(values[i]);
    }
  }
  return all;
}

Json points(const std::vector<SwarmPoint>& all) {
  Json list = Json::array();
  for (const SwarmPoint& at : all) {
    list.push_back({{"samples", at.samples},
                    {"calls", at.calls},
                    {"tokens", or_null(at.tokens)},
                    {"solved", at.solved ? Json{{"low", at.solved->low}, {"high", at.solved->high}}
                                         : Json(nullptr)}});
  }
  return list;
}

Json tasks_of(const ModelReport& model, const Study& study) {
  Json list = Json::array();
  for (size_t i = 0; i < study.scope.tasks.size(); ++i) {
    const Winner& winner = model.winners[i];
    const Draws& samples = model.samples_of[i];
    Json task = {{"task", to_string(study.scope.tasks[i])},
                 {"n", samples.n},
                 {"correct", samples.c},
                 {"lost", samples.lost},
                 {"winner", nullptr}};
    if (winner.solved()) {
      task["winner"] = {{"sample", winner.sample},
                        {"attempt", winner.attempt},
                        {"speedup", report::json_of(winner.speedup)},
                        {"confirmed", confirmed_json(winner)},
                        {"chosen_among", winner.among},
                        {"worth", report::json_of(winner.worth())}};
    }
    list.push_back(std::move(task));
  }
  return list;
}

const std::string& name_of_model(const Analysis& analysis, uint32_t model) {
  return std::ranges::find(analysis.models, model, &ModelReport::model)->name;
}

}  // namespace

Json json_of(const Interval& interval) { return interval_json(interval); }

Json confirmed_json(const Winner& winner) {
  return winner.confirmed ? Json(winner.confirmed->point) : Json(nullptr);
}

Json json_of(const Score& score) {
  if (!score.value) return {{"value", nullptr}, {"undefined", score.undefined}};
  return {{"value", {{"low", score.value->low}, {"high", score.value->high}}},
          {"interval", {score.interval.low, score.interval.high}}};
}

static Json json_of(const LevelReport& report) {
  return {{"tasks", report.tasks},
          {"solved", report.solved},
          {"pass", json_of(report.pass)},
          {"fast_1", json_of(report.fast)}};
}

Json json_of(const ModelReport& model, const Study& study, const Analysis& analysis) {
  Json fast = Json::array();
  for (const FastScore& score : model.fast) {
    fast.push_back({{"p", score.p},
                    {"at_point", by_k(analysis.ks, score.at_point)},
                    {"at_low", by_k(analysis.ks, score.at_low)}});
  }
  Json levels = Json::object(), funnels = Json::array();
  for (const auto& [level, own] : model.levels) {
    levels[std::to_string(level)] = json_of(own);
  }
  for (const Funnel& f : model.funnel) funnels.push_back(json_of(f));
  return {{"name", model.name},
          {"samples", model.samples},
          {"lost_samples", model.lost},
          {"solved", model.solved},
          {"solved_share", json_of(model.solved_share)},
          {"confirmed", model.confirmed},
          {"withdrawn", model.withdrawn},
          {"unconfirmed", model.unconfirmed},
          {"median_speedup", model.median_speedup > 0 ? Json(model.median_speedup) : Json(nullptr)},
          {"pass", by_k(analysis.ks, model.pass)},
          {"all_of", by_k(analysis.ks, model.all_of)},
          {"fast_p", fast},
          {"best_of", by_k(analysis.ks, model.best)},
          {"first_answer", json_of(model.first_answer)},
          {"strict", json_of(model.strict)},
          {"own_kernels", json_of(model.own_kernels)},
          {"general", json_of(model.general)},
          {"not_collapsing", model.not_collapsing ? json_of(*model.not_collapsing) : Json()},
          {"collapsing", model.collapsing ? json_of(*model.collapsing) : Json()},
          {"levels", levels},
          {"correct_by_attempt", json_of(model.correct_by)},
          {"fast_1_by_attempt", json_of(model.fast_by)},
          {"funnel", funnels},
          {"spending", json_of(model.spending)},
          {"tasks", tasks_of(model, study)}};
}

Json json_of(const Swarm& swarm, const Analysis& analysis) {
  Json members = Json::array();
  for (size_t m = 0; m < swarm.members.size(); ++m) {
    members.push_back({{"name", analysis.models[m].name},
                       {"won", swarm.members[m].won},
                       {"lost_solved", swarm.members[m].lost_solved},
                       {"lost_faster", swarm.members[m].lost_faster},
                       {"alone", points(swarm.members[m].alone)}});
  }
  return {{"solved", swarm.solved},
          {"faster", swarm.faster},
          {"members", members},
          {"together", points(swarm.together)}};
}

Json json_of(const std::vector<PairedComparison>& comparisons, const Analysis& analysis) {
  Json list = Json::array();
  for (const PairedComparison& c : comparisons) {
    list.push_back({{"first", name_of_model(analysis, c.first)},
                    {"second", name_of_model(analysis, c.second)},
                    {"difference", json_of(c.difference)},
                    {"both", c.both},
                    {"only_first", c.only_first},
                    {"only_second", c.only_second},
                    {"neither", c.neither},
                    {"unknown", c.unknown},
                    {"p", c.p},
                    {"comparisons_made", comparisons.size()}});
  }
  return list;
}

std::string report_json(const Study& study, const Analysis& analysis) {
  Json tasks = Json::array(), models = Json::array(), sources = Json::array();
  for (const TaskId& task : study.scope.tasks) tasks.push_back(to_string(task));
  for (const ModelReport& model : analysis.models) {
    models.push_back(json_of(model, study, analysis));
  }
  for (const Source& source : study.sources) {
    for (const std::string& path : source.paths()) sources.push_back(path);
  }
  const Json json = {{"kbench", version()},
                     {"sources", sources},
                     {"device", study.device},
                     {"preset", study.preset},
                     {"dtype", name_of(study.dtype)},
                     {"software_device", study.software_device},
                     {"attempts", study.recorded_attempts},
                     {"notes", study.notes},
                     {"tasks", tasks},
                     {"k", analysis.ks},
                     {"models", models},
                     {"swarm", analysis.swarm ? json_of(*analysis.swarm, analysis) : Json(nullptr)},
                     {"comparisons", json_of(analysis.comparisons, analysis)}};
  return json_text(json, 2) + "\n";
}

}  // namespace kbench::report
