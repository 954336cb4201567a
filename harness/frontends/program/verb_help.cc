#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/evaluate/generate/run_folder.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "kbench/text.h"
#include "libkbench/base/files.h"
#include "libkbench/base/suggest.h"

namespace kbench::program {
namespace {

struct HelpOptions {
  std::string verb;
  std::string man;
};

/// A man page for the program and for each verb.
void write_man_pages(Command program, const std::string& folder) {
  generate::make_folder(folder);
  std::vector<Command> commands = program.verbs();
  commands.push_back(program);
  for (const Command& command : commands) {
    replace_file(std::filesystem::path(folder) / (command.man_page_name() + ".1"),
                 command.man_page(), Sync::no);
  }
}

}  // namespace

Verb add_help(Command program) {
  auto options = std::make_shared<HelpOptions>();
  const Command app = program.add_verb(
      "help", "The page of a verb, or of the main job",
      "Shows what `kbench VERB --help` shows, or without a verb what `kbench --help` does.",
      "  kbench help\n"
      "  kbench help show\n"
      "  kbench help --man pages/");
  const Option verb = app.add_option("VERB", options->verb, "A verb");
  app.in_group("Output")
      .add_option(
          "--man DIR", options->man,
          "Write all pages as man pages into a folder, made when it is not there: kbench.1, "
          "kbench-show.1 ...")
      .excludes(verb);
  const auto run = [options, program] {
    if (!options->man.empty()) {
      write_man_pages(program, options->man);
      return int{kDone};
    }
    if (options->verb.empty()) {
      say(program.help());
      return int{kDone};
    }
    std::vector<std::string> names;
    for (const Command& each : program.verbs()) {
      if (each.name() == options->verb) {
        say(each.help());
        return int{kDone};
      }
      names.push_back(each.name());
    }
    throw Error(ErrorCode::kNotFound, "there is no verb '" + shown(options->verb) + "'" +
                                          suggestion(options->verb, names) + "; see kbench --help");
  };
  return {app, run};
}

}  // namespace kbench::program
