#include <memory>
#include <string>
#include <vector>

#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/suggest.h"

namespace kbench::program {

Verb add_help(Command program) {
  auto verb = std::make_shared<std::string>();
  const Command app = program.add_verb(
      "help", "The page of a verb, or of the main job",
      "Shows what `kbench VERB --help` shows, or without a verb what `kbench --help` does.",
      "  kbench help\n"
      "  kbench help show");
  app.add_option("VERB", *verb, "A verb").option_text("VERB");
  const auto run = [verb, program] {
    if (verb->empty()) {
      say(program.help());
      return int{kDone};
    }
    std::vector<std::string> names;
    for (const Command& each : program.verbs()) {
      if (each.name() == *verb) {
        say(each.help());
        return int{kDone};
      }
      names.push_back(each.name());
    }
    throw Error(ErrorCode::kNotFound, "there is no verb '" + shown(*verb) + "'" +
                                          suggestion(*verb, names) + "; see kbench --help");
  };
  return {app, run};
}

}  // namespace kbench::program
