#include <memory>
#include <string>
#include <vector>

#include "harness/program/help.h"
#include "harness/program/terminal.h"
#include "harness/program/verbs.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/src/suggest.h"

namespace kbench::program {

Verb add_help(CLI::App& program) {
  auto verb = std::make_shared<std::string>();
  CLI::App* app = add_verb(program, "help", "The page of a verb, or of the main job",
                           "Shows what `kbench VERB --help` shows, or without a verb what `kbench "
                           "--help` does.",
                           "  kbench help\n"
                           "  kbench help show");
  app->add_option("VERB", *verb, "A verb")->option_text("VERB");
  const auto run = [verb, &program] {
    if (verb->empty()) {
      // help() would show the page of the verb that was parsed, which is this one.
      say(program.get_formatter()->make_help(&program, program.get_name(),
                                             CLI::AppFormatMode::Normal));
      return int{kDone};
    }
    std::vector<std::string> names;
    for (const CLI::App* each : program.get_subcommands(nullptr)) {
      if (each->get_name() == *verb) {
        say(each->help(program.get_name()));
        return int{kDone};
      }
      names.push_back(each->get_name());
    }
    throw Error(ErrorCode::kNotFound, "there is no verb '" + shown(*verb) + "'" +
                                          suggestion(*verb, names) + "; see kbench --help");
  };
  return {app, run};
}

}  // namespace kbench::program
