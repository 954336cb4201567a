// The asking threads: a chain is begun or continued, its next request is granted, sent and
// recorded, and the answer is read.
#include <algorithm>
#include <set>
#include <utility>

#include "harness/evaluate/generate/line_file.h"
#include "harness/evaluate/generate/live_run.h"
#include "kbench/error.h"
#include "kbench/exchange.h"

namespace kbench::generate {
namespace {

/// The number of consecutive failed requests after which a model is given up.
int lost_after(const Member& member) { return 8 + 2 * member.connections; }

/// A sum with an unknown term is unknown.
void add(const Usage& usage, Usage& to) {
  const auto add = [](const std::optional<int64_t>& count, std::optional<int64_t>& sum) {
    sum = count && sum ? std::optional(*sum + *count) : std::nullopt;
  };
  add(usage.input, to.input);
  add(usage.cached, to.cached);
  add(usage.output, to.output);
  add(usage.reasoning, to.reasoning);
}

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
      const uint32_t by = plan_.member(chain->id, exchange->attempt);
      const auto& price = options_.members[by].price;
      scheduler_.add_spent(exchange->answer.usage,
                           price ? cost_of(exchange->answer.usage, *price) : std::nullopt);
      return take_in(std::move(chain), *exchange);
    }
    if (chain->episode->done()) {  // done by a rule that the attempts do not show
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

std::vector<std::unique_ptr<Chain>> Run::with_siblings(uint32_t number,
                                                       std::unique_ptr<Chain> chain) {
  const Member& member = options_.members[number];
  std::vector<uint32_t> siblings;
  if (member.ask_several && member.choices > 1 && chain->episode->next_attempt() == 1) {
    siblings = scheduler_.take_siblings(chain->number, number, member.choices - 1);
  }
  std::vector<std::unique_ptr<Chain>> chains;
  chains.push_back(std::move(chain));
  for (const uint32_t sibling : siblings) chains.push_back(begin(sibling));
  return chains;
}

Exchange Run::asked_about(const Member& member, const Chain& chain) const {
  const Episode& episode = *chain.episode;
  Exchange exchange;
  exchange.model = lane(chain);
  if (plan_.relay()) exchange.answered_by = member.model->name();
  exchange.task = task(chain).id;
  exchange.sample = chain.id.sample;
  exchange.attempt = episode.next_attempt();
  exchange.prompt_hash = episode.prompt_hash();
  exchange.seed =
      request_seed(options_.seed, exchange.model, exchange.task, exchange.sample, exchange.attempt);
  return exchange;
}

void Run::ask(uint32_t number, std::unique_ptr<Chain> first) {
  Member& member = options_.members[number];
  const std::vector<Message> messages = first->episode->observation();
  std::vector<std::unique_ptr<Chain>> chains = with_siblings(number, std::move(first));
  size_t characters = 0;
  for (const Message& message : messages) characters += message.text.size();
  const Budget::Claim claim =
      scheduler_.claim_of(characters, member.sampling, member.price, chains.size());
  Exchange request = asked_about(member, *chains.front());
  try {
    store_.keep_prompt(request.prompt_hash, messages);
  } catch (const Error& error) {
    for (const std::unique_ptr<Chain>& chain : chains) {
      lose_files(*chain, error);
      scheduler_.leave();
    }
    return;
  }
  if (!scheduler_.claim(claim)) {
    for (size_t i = 0; i < chains.size(); ++i) scheduler_.leave();
    return;
  }
  {
    const std::lock_guard hold(mutex_);
    ++counts_.requests;
  }
  const Ask ask = {messages, member.sampling, request.seed,
                   purpose_of(request.task, request.sample, request.attempt)};
  std::vector<Answer> answers;
  std::optional<ModelError> failure;
  try {
    if (chains.size() == 1) {
      answers.push_back(member.model->ask(ask, cancel_.get_token()));
    } else {
      answers =
          member.ask_several(ask, static_cast<int>(chains.size()), cancel_.get_token(), &answers);
    }
  } catch (const ModelError& error) {
    failure = error;
  } catch (...) {
    scheduler_.settle(claim, nullptr, member.price);
    throw;
  }
  answers.resize(std::min(answers.size(), chains.size()));
  if (answers.size() < chains.size() && !failure) {
    failure = ModelError(ModelError::Reach::request, "it gave fewer answers than it was asked for");
  }
  // The answers are paid for, so they are written to disk first. What follows uses the text as it
  // is read back, because bytes that are not UTF-8 are changed by that.
  std::vector<std::optional<Exchange>> exchanges(answers.size());
  Usage used = {.input = 0, .cached = 0, .output = 0, .reasoning = 0};
  for (size_t i = 0; i < answers.size(); ++i) {
    Exchange exchange = asked_about(member, *chains[i]);
    exchange.seed = request.seed;  // the seed that was sent
    exchange.answer = std::move(answers[i]);
    add(exchange.answer.usage, used);
    with_files(*chains[i], [&] {
      const std::string line = to_json(exchange);
      store_.keep_exchange(exchange, line);
      exchanges[i] = exchange_from_json(line);
    });
  }
  scheduler_.settle(claim, exchanges.empty() ? nullptr : &used, member.price);
  if (!failure) {
    const std::lock_guard hold(mutex_);
    unanswered_[number] = 0;
  }
  for (size_t i = 0; i < exchanges.size(); ++i) {
    if (exchanges[i]) {
      take_in(std::move(chains[i]), *exchanges[i]);
    } else {
      scheduler_.leave();
    }
  }
  if (failure) lose_request(number, std::span(chains).subspan(exchanges.size()), *failure);
}

void Run::lose_request(uint32_t number, std::span<const std::unique_ptr<Chain>> chains,
                       const ModelError& error) {
  if (!cancel_.stop_requested()) {
    bool gone = error.reach() == ModelError::Reach::model;
    {
      const std::lock_guard hold(mutex_);
      gone |= ++unanswered_[number] >= lost_after(options_.members[number]);
    }
    for (const std::unique_ptr<Chain>& chain : chains) lose_chain(*chain, error.message());
    if (gone) lose_member(number, error.message());
  }
  for (size_t i = 0; i < chains.size(); ++i) scheduler_.leave();
}

void Run::take_in(std::unique_ptr<Chain> chain, const Exchange& exchange) {
  Reading reading = chain->episode->read(exchange.answer);
  const std::string place = this->place(*chain, exchange.attempt);
  const auto files = [&] {
    store_.keep_files(place, reading.extraction.files, exchange.answer.text);
  };
  if (!with_files(*chain, files)) return scheduler_.leave();
  if (reading.needs_judge() && options_.judging) {
    CandidateSource candidate = store_.folder().path() + "/" + place + "/candidate.yaml";
    candidate.author = lane(*chain);
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
