#include "harness/evaluate/report/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"

namespace kbench::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

template <class... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 128> text;
  std::snprintf(text.data(), text.size(), format, args...);
  return text.data();
}

/// "0.42 [0.31,0.53]", "0.42..0.51 [0.31,0.62]" where samples are lost.
std::string text_of(const Score& score) {
  if (!score.value) return "undefined";
  const Share& share = *score.value;
  const std::string value =
      share.exact() ? print("%.3f", share.low) : print("%.3f..%.3f", share.low, share.high);
  return value + print(" [%.2f,%.2f]", score.interval.low, score.interval.high);
}

std::string short_text_of(const Score& score) {
  if (!score.value) return "undefined";
  return score.value->exact() ? print("%.3f", score.value->low)
                              : print("%.3f..%.3f", score.value->low, score.value->high);
}

std::string geomean_text(const ModelReport& model) {
  const BestOf& best = model.best.back();
  if (!best.geometric) return "undefined";
  if (model.solved == 0) return "-";
  return (best.lower_bound() ? ">=" : "") + print("%.2fx [%.2f,%.2f]", best.geometric->point,
                                                  best.geometric->low, best.geometric->high);
}

std::string of(int64_t part, int64_t whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

std::string percent(int64_t part, int64_t whole) {
  return whole > 0 ? print("%.0f%%", 100.0 * double(part) / double(whole)) : "-";
}

/// A row for each k, below each other, so that a line is no longer for many.
Table leaderboard(const Study& study, const Analysis& analysis) {
  const bool several = analysis.ks.size() > 1;
  const std::string k_text = several ? "k" : std::to_string(analysis.ks.front());
  std::vector<std::string> header = {study.has_runs() ? "model" : "set", "solved"};
  if (several) header.push_back("k");
  header.push_back("pass@" + k_text);
  for (const double p : analysis.thresholds) {
    if (p > 0) header.push_back(print("fast_%.3g@", p) + k_text + " (low)");  // p = 0 is pass@k
  }
  const bool sizes = std::ranges::any_of(analysis.models, [](const ModelReport& model) {
    return model.funnel.front().tried_at_sizes > 0;
  });
  if (sizes) header.push_back("general@1");
  header.push_back("best of " + std::to_string(analysis.ks.back()));
  header.push_back("median");
  Rows rows = {header};
  for (const ModelReport& model : analysis.models) {
    for (size_t i = 0; i < analysis.ks.size(); ++i) {
      auto& cells = rows.emplace_back();
      cells = {"", ""};
      if (i == 0) {
        cells = {shown(model.name), of(model.solved, int64_t(study.scope.tasks.size()))};
      }
      if (several) cells.push_back(std::to_string(analysis.ks[i]));
      cells.push_back(text_of(model.pass[i]));
      for (const FastScore& fast : model.fast) {
        if (fast.p <= 0) continue;
        cells.push_back(text_of(fast.at_point[i]) + " (" + short_text_of(fast.at_low[i]) + ")");
      }
      if (i > 0) continue;
      if (sizes) cells.push_back(short_text_of(model.general));
      cells.push_back(geomean_text(model));
      cells.push_back(model.median_speedup > 0 ? print("%.2fx", model.median_speedup) : "-");
    }
    const auto add = [&](const std::string& name, const LevelReport& part) {
      auto& cells = rows.emplace_back(std::vector{name, of(part.solved, part.tasks)});
      if (several) cells.push_back(std::to_string(analysis.ks.front()));
      cells.push_back(text_of(part.pass));
    };
    if (model.levels.size() > 1) {
      for (const auto& [level, own] : model.levels) {
        add(level == 0 ? "  own" : "  L" + std::to_string(level), own);
      }
    }
    if (model.not_collapsing) add("  not collapsing", *model.not_collapsing);
    if (model.collapsing) add("  collapsing", *model.collapsing);
  }
  return {"Leaderboard", rows,
          "in brackets: 95% by bootstrap over tasks; best of k: geometric mean of max(speedup, 1)"};
}

Table funnel_table(const Analysis& analysis) {
  Rows rows = {{"funnel", "answers", "candidate", "fits task", "compiles", "runs", "correct",
                "faster", "distinct", "unfinished"}};
  for (const ModelReport& model : analysis.models) {
    const Funnel& f = model.funnel.front();
    rows.push_back({shown(model.name), std::to_string(f.answered),
                    percent(f.candidates, f.answered), percent(f.resolved, f.answered),
                    percent(f.compiled, f.answered), percent(f.ran, f.answered),
                    percent(f.correct, f.answered), percent(f.faster, f.answered),
                    std::to_string(f.distinct), std::to_string(f.unfinished)});
  }
  return {"How far answers come", rows};
}

Table attempts_table(const Analysis& analysis) {
  if (analysis.attempts < 2) return {};
  Rows rows = {{"correct by attempt"}};
  const int most = std::min(analysis.attempts, 10);
  for (int a = 1; a <= most; ++a) rows[0].push_back(std::to_string(a) + " (hazard)");
  for (const ModelReport& model : analysis.models) {
    auto& cells = rows.emplace_back(std::vector{shown(model.name)});
    for (size_t a = 0; a < size_t(most); ++a) {
      const ByAttempt& at = model.correct_by[a];
      cells.push_back(print("%.3f (%.3f)", at.share.low, at.hazard()));
    }
  }
  return {"Attempt by attempt", rows};
}

std::string amount(const std::optional<double>& value, bool lower_bound, const char* format,
                   const char* none) {
  if (!value) return none;
  return (lower_bound ? ">=" : "") + print(format, *value);
}

Table cost_table(const Analysis& analysis) {
  const bool any = std::ranges::any_of(analysis.models, [](const ModelReport& model) {
    return model.spending.output.known > 0 || model.spending.cost.known > 0;
  });
  if (!any) return {};
  Rows rows = {{"cost", "tokens in", "tokens out", "out/attempt", "out/solved", "cost",
                "cost/solved", "cost/faster"}};
  for (const ModelReport& model : analysis.models) {
    const Spending& s = model.spending;
    const auto tokens = [](const Amount& a, double count) {
      return amount(a.per(count), a.lower_bound(), "%.0f", "unknown");
    };
    // Tokens are known and the cost is not: models.yaml has no price.
    const bool priced = s.cost.known > 0 || s.input.known == 0 || s.output.known == 0;
    const auto money = [&](double count) {
      return amount(s.cost.per(count), s.cost.lower_bound(), "%.4g",
                    priced ? "unknown" : "no price");
    };
    rows.push_back({shown(model.name), tokens(s.input, 1), tokens(s.output, 1),
                    tokens(s.output, double(s.attempts)),
                    s.solved > 0 ? tokens(s.output, s.solved) : "-", money(1),
                    s.solved > 0 ? money(s.solved) : "-", s.faster > 0 ? money(s.faster) : "-"});
  }
  return {"What they cost", rows};
}

/// The tasks a member alone is expected to solve with so many calls, interpolated between numbers
/// of samples; unset beyond its samples.
std::optional<double> solved_with(const std::vector<SwarmPoint>& alone, double calls) {
  for (size_t i = 0; i < alone.size(); ++i) {
    if (alone[i].calls < calls * (1 - 1e-9)) continue;
    if (i == 0)
      return alone[0].calls <= calls * (1 + 1e-9) ? std::optional(alone[0].solved->low)
                                                  : std::nullopt;
    const double from = alone[i - 1].calls, share = (calls - from) / (alone[i].calls - from);
    return alone[i - 1].solved->low + share * (alone[i].solved->low - alone[i - 1].solved->low);
  }
  return std::nullopt;
}

/// All models together, and each alone, with equal numbers of calls.
Table equal_calls_table(const Analysis& analysis) {
  if (!analysis.swarm) return {};
  const Swarm& swarm = *analysis.swarm;
  Rows rows = {{"solved at equal calls"}, {"all models"}};
  for (const ModelReport& model : analysis.models) rows.push_back({"  " + shown(model.name)});
  constexpr size_t kMost = 5;
  double last = 0;
  for (const SwarmPoint& at : swarm.together) {
    const double calls = std::ceil(at.calls - 1e-9);
    const std::optional<double> all = solved_with(swarm.together, calls);
    if (!all || calls == std::exchange(last, calls)) continue;
    bool any = false;
    for (const Swarm::Member& member : swarm.members) {
      any |= solved_with(member.alone, calls).has_value();
    }
    if (!any || rows[0].size() > kMost) break;
    rows[0].push_back(print("%.0f a task", calls));
    rows[1].push_back(print("%.3f", *all));
    for (size_t m = 0; m < swarm.members.size(); ++m) {
      const std::optional<double> alone = solved_with(swarm.members[m].alone, calls);
      rows[m + 2].push_back(alone ? print("%.3f", *alone) : "-");
    }
  }
  if (rows[0].size() == 1) return {};
  return {"At equal calls", rows};
}

Table swarm_table(const Study& study, const Analysis& analysis) {
  if (!analysis.swarm) return {};
  const Swarm& swarm = *analysis.swarm;
  Rows rows = {{"together", "solved", "won", "lost without", "of them faster"}};
  rows.push_back({"all models", of(swarm.solved, int64_t(study.scope.tasks.size()))});
  for (size_t m = 0; m < swarm.members.size(); ++m) {
    rows.push_back({"  " + shown(analysis.models[m].name),
                    std::to_string(analysis.models[m].solved), std::to_string(swarm.members[m].won),
                    std::to_string(swarm.members[m].lost_solved),
                    std::to_string(swarm.members[m].lost_faster)});
  }
  return {"Together", rows};
}

Table comparisons_table(const Analysis& analysis) {
  if (analysis.comparisons.empty()) return {};
  const auto name = [&](uint32_t model) {
    const auto found = std::ranges::find(analysis.models, model, &ModelReport::model);
    return shown(found->name);
  };
  Rows rows = {{"compared", "difference of pass@" + std::to_string(analysis.ks.front()),
                "only first", "only second", "p"}};
  for (const PairedComparison& c : analysis.comparisons) {
    const std::string difference = c.difference ? print("%+.3f [%+.3f,%+.3f]", c.difference->point,
                                                        c.difference->low, c.difference->high)
                                                : "undefined";
    rows.push_back({name(c.first) + " - " + name(c.second), difference,
                    std::to_string(c.only_first), std::to_string(c.only_second),
                    print("%.3g", c.p)});
  }
  const size_t count = analysis.comparisons.size();
  return {"Two by two", rows,
          "p: McNemar's exact test on solved tasks; " + std::to_string(count) +
              (count == 1 ? " comparison was" : " comparisons were") + " made"};
}

}  // namespace

std::string heading(const Study& study, const Analysis& analysis) {
  const bool runs = study.has_runs();
  std::string text =
      counted(study.participants.size(), runs ? "model" : "candidate set") + ", " +
      counted(study.scope.tasks.size(), "task") + ", " +
      counted(static_cast<size_t>(study.recorded_attempts), runs ? "attempt" : "result");
  if (analysis.attempts > 1) text += ", up to " + std::to_string(analysis.attempts) + " a sample";
  if (!study.device.empty()) text += "; " + shown(study.device);
  if (!study.preset.empty())
    text += ", preset " + preset_in_words(shown(study.preset), study.dtype);
  return text;
}

std::vector<std::string> remarks(const Study& study, const Analysis& analysis) {
  std::vector<std::string> lines = study.notes;
  for (const ModelReport& model : analysis.models) {
    const auto say = [&, name = shown(model.name)](const std::string& what) {
      lines.push_back(name + ": " + what);
    };
    if (model.lost > 0) {
      say("nothing is known of " + of(model.lost, model.samples) +
          " samples; scores lie between all of them wrong and all right");
    }
    for (size_t i = 0; i < analysis.ks.size(); ++i) {
      if (model.pass[i].undefined == 0) continue;
      say("k = " + std::to_string(analysis.ks[i]) + " is undefined for " +
          std::to_string(model.pass[i].undefined) + " tasks, of which fewer samples exist");
    }
    if (model.confirmed > 0) {
      say(of(model.confirmed, model.solved) +
          " winners measured again with a fresh seed, and count as that" +
          (model.withdrawn > 0 ? ", " + std::to_string(model.withdrawn) + " did not pass" : ""));
    }
    if (model.unconfirmed > 0) {
      say(of(model.unconfirmed, model.solved) +
          " winners are the fastest of several measurements and were not measured again: they "
          "count by their lower bound, set for that choice (kbench run RUN --confirm measures "
          "them)");
    }
    const Funnel& sum = model.funnel.front();
    if (sum.lenient > 0) {
      say(std::to_string(sum.lenient) +
          " candidates were found by overlooking something; strict pass@1 " +
          short_text_of(model.strict));
    }
    if (sum.with_builtins > 0) {
      say(std::to_string(sum.with_builtins) +
          " correct candidates use built-in operators; pass@1 of own kernels " +
          short_text_of(model.own_kernels));
    }
  }
  if (study.software_device) {
    lines.push_back("Timed on a software device (a CPU): the speedups say nothing about a GPU.");
  }
  return lines;
}

std::vector<Table> tables(const Study& study, const Analysis& analysis) {
  std::vector<Table> all = {leaderboard(study, analysis), funnel_table(analysis),
                            attempts_table(analysis),     cost_table(analysis),
                            swarm_table(study, analysis), equal_calls_table(analysis),
                            comparisons_table(analysis)};
  std::erase_if(all, [](const Table& table) { return table.rows.empty(); });
  return all;
}

std::string format_report(const Study& study, const Analysis& analysis) {
  std::string text = heading(study, analysis) + "\n";
  for (const Table& table : tables(study, analysis)) {
    text += "\n" + text_table(table.rows, Side::right);
    if (!table.note.empty()) text += table.note + "\n";
  }
  std::string below;
  for (const std::string& line : remarks(study, analysis)) below += line + "\n";
  return broken_lines(text + (below.empty() ? "" : "\n" + below));
}

}  // namespace kbench::report
