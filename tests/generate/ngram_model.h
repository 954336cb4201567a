// A generator of one's own, plugged in: letters drawn by how they follow one another in the shipped
// candidates. It writes valid kernels now and then, which is all that is asked of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kbench/model.h"

namespace kbench::testing {

class NgramModel : public Model {
 public:
  /// `texts`: answers to learn from; an answer is drawn letter by letter from the last `order`.
  NgramModel(const std::vector<std::string>& texts, size_t order) : order_(order) {
    for (const std::string& text : texts) {
      const std::string padded = std::string(order_, kBegin) + text + kEnd;
      for (size_t i = order_; i < padded.size(); ++i) {
        ++next_[padded.substr(i - order_, order_)][padded[i]];
      }
    }
  }
  std::string name() const override { return "ngram"; }

  Answer ask(const Ask& ask, std::stop_token) override {
    std::mt19937_64 random(ask.seed);
    Answer answer;
    std::string context(order_, kBegin);
    const double temperature = ask.sampling.temperature.value_or(1);
    for (size_t i = 0; i < 20'000; ++i) {
      const char letter = draw(context, temperature, random);
      if (letter == kEnd) {
        answer.finish = "stop";
        break;
      }
      answer.text += letter;
      context = context.substr(1) + letter;
    }
    if (answer.finish.empty()) answer.finish = "length";
    size_t prompt = 0;
    for (const Message& message : ask.messages) prompt += message.text.size();
    answer.usage = {.input = static_cast<int64_t>(prompt),
                    .output = static_cast<int64_t>(answer.text.size())};
    return answer;
  }

 private:
  static constexpr char kBegin = '\1', kEnd = '\2';

  char draw(const std::string& context, double temperature, std::mt19937_64& random) const {
    const auto& counts = next_.at(context);
    if (temperature == 0) {
      return std::max_element(counts.begin(), counts.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
    }
    std::vector<std::pair<char, double>> weights;
    double sum = 0;
    for (const auto& [letter, count] : counts) {
      const double weight = std::pow(double(count), 1 / temperature);
      weights.emplace_back(letter, weight);
      sum += weight;
    }
    double at = std::uniform_real_distribution<double>(0, sum)(random);
    for (const auto& [letter, weight] : weights) {
      if ((at -= weight) <= 0) return letter;
    }
    return weights.back().first;
  }

  size_t order_;
  std::unordered_map<std::string, std::map<char, int>> next_;
};

}  // namespace kbench::testing
