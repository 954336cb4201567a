// A server that Node runs, until the end of a test. Its packages lie in the folder that
// KBENCH_NODE_MODULES names; servers/README.md says how it is made.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kbench::testing {

/// The path of a package's file in KBENCH_NODE_MODULES.
std::string node_module(const std::string& file);

/// Whether a package's server can run here, which is said (tests/support/needs.h). `package` is its
/// name, with the version after an @ where it must be that one; `file` is a file in it that is
/// needed.
bool node_runs(const std::string& package, const std::string& file);

class NodeServer {
 public:
  /// Runs node with these arguments until it says where it listens: "... http://127.0.0.1:PORT".
  /// Throws std::runtime_error, with what it said instead.
  explicit NodeServer(const std::vector<std::string>& arguments);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  const std::string& url() const { return url_; }  ///< with /v1

 private:
  pid_t pid_ = -1;
  int said_ = -1;
  std::string url_;
};

}  // namespace kbench::testing
