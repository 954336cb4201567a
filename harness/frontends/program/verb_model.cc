// `kbench model`: what goes to language models and comes from them.
#include <vector>

#include "harness/frontends/program/verbs.h"

namespace kbench::program {

Verb add_model(Command program) {
  const Command app = program.add_verb(
      "model", "What language models are asked, what they answer, and whether they do",
      "Prints the messages that ask for a kernel, finds the candidate in an answer, shows the "
      "conversations of a run, or asks the models of a file for one word. kbench generate does all "
      "of it by itself.",
      "  kbench model check models.yaml\n"
      "  kbench model prompt level1/19\n"
      "  kbench model extract answer.md\n"
      "  kbench model transcript run1");
  app.needs_verb();
  const std::vector<Verb> verbs = {add_model_prompt(app), add_model_extract(app),
                                   add_model_transcript(app), add_model_check(app)};
  return {app, [verbs] {
            for (const Verb& verb : verbs) {
              if (verb.command.given()) return verb.run();
            }
            return int{kUsage};  // The command line is refused without one.
          }};
}

}  // namespace kbench::program
