// Verbs that earlier versions had, and what to write instead.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace kbench::program {

struct GoneVerb {
  std::string_view name, instead;
};

inline constexpr GoneVerb kGoneVerbs[] = {
    {"check", "kbench run CANDIDATE --check"},
    {"compare", "kbench run A B --compare"},
    {"judge", "kbench run RUN"},
    {"repl", "kbench run CANDIDATE --watch"},
    {"score", "kbench report FILES"},
    {"prompt", "kbench model prompt TASK"},
    {"extract", "kbench model extract ANSWER"},
    {"transcript", "kbench model transcript RUN"},
    {"models", "kbench model check FILE"},
    {"verify", "kbench-dev verify --golden FILE"},
    {"reference", "kbench-dev reference TASK --dump DIR"},
    {"audit", "kbench-dev audit"},
};

/// "'check' is no verb any more: write `kbench run CANDIDATE --check`"; empty for any other word.
inline std::string about_gone_verb(std::string_view word) {
  const auto found = std::ranges::find(kGoneVerbs, word, &GoneVerb::name);
  if (found == std::end(kGoneVerbs)) return "";
  return "'" + std::string(word) + "' is no verb any more: write `" + std::string(found->instead) +
         "`";
}

}  // namespace kbench::program
