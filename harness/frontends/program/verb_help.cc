#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/evaluate/generate/store.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"

namespace kbench::program {
namespace {

/// A verb that earlier versions had, and what to write instead.
struct GoneVerb {
  std::string_view name, instead;
};

constexpr GoneVerb kGoneVerbs[] = {
    {"check", "kbench run CANDIDATE --check"},
    {"compare", "kbench run A B --compare"},
    {"judge", "kbench run RUN"},
    {"repl", "kbench run CANDIDATE --watch"},
    {"import", "kbench run FILE.py"},
    {"score", "kbench report FILES"},
    {"prompt", "kbench model prompt TASK"},
    {"extract", "kbench model extract ANSWER"},
    {"transcript", "kbench model transcript RUN"},
    {"models", "kbench model check FILE"},
    {"verify", "kbench-dev verify --golden FILE"},
    {"reference", "kbench-dev reference TASK --dump DIR"},
    {"audit", "kbench-dev audit"},
};

struct HelpOptions {
  std::vector<std::string> verbs;
  std::string man;
};

/// A man page for the command and for each of its verbs.
void write_man_pages(Command program, const std::string& folder) {
  generate::make_folder(folder);
  replace_file(std::filesystem::path(folder) / (program.man_page_name() + ".1"), program.man_page(),
               Sync::no);
  for (const Command& verb : program.verbs()) write_man_pages(verb, folder);
}

Command verb_named(const std::string& word, const Command& of) {
  std::vector<std::string> names;
  for (const Command& each : of.verbs()) {
    if (each.name() == word) return each;
    names.push_back(each.name());
  }
  if (const std::string gone = about_gone_verb(word); !gone.empty()) {
    throw Error(ErrorCode::kNotFound, gone);
  }
  throw Error(ErrorCode::kNotFound, "there is no verb '" + shown(word) + "'" +
                                        suggestion(word, names) + "; see " + of.typed() +
                                        " --help");
}

}  // namespace

std::string about_gone_verb(std::string_view word) {
  const auto found = std::ranges::find(kGoneVerbs, word, &GoneVerb::name);
  if (found == std::end(kGoneVerbs)) return "";
  return "'" + std::string(word) + "' is no verb any more: write `" + std::string(found->instead) +
         "`";
}

Verb add_help(Command program) {
  auto options = std::make_shared<HelpOptions>();
  const Command app = program.add_verb(
      "help", "The page of a verb, or of the main job",
      "Shows what `kbench VERB --help` shows, or without a verb what `kbench --help` does.",
      "  kbench help\n"
      "  kbench help show\n"
      "  kbench help model prompt\n"
      "  kbench help --man pages/");
  const Option verb =
      app.add_option("VERB", options->verbs, "A verb, and one of its own where it has some");
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
    Command command = program;
    for (const std::string& word : options->verbs) command = verb_named(word, command);
    say(command.help());
    return int{kDone};
  };
  return {app, run};
}

}  // namespace kbench::program
