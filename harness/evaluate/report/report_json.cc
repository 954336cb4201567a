#include <algorithm>

#include "harness/evaluate/report/tables.h"
#include "kbench/version.h"
#include "libkbench/base/json_text.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

using Json = nlohmann::ordered_json;

KBENCH_FIELDS(Share, low, high)
KBENCH_FIELDS(ByAttempt, attempt, chains, good, newly, open, lost, share, interval)
KBENCH_FIELDS(Funnel, answered, candidates, resolved, compiled, ran, correct, faster, unfinished,
              lenient, with_builtins, tried_at_sizes, general, distinct, outcomes, verdicts)
KBENCH_FIELDS(SwarmPoint, samples, calls, tokens, solved)

static void write_field(Json& json, const Amount& amount) {
  json = {{"sum", amount.known > 0 ? Json(amount.sum) : Json(nullptr)},
          {"known", amount.known},
          {"unknown", amount.unknown},
          {"lower_bound", amount.lower_bound()}};
}

static void write_field(Json& json, const Score& score) {
  if (!score.value) {
    json = {{"value", nullptr}, {"undefined", score.undefined}};
  } else {
    json = {{"value", json_of<Json>(*score.value)},
            {"interval", {score.interval.low, score.interval.high}}};
  }
}

static void write_field(Json& json, const BestOf& best) {
  json = {{"arithmetic", json_of<Json>(best.arithmetic)},
          {"geometric", json_of<Json>(best.geometric)},
          {"undefined", best.undefined},
          {"unconfirmed", best.unconfirmed},
          {"lower_bound", best.lower_bound()}};
}

namespace report {

static void write_field(Json& json, const LevelReport& report) {
  json = {{"tasks", report.tasks},
          {"solved", report.solved},
          {"pass", kbench::json_of<Json>(report.pass)},
          {"fast_1", kbench::json_of<Json>(report.fast)}};
}

namespace {

template <class T>
Json json(const T& value) {
  return kbench::json_of<Json>(value, Unset::null);
}

template <class T>
Json by_k(const std::vector<int>& ks, const std::vector<T>& values) {
  Json all = Json::object();
  for (size_t i = 0; i < ks.size(); ++i) all[std::to_string(ks[i])] = json(values[i]);
  return all;
}

Json attempts_json(const std::vector<ByAttempt>& all) {
  Json list = json(all);
  for (size_t i = 0; i < all.size(); ++i) list[i]["hazard"] = all[i].hazard();
  return list;
}

Json spending_json(const Spending& s) {
  return {{"attempts", s.attempts},
          {"input_tokens", json(s.input)},
          {"cached_tokens", json(s.cached)},
          {"output_tokens", json(s.output)},
          {"reasoning_tokens", json(s.reasoning)},
          {"cost", json(s.cost)},
          {"seconds", s.seconds},
          {"solved", s.solved},
          {"faster", s.faster},
          {"cost_per_solved", json(s.cost.per(s.solved))},
          {"cost_per_faster", json(s.cost.per(s.faster))},
          {"output_tokens_per_solved", json(s.output.per(s.solved))}};
}

Json tasks_json(const ModelReport& model, const Study& study) {
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
      task["winner"] = {{"sample", winner.sample},         {"attempt", winner.attempt},
                        {"speedup", json(winner.speedup)}, {"confirmed", confirmed_json(winner)},
                        {"chosen_among", winner.among},    {"worth", json(winner.worth())}};
    }
    list.push_back(std::move(task));
  }
  return list;
}

Json model_json(const ModelReport& model, const Study& study, const Analysis& analysis) {
  Json fast = Json::array(), levels = Json::object();
  for (const FastScore& score : model.fast) {
    fast.push_back({{"p", score.p},
                    {"at_point", by_k(analysis.ks, score.at_point)},
                    {"at_low", by_k(analysis.ks, score.at_low)}});
  }
  for (const auto& [level, own] : model.levels) levels[std::to_string(level)] = json(own);
  return {{"name", model.name},
          {"samples", model.samples},
          {"lost_samples", model.lost},
          {"solved", model.solved},
          {"solved_share", json(model.solved_share)},
          {"confirmed", model.confirmed},
          {"withdrawn", model.withdrawn},
          {"unconfirmed", model.unconfirmed},
          {"median_speedup", model.median_speedup > 0 ? Json(model.median_speedup) : Json(nullptr)},
          {"pass", by_k(analysis.ks, model.pass)},
          {"all_of", by_k(analysis.ks, model.all_of)},
          {"fast_p", fast},
          {"best_of", by_k(analysis.ks, model.best)},
          {"first_answer", json(model.first_answer)},
          {"strict", json(model.strict)},
          {"own_kernels", json(model.own_kernels)},
          {"general", json(model.general)},
          {"not_collapsing", json(model.not_collapsing)},
          {"collapsing", json(model.collapsing)},
          {"levels", levels},
          {"correct_by_attempt", attempts_json(model.correct_by)},
          {"fast_1_by_attempt", attempts_json(model.fast_by)},
          {"funnel", json(model.funnel)},
          {"spending", spending_json(model.spending)},
          {"tasks", tasks_json(model, study)}};
}

Json swarm_json(const Analysis& analysis) {
  if (!analysis.swarm) return nullptr;
  Json members = Json::array();
  for (size_t m = 0; m < analysis.models.size(); ++m) {
    const Swarm::Member& member = analysis.swarm->members[m];
    members.push_back({{"name", analysis.models[m].name},
                       {"won", member.won},
                       {"lost_solved", member.lost_solved},
                       {"lost_faster", member.lost_faster},
                       {"alone", json(member.alone)}});
  }
  return {{"solved", analysis.swarm->solved},
          {"faster", analysis.swarm->faster},
          {"members", members},
          {"together", json(analysis.swarm->together)}};
}

Json comparisons_json(const Analysis& analysis) {
  const auto name = [&](uint32_t model) {
    return std::ranges::find(analysis.models, model, &ModelReport::model)->name;
  };
  Json list = Json::array();
  for (const PairedComparison& c : analysis.comparisons) {
    list.push_back({{"first", name(c.first)},
                    {"second", name(c.second)},
                    {"difference", json(c.difference)},
                    {"both", c.both},
                    {"only_first", c.only_first},
                    {"only_second", c.only_second},
                    {"neither", c.neither},
                    {"unknown", c.unknown},
                    {"p", c.p},
                    {"comparisons_made", analysis.comparisons.size()}});
  }
  return list;
}

}  // namespace

Json confirmed_json(const Winner& winner) {
  return winner.confirmed ? Json(winner.confirmed->point) : Json(nullptr);
}

std::string report_json(const Study& study, const Analysis& analysis) {
  Json tasks = Json::array(), models = Json::array(), sources = Json::array();
  for (const TaskId& task : study.scope.tasks) tasks.push_back(to_string(task));
  for (const ModelReport& model : analysis.models) {
    models.push_back(model_json(model, study, analysis));
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
                     {"swarm", swarm_json(analysis)},
                     {"comparisons", comparisons_json(analysis)}};
  return json_text(json, 2) + "\n";
}

}  // namespace report
}  // namespace kbench
