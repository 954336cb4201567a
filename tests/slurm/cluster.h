// A Slurm cluster of one node, this machine, which lives in a scratch folder as long as the object.
#pragma once

#include <string>

#include "tests/program/run_program.h"

namespace kbench::testing {

class Cluster {
 public:
  /// Starts munged, slurmctld and slurmd under this user, on ports that are free.
  Cluster();
  /// Cancels every job and ends the three.
  ~Cluster();
  Cluster(const Cluster&) = delete;

  /// Empty, or why there is no cluster: what is not installed, or what did not start and its words.
  const std::string& missing() const { return missing_; }
  /// A script of the shell, with Slurm's commands for this cluster.
  Said run(const std::string& script) const;
  std::string path() const { return folder_.path(); }

 private:
  void configure() const;
  std::string start();

  ScratchFolder folder_;
  std::string missing_;
};

}  // namespace kbench::testing
