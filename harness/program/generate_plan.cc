// `kbench generate --dry-run`.
#include <algorithm>
#include <cstdio>

#include "harness/program/generate_setup.h"
#include "harness/program/text.h"
#include "libkbench/src/in_words.h"

namespace kbench::program {
namespace {

size_t length_of(const std::vector<Message>& messages) {
  size_t characters = 0;
  for (const Message& message : messages) characters += message.text.size();
  return characters;
}

}  // namespace

void print_plan(const generate::Plan& plan, const std::vector<ModelConfig>& models,
                const Prompts& prompts, const EpisodeOptions& episode) {
  const std::vector<Message> first = prompts.first(*plan.tasks().front(), episode.prompt);
  for (const Message& message : first) {
    std::printf("--- %s, %zu characters\n%s\n", std::string(name_of(message.role)).c_str(),
                message.text.size(), message.text.c_str());
  }
  size_t characters = 0, longest = 0;
  for (const Task* task : plan.tasks()) {
    const size_t length = length_of(prompts.first(*task, episode.prompt));
    characters += length;
    longest = std::max(longest, length);
  }
  std::printf("---\n%s; prompts of %zu characters on average, %zu at most\n",
              counted(plan.tasks().size(), "task").c_str(), characters / plan.tasks().size(),
              longest);
  std::vector<std::vector<std::string>> rows = {
      {"model", "samples", "requests at most", "tokens at most", "cost at most"}};
  double all = 0;
  bool priced = true;
  for (const ModelConfig& model : models) {
    const double share = plan.relay() ? 1.0 / double(models.size()) : 1.0;
    const double chains = double(plan.tasks().size()) * plan.samples() * share;
    const double answer = double(model.sampling.max_tokens.value_or(4096));
    double input = 0;
    for (int attempt = 1; attempt <= episode.attempts; ++attempt) {
      const int shown = episode.shown == Shown::history ? attempt - 1
                        : episode.shown == Shown::best  ? std::min(attempt - 1, 2)
                                                        : std::min(attempt - 1, 1);
      // A token has two characters or more.
      input += double(characters) / double(plan.tasks().size()) / 2 +
               shown * (answer + double(episode.feedback.max_characters) / 2);
    }
    const double tokens = chains * (input + answer * episode.attempts);
    std::string cost = "no price";
    if (model.price) {
      const double each =
          chains * (input * model.price->input + answer * episode.attempts * model.price->output) /
          1e6;
      cost = format_number(each, 4);
      all += each;
    } else {
      priced = false;
    }
    rows.push_back({model.name, format_number(chains, 9),
                    format_number(chains * episode.attempts, 9), format_number(tokens), cost});
  }
  std::fputs(format_table(rows).c_str(), stdout);
  if (priced) std::printf("highest possible cost: %s\n", format_number(all, 4).c_str());
}

}  // namespace kbench::program
