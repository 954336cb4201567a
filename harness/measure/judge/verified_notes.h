// Notes of which baselines have been compared with the reference, kept from one judge to the next:
// once a device and build is enough.
#pragma once

#include <set>
#include <string>

#include "harness/measure/process/own_folder.h"
#include "kbench/task.h"

namespace kbench::judge {

/// Baselines that were found right: signed lines in a file of the folder. Invalid lines are
/// ignored; a baseline without a note is checked again. Nothing here throws.
class VerifiedNotes {
 public:
  /// Keeps none.
  VerifiedNotes() = default;
  /// `subject`: what a note holds for, a build and a device with its driver; another subject's
  /// notes are not seen.
  VerifiedNotes(process::OwnFolder folder, const std::string& subject);

  bool has(TaskId task) const { return noted_.contains(task); }
  void add(TaskId task);

 private:
  std::string signature(TaskId task) const;

  process::OwnFolder folder_;
  std::string name_, subject_;
  std::set<TaskId> noted_;
};

/// A hash of this program's own bytes; empty where they cannot be read.
std::string build_identity();

}  // namespace kbench::judge
