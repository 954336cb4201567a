#include "harness/evaluate/report/page.h"

#include <algorithm>
#include <map>

#include "harness/evaluate/report/tables.h"
#include "kbench/error.h"
#include "kbench/version.h"
#include "libkbench/base/json_text.h"

namespace kbench::report {
namespace {

/// Most attempts whose verdicts a page lists.
constexpr size_t kListedAttempts = 60'000;

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// A model's chains on one task, and the most telling one.
struct Cell {
  size_t participant = 0;
  TaskId task = {};
  std::span<const Chain> chains;
  size_t telling = 0;  ///< index of the most telling chain
  int attempt = 0;     ///< of it
  size_t mark = 0;     ///< mark of that attempt
};

class Page {
 public:
  Page(const Study& study, const Analysis& analysis, const ConversationLimits& limits)
      : study_(study), analysis_(analysis), limits_(limits) {
    for (const ModelReport& model : analysis.models) {
      const auto participant =
          std::ranges::find(study.participants, model.model, &Participant::model);
      const auto index = static_cast<size_t>(participant - study.participants.begin());
      for (size_t i = 0; i < study.scope.tasks.size(); ++i) {
        cells_.push_back(cell(index, model, i));
      }
    }
  }

  std::string html() const {
    std::string page(kPageHtml);
    // The data goes in last, so that nothing is replaced inside it.
    replace_all(page, "/*{style}*/", kPageStyle);
    replace_all(page, "/*{script}*/", kPageScript);
    const std::string json = json_text(data());
    constexpr std::string_view kData = "{\"data\":0}";
    const size_t at = page.find(kData);
    if (at == page.npos) throw Error(ErrorCode::kInternal, "the page has no place for data");
    return page.replace(at, kData.size(), script_safe(json));
  }

 private:
  Cell cell(size_t participant, const ModelReport& model, size_t task_index) const {
    Cell to{.participant = participant, .task = study_.scope.tasks[task_index], .chains = {}};
    to.chains = study_.attempts.chains(model.model, to.task);
    const Winner& winner = model.winners[task_index];
    for (size_t i = 0; i < to.chains.size(); ++i) {
      for (const AttemptRow& row : to.chains[i].attempts) {
        const bool wins =
            winner.solved() && row.sample == winner.sample && row.attempt == winner.attempt;
        const size_t mark = mark_of(row);
        const bool better = to.attempt == 0 || mark > to.mark;
        if (wins || (!winner.solved() && better)) {
          to.telling = i;
          to.attempt = row.attempt;
          to.mark = mark;
        }
      }
    }
    return to;
  }

  /// The most telling attempt of every cell, then the rest of its chain, then the other chains.
  std::vector<AttemptId> wanted() const {
    std::vector<AttemptId> first, second, third;
    for (const Cell& cell : cells_) {
      for (size_t i = 0; i < cell.chains.size(); ++i) {
        for (const AttemptRow& row : cell.chains[i].attempts) {
          const bool telling = i == cell.telling;
          std::vector<AttemptId>& to = !telling                      ? third
                                       : row.attempt == cell.attempt ? first
                                                                     : second;
          if (to.size() < limits_.attempts) {
            to.push_back({cell.participant, cell.task, row.sample, row.attempt});
          }
        }
      }
    }
    first.insert(first.end(), second.begin(), second.end());
    // By sample, so that every cell has one chain before any has two.
    std::ranges::stable_sort(third, {}, &AttemptId::sample);
    first.insert(first.end(), third.begin(), third.end());
    return first;
  }

  Json data() const {
    const std::vector<AttemptId> ids = wanted();
    Conversations conversations = collect(study_, ids, limits_);
    std::map<AttemptId, size_t> numbers;
    for (size_t i = 0; i < conversations.included.size(); ++i) {
      numbers[conversations.included[i]] = i;
    }
    Json models = Json::array(), tasks = Json::array(), legend = Json::array();
    Json tables = Json::array(), roofs = Json::array();
    for (size_t m = 0; m < analysis_.models.size(); ++m) models.push_back(model_json(m));
    for (const Table& table : report::tables(study_, analysis_)) {
      tables.push_back({{"title", table.title}, {"rows", table.rows}, {"note", table.note}});
    }
    for (const TaskId& task : study_.scope.tasks) {
      const Task* known = lookup_task(task);
      tasks.push_back({to_string(task), known ? known->name : "", task.level});
    }
    for (const auto& [device, roofline] : study_.rooflines) {
      roofs.push_back({device, {1e-9 * roofline.copy_bytes_per_s, 1e-12 * roofline.flops_per_s}});
    }
    for (const Mark& mark : marks()) {
      legend.push_back({mark.name, mark.text, mark.kind, mark.meaning});
    }
    size_t attempts = 0;
    for (const Cell& cell : cells_) {
      for (const Chain& chain : cell.chains) attempts += chain.attempts.size();
    }
    return {{"kbench", version()},
            {"heading", heading(study_, analysis_)},
            {"remarks", remarks(study_, analysis_)},
            {"of", study_.has_runs() ? "model" : "set"},
            {"roofs", roofs},
            {"attempts", study_.recorded_attempts},
            {"longest", analysis_.attempts},
            {"k", analysis_.ks.front()},
            {"tables", tables},
            {"models", models},
            {"together", analysis_.swarm ? curve_of(analysis_.swarm->together) : Json::array()},
            {"tasks", tasks},
            {"marks", legend},
            {"cells", cells(numbers)},
            {"shown", {conversations.included.size(), attempts}},
            {"limits", {limits_.text, limits_.reasoning, limits_.total}},
            {"texts", std::move(conversations.texts)},
            {"pool", std::move(conversations.pool)}};
  }

  /// Points of a curve: [x, y, low, high], without those that are undefined.
  template <class X>
  static Json curve_of(const std::vector<X>& xs, const std::vector<Score>& scores) {
    Json points = Json::array();
    for (size_t i = 0; i < scores.size(); ++i) {
      const Score& at = scores[i];
      if (at.value) points.push_back({xs[i], at.value->low, at.interval.low, at.interval.high});
    }
    return points;
  }
  static Json curve_of(const std::vector<SwarmPoint>& all) {
    Json points = Json::array();
    for (const SwarmPoint& at : all) {
      if (at.calls > 0)
        points.push_back({at.calls, at.solved->low, at.solved->low, at.solved->high});
    }
    return points;
  }
  static Json curve_of(const std::vector<ByAttempt>& all) {
    Json points = Json::array();
    for (const ByAttempt& at : all) {
      points.push_back({at.attempt, at.share.low, at.interval.low, at.interval.high});
    }
    return points;
  }

  /// A model's name and curves.
  Json model_json(size_t index) const {
    const ModelReport& model = analysis_.models[index];
    Json json = {{"name", model.name},
                 {"fast", curve_of(analysis_.curve_ps, model.fast_curve)},
                 {"fast_low", curve_of(analysis_.curve_ps, model.low_curve)},
                 {"pass", curve_of(model.curve_ks, model.pass_curve)},
                 {"correct_by", curve_of(model.correct_by)},
                 {"fast_by", curve_of(model.fast_by)}};
    if (analysis_.swarm) json["alone"] = curve_of(analysis_.swarm->members[index].alone);
    return json;
  }

  /// Model by model, task by task.
  Json cells(const std::map<AttemptId, size_t>& numbers) const {
    const size_t tasks = study_.scope.tasks.size();
    const size_t listed = std::max<size_t>(
        1, kListedAttempts / std::max<size_t>(1, cells_.size() * size_t(analysis_.attempts)));
    Json all = Json::array();
    for (size_t i = 0; i < cells_.size(); ++i) {
      const Cell& cell = cells_[i];
      const ModelReport& model = analysis_.models[i / tasks];
      const Winner& winner = model.winners[i % tasks];
      const Draws& samples = model.samples_of[i % tasks];
      Json json = {{"n", samples.n}, {"c", samples.c}, {"lost", samples.lost}};
      if (winner.solved()) {
        json["speedup"] = interval_json(winner.speedup);
        if (winner.confirmed) json["confirmed"] = interval_json(*winner.confirmed);
      }
      if (!cell.chains.empty()) {
        json["mark"] = cell.mark;
        json["telling"] = {cell.chains[cell.telling].sample, cell.attempt};
        json["chains"] = Json::array();
        json["more"] = cell.chains.size() - std::min(cell.chains.size(), listed);
        json["chains"].push_back(chain(cell, cell.telling, numbers));
        for (size_t j = 0; j < cell.chains.size() && json["chains"].size() < listed; ++j) {
          if (j != cell.telling) json["chains"].push_back(chain(cell, j, numbers));
        }
      }
      all.push_back(std::move(json));
    }
    return all;
  }

  /// [sample, [attempt, mark, speedup or null, index of its texts or null], ...]
  Json chain(const Cell& cell, size_t index, const std::map<AttemptId, size_t>& numbers) const {
    const Chain& chain = cell.chains[index];
    Json json = {chain.sample};
    for (const AttemptRow& row : chain.attempts) {
      const auto found = numbers.find({cell.participant, cell.task, row.sample, row.attempt});
      json.push_back({row.attempt, mark_of(row), row.correct() ? Json(row.speedup.point) : Json(),
                      found == numbers.end() ? Json() : Json(found->second)});
    }
    return json;
  }

  const Study& study_;
  const Analysis& analysis_;
  const ConversationLimits& limits_;
  std::vector<Cell> cells_;
};

size_t index_of(std::string_view name) {
  const auto found = std::ranges::find(marks(), name, &Mark::name);
  if (found == marks().end()) throw Error(ErrorCode::kInternal, "an outcome without a mark");
  return static_cast<size_t>(found - marks().begin());
}

Mark outcome(Outcome which, std::string_view text, std::string_view meaning) {
  return {name_of(which), text, which == Outcome::unanswered ? "none" : "bad", meaning};
}

Mark verdict(Verdict which, std::string_view text) {
  const bool no_fault = !is_candidates_fault(which) && which != Verdict::passed;
  const std::string_view kind = which == Verdict::passed ? "pass" : no_fault ? "none" : "bad";
  return {name_of(which), text, kind, explain(which)};
}

}  // namespace

std::string script_safe(std::string json) {
  replace_all(json, "<", "\\u003c");
  replace_all(json, "\u2028", "\\u2028");
  replace_all(json, "\u2029", "\\u2029");
  return json;
}

std::string report_page(const Study& study, const Analysis& analysis,
                        const ConversationLimits& limits) {
  return Page(study, analysis, limits).html();
}

const std::vector<Mark>& marks() {
  static const std::vector<Mark> all = {
      outcome(Outcome::unanswered, "\u2026",
              "The request failed, through no fault of the model's."),
      {"unjudged", "?", "none", "A candidate that was not judged yet."},
      verdict(Verdict::harness_error, "kb!"),
      verdict(Verdict::does_not_fit, "big"),
      verdict(Verdict::missing, "\u2013"),
      verdict(Verdict::compiles, "ok?"),
      outcome(Outcome::too_long, "long", "The prompt does not fit the model's context."),
      outcome(Outcome::refused, "refus", "The model or its server declined."),
      outcome(Outcome::truncated, "cut",
              "Cut off at the token limit before a candidate was whole."),
      outcome(Outcome::no_candidate, "text", "An answer without a candidate in it."),
      outcome(Outcome::wrong_task, "other", "The candidate is for another task."),
      verdict(Verdict::invalid_candidate, "form"),
      verdict(Verdict::compile_error, "comp"),
      verdict(Verdict::unsupported, "unsup"),
      verdict(Verdict::out_of_memory, "mem"),
      verdict(Verdict::timeout, "time"),
      verdict(Verdict::crashed, "crash"),
      verdict(Verdict::device_lost, "lost"),
      verdict(Verdict::out_of_bounds, "oob"),
      verdict(Verdict::input_modified, "input"),
      verdict(Verdict::interferes, "busy"),
      verdict(Verdict::not_written, "unwr"),
      verdict(Verdict::partly_written, "part"),
      verdict(Verdict::not_finite, "nan"),
      verdict(Verdict::all_zero, "zero"),
      verdict(Verdict::wrong_values, "wrong"),
      verdict(Verdict::low_precision, "prec"),
      verdict(Verdict::race, "race"),
      verdict(Verdict::impossible, "imp"),
      verdict(Verdict::not_general, "gen"),
      verdict(Verdict::passed, ""),
  };
  return all;
}

size_t mark_of(const AttemptRow& row) {
  if (row.verdict) return index_of(name_of(*row.verdict));
  if (row.outcome == Outcome::candidate) return index_of("unjudged");
  return index_of(name_of(row.outcome));
}

}  // namespace kbench::report
