// The asking threads: a chain is begun or continued, its next request is granted, sent and
// recorded, and the answer is read.
#include <utility>

#include "harness/evaluate/generate/line_file.h"
#include "harness/evaluate/generate/live_run.h"
#include "kbench/error.h"
#include "kbench/exchange.h"

namespace kbench::generate {
namespace {

/// The number of consecutive failed requests after which a model is given up.
int lost_after(const Member& member) { return 8 + 2 * member.connections; }

}  // namespace

void Run::ask_for(uint32_t member) {
  while (std::optional<Scheduler::Turn> turn = scheduler_.next_turn(member)) {
    take_turn(member, *std::move(turn));
  }
}

void Run::take_turn(uint32_t member, Scheduler::Turn turn) {
  std::unique_ptr<Chain> chain = std::move(turn.chain);
  if (!chain) {
    chain = begin(turn.number);
    std::optional<Exchange> exchange;
    if (!with_files(*chain, [&] { exchange = take_up(*chain); })) return scheduler_.leave();
    if (exchange) {
      const auto& price = options_.members[chain->id.member].price;
      scheduler_.add_spent(exchange->answer.usage,
                           price ? cost_of(exchange->answer.usage, *price) : std::nullopt);
      return take_in(std::move(chain), *exchange);
    }
    if (chain->episode->done()) {  // done by a rule that the attempts do not show
      count({}, /*done=*/true, /*lost=*/false);
      return scheduler_.leave();
    }
    if (chain->id.member != member) return scheduler_.go_on(std::move(chain));
  }
  ask(member, std::move(chain));
}

std::unique_ptr<Chain> Run::begin(uint32_t number) {
  auto chain = std::make_unique<Chain>();
  chain->number = number;
  chain->id = plan_.chain(number);
  EpisodeOptions options = options_.episode;
  options.extract.thinking_tags = options_.members[chain->id.member].thinking_tags;
  chain->episode = std::make_unique<Episode>(task(*chain), options_.prompts, std::move(options));
  return chain;
}

std::optional<Exchange> Run::take_up(Chain& chain) {
  Ledger::Past past;
  {
    const std::lock_guard hold(ledger_mutex_);
    past = ledger_.take(chain.number);
  }
  const std::string transcript = store_.folder().transcript(model(chain), task(chain).id);
  const auto answer_to = [&](int attempt) -> std::optional<Exchange> {
    std::optional<Exchange> found;
    for (const auto& [number, offset] : past.answers) {
      if (number == attempt) found = read_at(transcript, offset, exchange_from_json);
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

Exchange Run::asked_about(const Chain& chain) const {
  const Episode& episode = *chain.episode;
  Exchange exchange;
  exchange.model = model(chain);
  exchange.task = task(chain).id;
  exchange.sample = chain.id.sample;
  exchange.attempt = episode.next_attempt();
  exchange.prompt_hash = episode.prompt_hash();
  exchange.seed =
      request_seed(options_.seed, exchange.model, exchange.task, exchange.sample, exchange.attempt);
  return exchange;
}

void Run::ask(uint32_t number, std::unique_ptr<Chain> chain) {
  const Member& member = options_.members[number];
  const std::vector<Message> messages = chain->episode->observation();
  size_t characters = 0;
  for (const Message& message : messages) characters += message.text.size();
  const Budget::Claim claim = scheduler_.claim_of(characters, member.sampling, member.price);
  Exchange exchange = asked_about(*chain);
  const auto keep_prompt = [&] { store_.keep_prompt(exchange.prompt_hash, messages); };
  if (!with_files(*chain, keep_prompt) || !scheduler_.claim(claim)) return scheduler_.leave();
  {
    const std::lock_guard hold(mutex_);
    ++counts_.requests;
  }
  try {
    exchange.answer =
        member.model->ask({messages, member.sampling, exchange.seed,
                           purpose_of(exchange.task, exchange.sample, exchange.attempt)},
                          cancel_.get_token());
  } catch (const ModelError& error) {
    scheduler_.settle(claim, nullptr, member.price);
    lose_request(number, *chain, error);
    return scheduler_.leave();
  } catch (...) {
    scheduler_.settle(claim, nullptr, member.price);
    throw;
  }
  // The answer is paid for, so it is written to disk first. What follows uses the text as it is
  // read back, because bytes that are not UTF-8 are changed by that.
  const bool kept = with_files(*chain, [&] {
    const std::string line = to_json(exchange);
    store_.keep_exchange(exchange, line);
    exchange = exchange_from_json(line);
  });
  scheduler_.settle(claim, &exchange.answer.usage, member.price);
  {
    const std::lock_guard hold(mutex_);
    unanswered_[number] = 0;
  }
  if (!kept) return scheduler_.leave();
  take_in(std::move(chain), exchange);
}

void Run::lose_request(uint32_t number, const Chain& chain, const ModelError& error) {
  if (cancel_.stop_requested()) return;
  bool gone = error.reach() == ModelError::Reach::model;
  lose_chain(chain, error);
  {
    const std::lock_guard hold(mutex_);
    gone |= ++unanswered_[number] >= lost_after(options_.members[number]);
  }
  if (gone) lose_member(number, error.message());
}

void Run::take_in(std::unique_ptr<Chain> chain, const Exchange& exchange) {
  Reading reading = chain->episode->read(exchange.answer);
  const std::string place = this->place(*chain, exchange.attempt);
  const auto files = [&] {
    store_.keep_files(place, reading.extraction.files, exchange.answer.text);
  };
  if (!with_files(*chain, files)) return scheduler_.leave();
  if (reading.needs_judge() && options_.judging) {
    CandidateSource candidate = reading.extraction.files;
    candidate.author = model(*chain);
    auto first = scheduler_.give_to_device(
        {std::move(chain), exchange.answer, std::move(reading), std::move(candidate)});
    if (first) queue_step(std::move(first));
    return;
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
  if (with_run_files(*chain, [&] { store_.keep_attempt(attempt); })) {
    count(attempt, /*done=*/true, /*lost=*/false);
  }
  scheduler_.leave();
}

}  // namespace kbench::generate
