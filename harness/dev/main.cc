// kbench-dev: see --help.

#include <exception>
#include <string>
#include <vector>

#include "harness/dev/verbs.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/terminal.h"
#include "kbench/error.h"
#include "kbench/version.h"
#include "libkbench/base/enum_names.h"

namespace kbench::dev {
namespace {

using program::Command;
using program::CommandLine;
using program::Verb;

const program::Page kPage = {
    .summary = "What kbench's own developers need",
    .description =
        "Holds the reference and the baseline to golden files, the tasks' checks to shortcuts, and "
        "makes files that lie in the source tree: certificates, tolerances, baselines.",
    .examples =
        "  kbench-dev verify --golden tests/golden/smoke.json.zst\n"
        "  kbench-dev audit --task level1/23 --all\n"
        "  kbench-dev baseline --preset v0.1 --output h200.json"};

const std::vector<program::ExitCode> kExitCodes = {
    {program::kDone, "done"},
    {program::kFailed, "something differs, is left over, or could not be timed"},
    {program::kUsage, "a wrong flag, name, size, file or device"}};

int run(const std::vector<std::string>& arguments) {
  CommandLine line("kbench-dev", kPage, kExitCodes, version());
  const Command program = line.program();
  const Verb verbs[] = {add_verify(program), add_reference(program), add_audit(program),
                        dev::add_baseline(program)};
  if (!line.parse(arguments)) return program::kDone;
  for (const Verb& verb : verbs) {
    if (verb.command.given()) return verb.run();
  }
  program::say(program.help());
  return program::kUsage;
}

}  // namespace

void add_compute(Command app, std::string& precision) {
  app.in_group("Computation")
      .add_setting("--compute TYPE", precision, "What the reference computes in: f32 or f64",
                   program::member_of(names_to(Precision::f64)));
}

Precision precision_named(const std::string& name) {
  return value_named(name, Precision::f64).value();
}

}  // namespace kbench::dev

int main(int argc, char** argv) {
  using namespace kbench;
  if (!program::open_missing_descriptors()) return program::kUsage;
  program::let_writes_fail();
  int code = program::kUsage;
  try {
    code = dev::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    program::warn(shown(e.what(), 2000));
  }
  return program::finish_output(code);
}
