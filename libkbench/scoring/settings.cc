#include "libkbench/scoring/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"
#include "libkbench/scoring/json_fields.h"

namespace kbench {

std::string settings_text(const Question& question) {
  std::string text;
  each_part(
      [&](const char*, const auto& part) {
        const auto fields = json_of<nlohmann::ordered_json>(part);
        for (const auto& [name, value] : fields.items()) {
          const bool unset = value.is_null() || value == false || value == name_of(Sanitize::off) ||
                             (value.is_array() && value.empty());
          if (unset) continue;
          text += (text.empty() ? "" : " ") + name + "=" +
                  (value.is_string()         ? value.template get<std::string>()
                   : value.is_number_float() ? digits_text(value.template get<double>(), 12)
                                             : json_text(value));
        }
      },
      question);
  return text;
}

std::string settings_of_today(const std::string& text) {
  constexpr std::string_view kBegin = "tolerance=", kOwn = " own sizes alone", kTask = " task=";
  const size_t task = std::min(text.find(kTask), text.size());
  std::string said = text.substr(0, task);
  if (!said.starts_with(kBegin) || said.find(" samples=") == said.npos) return text;
  Question question;
  if (const size_t own = said.find(kOwn); own != said.npos) {
    question.rule.other_sizes = OtherSizes::none;
    said.erase(own, kOwn.size());
  }
  std::istringstream words(said);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(std::min(equals + 1, word.size()));
    bool good = true;
    if (name == "tolerance") {
      const auto rule = value_named(value, ToleranceRule::kernelbench);
      good = rule.has_value();
      if (good) question.rule.tolerance = *rule;
    } else if (name == "precision") {
      good = read_number(value, question.plan.precision);
    } else if (name == "max_seconds") {
      good = read_number(value, question.plan.max_seconds);
    } else if (name == "samples") {
      const size_t dots = std::min(value.find(".."), value.size());
      good = read_number(value.substr(0, dots), question.plan.min_samples) &&
             read_number(value.substr(std::min(dots + 2, value.size())), question.plan.max_samples);
    } else if (name == "seed") {
      good = read_number(value, question.plan.seed.emplace());
    } else if (name == "validate") {
      question.rule.validate = true;
    } else if (name == "general") {
      question.rule.other_sizes = OtherSizes::require;
    } else {
      good = false;
    }
    if (!good) return text;
  }
  question.limits.total_seconds += 4 * question.plan.max_seconds;
  return settings_text(question) + text.substr(task);
}

}  // namespace kbench
