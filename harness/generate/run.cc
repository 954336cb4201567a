#include "harness/generate/run.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "harness/generate/background.h"
#include "harness/generate/scheduler.h"
#include "kbench/error.h"
#include "kbench/exchange.h"
#include "kbench/solve.h"
#include "kbench/text.h"

namespace kbench::generate {
namespace {

/// After so many requests in a row without an answer a model is taken to be gone.
int lost_after(const Member& member) { return 8 + 2 * member.connections; }

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Run {
 public:
  Run(const RunFolder& folder, RunOptions options)
      : options_(std::move(options)),
        plan_(options_.plan),
        store_(folder),
        ledger_(folder, plan_, options_.episode.attempts, options_.episode.goal, options_.judging),
        now_(options_.now ? options_.now : steady_seconds),
        scheduler_(plan_,
                   {options_.judging ? options_.benches.size() : 0, options_.asking,
                    options_.limits, now_},
                   ledger_.spent()),
        unanswered_(options_.members.size()) {}

  RunOutcome run();

 private:
  // What threads do.
  void ask_for(uint32_t member);
  void take_turn(uint32_t member, Scheduler::Turn turn);
  void ask(uint32_t member, std::unique_ptr<Chain> chain);
  void judge_on(Bench& bench);
  void guarded(const std::function<void()>& work);

  std::unique_ptr<Chain> begin(uint32_t number);
  /// Brings a chain to where the files have it; its next answer, if that is there.
  std::optional<Exchange> take_up(Chain& chain);
  void take_in(std::unique_ptr<Chain> chain, const Exchange& exchange);
  /// Keeps what became of an answer, and sends its chain on.
  void finish(std::unique_ptr<Chain> chain, const Answer& answer, const Reading& reading,
              EpisodeStep step);
  Attempt described(const Chain& chain, const Answer& answer, const Reading& reading,
                    Attempt attempt) const;
  void keep_result(const Attempt& attempt, Result result);
  void lose_chain(const Chain& chain, const std::string& why);
  void lose_member(uint32_t member, const std::string& why);
  void count(const Attempt& attempt, bool done, bool lost);
  Status status() const;
  const std::string& lane(const Chain& chain) const { return plan_.lanes()[chain.id.lane]; }
  const Task& task(const Chain& chain) const { return *plan_.tasks()[chain.id.task]; }
  std::string place(const Chain& chain, int attempt) const {
    return store_.folder().attempt(lane(chain), task(chain).id, chain.id.sample, attempt);
  }
  uint32_t next_member(const Chain& chain) const {
    return plan_.member(chain.id, chain.episode->next_attempt());
  }

  RunOptions options_;
  const Plan& plan_;
  Store store_;
  Ledger ledger_;
  std::function<double()> now_;
  Scheduler scheduler_;
  double start_ = 0;

  mutable std::mutex mutex_;  ///< of what follows
  Status counts_;
  std::vector<int> unanswered_;  ///< in a row, one a member
  std::exception_ptr failure_;
  std::stop_source cancel_;
  std::mutex report_;
  std::unique_ptr<Background> behind_;  ///< while threads run
  std::mutex ledger_mutex_;
};

RunOutcome Run::run() {
  start_ = now_();
  counts_.chains = plan_.chains();
  counts_.done = ledger_.chains_done();
  counts_.attempts = ledger_.attempts();
  counts_.passed = ledger_.passed();
  for (uint32_t number = 0; number < plan_.chains(); ++number) {
    const Ledger::ChainState& state = ledger_.state(number);
    if (state.done) {
      scheduler_.add_done(number);
    } else if (state.answered) {
      scheduler_.add_answered(number);
    } else if (state.counted > 0) {
      scheduler_.add_open(number, plan_.member(plan_.chain(number), state.counted + 1));
    }
  }
  {
    const std::stop_callback on_interrupt(options_.interrupt, [this] {
      scheduler_.stop(Scheduler::Stop::interrupted, "interrupted");
    });
    const std::stop_callback on_cancel(options_.cancel, [this] { cancel_.request_stop(); });
    behind_ = std::make_unique<Background>();
    std::vector<std::jthread> threads;
    for (const auto& bench : options_.benches) {
      threads.emplace_back([this, &bench] { guarded([&] { judge_on(*bench); }); });
    }
    for (uint32_t member = 0; member < options_.members.size(); ++member) {
      for (int i = 0; i < options_.members[member].connections; ++i) {
        threads.emplace_back([this, member] { guarded([&] { ask_for(member); }); });
      }
    }
  }
  behind_.reset();
  if (failure_) std::rethrow_exception(failure_);
  return {scheduler_.stopped(), scheduler_.reason(), status()};
}

/// What goes wrong in one thread ends them all, and then the run.
void Run::guarded(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard hold(mutex_);
    if (!failure_) failure_ = std::current_exception();
    scheduler_.stop(Scheduler::Stop::interrupted, "an error");
  }
}

void Run::ask_for(uint32_t member) {
  while (std::optional<Scheduler::Turn> turn = scheduler_.next_turn(member)) {
    take_turn(member, *std::move(turn));
  }
}

void Run::take_turn(uint32_t member, Scheduler::Turn turn) {
  std::unique_ptr<Chain> chain = std::move(turn.chain);
  if (!chain) {
    chain = begin(turn.number);
    if (const std::optional<Exchange> exchange = take_up(*chain)) {
      const uint32_t by = plan_.member(chain->id, exchange->attempt);
      const auto& price = options_.members[by].price;
      scheduler_.add_spent(exchange->answer.usage,
                           price ? cost_of(exchange->answer.usage, *price) : std::nullopt);
      return take_in(std::move(chain), *exchange);
    }
    if (chain->episode->done()) {  // As it came to be by a rule that the attempts do not show.
      count({}, /*done=*/true, /*lost=*/false);
      return scheduler_.leave();
    }
    if (const uint32_t next = next_member(*chain); next != member) {
      return scheduler_.go_on(std::move(chain), next);
    }
  }
  ask(member, std::move(chain));
}

std::unique_ptr<Chain> Run::begin(uint32_t number) {
  auto chain = std::make_unique<Chain>();
  chain->number = number;
  chain->id = plan_.chain(number);
  EpisodeOptions options = options_.episode;
  options.extract.thinking_tags = options_.members[plan_.member(chain->id, 1)].thinking_tags;
  if (plan_.relay()) {
    std::set<std::string> all;
    for (const Member& each : options_.members) {
      all.insert(each.thinking_tags.begin(), each.thinking_tags.end());
    }
    options.extract.thinking_tags.assign(all.begin(), all.end());
  }
  chain->episode =
      std::make_unique<Episode>(task(*chain), options_.prompts, std::move(options), Judge());
  return chain;
}

std::optional<Exchange> Run::take_up(Chain& chain) {
  Ledger::Past past;
  {
    const std::lock_guard hold(ledger_mutex_);
    past = ledger_.take(chain.number);
  }
  const std::string transcript = store_.folder().transcript(lane(chain), task(chain).id);
  const auto answer_to = [&](int attempt) -> std::optional<Exchange> {
    std::optional<Exchange> found;
    for (const auto& [number, offset] : past.answers) {
      if (number == attempt) found = exchange_from_json(line_at(transcript, offset));
    }
    return found;
  };
  for (const Attempt& attempt : past.attempts) {
    const std::optional<Exchange> exchange = answer_to(attempt.attempt);
    if (!exchange) {
      throw Error(ErrorCode::kParse, Location{transcript},
                  "lacks the answer to sample " + std::to_string(attempt.sample) + ", attempt " +
                      std::to_string(attempt.attempt) + ", of which attempts.jsonl tells");
    }
    if (chain.episode->done()) return std::nullopt;
    chain.episode->replay(exchange->answer, attempt,
                          store_.read_feedback(place(chain, attempt.attempt)));
  }
  if (chain.episode->done()) return std::nullopt;
  return answer_to(chain.episode->next_attempt());
}

void Run::ask(uint32_t number, std::unique_ptr<Chain> chain) {
  Member& member = options_.members[number];
  const Episode& episode = *chain->episode;
  size_t characters = 0;
  for (const Message& message : episode.observation()) characters += message.text.size();
  const Budget::Claim claim = scheduler_.claim_of(characters, member.sampling, member.price);
  Exchange exchange;
  exchange.model = lane(*chain);
  if (plan_.relay()) exchange.answered_by = member.model->name();
  exchange.task = task(*chain).id;
  exchange.sample = chain->id.sample;
  exchange.attempt = episode.next_attempt();
  exchange.prompt_hash = episode.prompt_hash();
  exchange.seed =
      request_seed(options_.seed, exchange.model, exchange.task, exchange.sample, exchange.attempt);
  store_.keep_prompt(exchange.prompt_hash, episode.observation());
  if (!scheduler_.claim(claim)) return scheduler_.leave();
  {
    const std::lock_guard hold(mutex_);
    ++counts_.requests;
  }
  try {
    exchange.answer =
        member.model->ask({episode.observation(), member.sampling, exchange.seed,
                           purpose_of(exchange.task, exchange.sample, exchange.attempt)},
                          cancel_.get_token());
  } catch (const ModelError& error) {
    scheduler_.settle(claim, nullptr, member.price);
    if (cancel_.stop_requested()) return scheduler_.leave();
    bool gone = error.reach() == ModelError::Reach::model;
    {
      const std::lock_guard hold(mutex_);
      gone |= ++unanswered_[number] >= lost_after(member);
    }
    lose_chain(*chain, error.message());
    if (gone) lose_member(number, error.message());
    return scheduler_.leave();
  } catch (...) {
    scheduler_.settle(claim, nullptr, member.price);
    throw;
  }
  {
    const std::lock_guard hold(mutex_);
    unanswered_[number] = 0;
  }
  // Paid for: on disk before anything else is done with it, which is done with what is on disk:
  // bytes that are no UTF-8 do not come back from there.
  const std::string line = to_json(exchange);
  store_.keep_exchange(exchange, line);
  exchange = exchange_from_json(line);
  scheduler_.settle(claim, &exchange.answer.usage, member.price);
  take_in(std::move(chain), exchange);
}

void Run::take_in(std::unique_ptr<Chain> chain, const Exchange& exchange) {
  Reading reading = chain->episode->read(exchange.answer);
  const std::string place = this->place(*chain, exchange.attempt);
  store_.keep_files(place, reading.extraction.files, exchange.answer.text);
  if (reading.needs_judge() && options_.judging) {
    const std::string file = store_.folder().path() + "/" + place + "/candidate.yaml";
    return scheduler_.give_to_device({std::move(chain), exchange.answer, std::move(reading), file});
  }
  if (!reading.needs_judge()) {
    EpisodeStep step = chain->episode->step(exchange.answer, reading);
    return finish(std::move(chain), exchange.answer, reading, std::move(step));
  }
  Attempt attempt;
  attempt.attempt = exchange.attempt;
  attempt.parent = chain->episode->parent();
  attempt.outcome = Outcome::candidate;
  attempt.leniencies = reading.extraction.leniencies;
  attempt.candidate_hash = reading.hash;
  attempt.operator_steps = reading.operator_steps;
  attempt.prompt_hash = exchange.prompt_hash;
  attempt.preset = name_of(options_.episode.prompt.preset);
  attempt = described(*chain, exchange.answer, reading, std::move(attempt));
  store_.keep_attempt(attempt);
  count(attempt, /*done=*/true, /*lost=*/false);
  scheduler_.leave();
}

/// What an episode does not know of its attempt.
Attempt Run::described(const Chain& chain, const Answer& answer, const Reading& reading,
                       Attempt attempt) const {
  const Member& member = options_.members[plan_.member(chain.id, attempt.attempt)];
  attempt.model = lane(chain);
  if (plan_.relay()) attempt.answered_by = member.model->name();
  attempt.task = task(chain).id;
  attempt.sample = chain.id.sample;
  if (!reading.extraction.files.empty()) {
    attempt.candidate = place(chain, attempt.attempt) + "/candidate.yaml";
  }
  attempt.usage = answer.usage;
  attempt.seconds = answer.seconds;
  if (member.price) attempt.cost = cost_of(answer.usage, *member.price);
  return attempt;
}

void Run::judge_on(Bench& bench) {
  while (std::optional<Waiting> waiting = scheduler_.next_waiting()) {
    const auto done = std::make_shared<Waiting>(*std::move(waiting));
    const std::string& hash = done->reading.hash;
    const Preset asked = options_.episode.prompt.preset;
    const Judge judge = [&](const JudgeRequest& request) {
      if (std::optional<Result> known = store_.results().find(hash, request.preset)) {
        const std::lock_guard hold(mutex_);
        ++counts_.reused;
        return *std::move(known);
      }
      // What was judged at the sizes asked for has run at smaller ones, and need not again.
      if (request.quick && options_.episode.smoke == Smoke::first) {
        if (std::optional<Result> known = store_.results().find(hash, asked)) {
          known->verdict = Verdict::passed;
          return *std::move(known);
        }
      }
      const double begin = now_();
      Result result = bench.judge(request, done->file, scheduler_.file_after());
      const std::lock_guard hold(mutex_);
      counts_.device_seconds += now_() - begin;
      ++counts_.judged;
      return result;
    };
    const Investigate investigate = [&](const JudgeRequest& request, const Result& result) {
      const double begin = now_();
      Evidence evidence = bench.investigate(request, done->file, result);
      const std::lock_guard hold(mutex_);
      counts_.device_seconds += now_() - begin;
      return evidence;
    };
    const auto step = std::make_shared<EpisodeStep>(
        done->chain->episode->step(done->answer, done->reading, judge, investigate));
    behind_->post([this, done, step] {  // A device does not wait for a disk.
      guarded([&] {
        finish(std::move(done->chain), done->answer, done->reading, std::move(*step));
        scheduler_.looked_at(done->reading.hash);
      });
    });
  }
}

void Run::finish(std::unique_ptr<Chain> chain, const Answer& answer, const Reading& reading,
                 EpisodeStep step) {
  const Attempt attempt = described(*chain, answer, reading, std::move(step.attempt));
  if (step.counted) {
    store_.keep_feedback(place(*chain, attempt.attempt), step.feedback.text);
  }
  keep_result(attempt, *std::move(step.result));
  store_.keep_attempt(attempt);
  const bool done = chain->episode->done();
  count(attempt, done, !step.counted);
  if (!step.counted || done) return scheduler_.leave();
  const uint32_t member = next_member(*chain);
  scheduler_.go_on(std::move(chain), member);
}

void Run::keep_result(const Attempt& attempt, Result result) {
  result.set = attempt.model;
  result.task = attempt.task;
  result.candidate_hash = attempt.candidate_hash;
  // Relative to the set, which is the model's folder of candidates.
  const std::string set = "candidates/" + folder_name(attempt.model) + "/";
  std::string candidate =
      attempt.candidate.empty()
          ? RunFolder("").attempt(attempt.model, attempt.task, attempt.sample, attempt.attempt)
          : attempt.candidate;
  candidate.erase(0, set.size());
  result.candidate = candidate;
  store_.results().append(result);
}

void Run::lose_chain(const Chain& chain, const std::string& why) {
  Attempt attempt;
  attempt.attempt = chain.episode->next_attempt();
  attempt.parent = chain.episode->parent();
  attempt.prompt_hash = chain.episode->prompt_hash();
  attempt.preset = name_of(options_.episode.prompt.preset);
  attempt = described(chain, {}, {}, std::move(attempt));
  attempt.cost.reset();
  store_.keep_attempt(attempt);
  count(attempt, /*done=*/false, /*lost=*/true);
  if (options_.on_warning) {
    options_.on_warning(purpose_of(attempt.task, attempt.sample, attempt.attempt) + " of " +
                        attempt.model + " stays unanswered: " + shown(why, 500));
  }
}

void Run::lose_member(uint32_t member, const std::string& why) {
  scheduler_.lose(member);
  if (options_.on_warning) {
    options_.on_warning("model " + plan_.members()[member] +
                        " is not asked any more: " + shown(why, 500));
  }
}

void Run::count(const Attempt& attempt, bool done, bool lost) {
  {
    const std::lock_guard hold(mutex_);
    counts_.done += done;
    counts_.lost += lost;
    if (attempt.sample > 0 && !attempt.model.empty() && !lost) {
      ++counts_.attempts;
      counts_.passed += attempt.correct();
    }
  }
  if (!options_.on_attempt || attempt.model.empty()) return;
  const std::lock_guard hold(report_);
  options_.on_attempt(attempt, status());
}

Status Run::status() const {
  const Scheduler::Counts queues = scheduler_.counts();
  const std::lock_guard hold(mutex_);
  Status status = counts_;
  status.waiting = queues.waiting;
  status.under_way = queues.under_way;
  status.most_waiting = queues.most_waiting;
  status.spent = queues.spent;
  status.seconds = now_() - start_;
  return status;
}

}  // namespace

RunOutcome run(const RunFolder& folder, RunOptions options) {
  return Run(folder, std::move(options)).run();
}

}  // namespace kbench::generate
