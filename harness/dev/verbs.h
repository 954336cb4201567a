// kbench-dev: what kbench's own developers need, and no user. Its command line is the program's.
#pragma once

#include <string>

#include "harness/frontends/program/command.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/reference.h"

namespace kbench::dev {

program::Verb add_verify(program::Command program);
program::Verb add_reference(program::Command program);
program::Verb add_audit(program::Command program);
program::Verb add_baseline(program::Command program);

/// --compute: what the CPU reference computes in.
void add_compute(program::Command app, std::string& precision);
Precision precision_named(const std::string& name);

}  // namespace kbench::dev
