// Runs Python of a candidate: the one place where a candidate's own code runs on the host, in
// processes of their own without network, which can write to a scratch folder only. A judge has one
// server for all its runners, which starts and watches these processes; a runner has a connection
// to it.
//
//   runner --- socket --- server (kbench's own code) --- process of Python's (locked in)
//                                   |                          ^ forked
//                                   +-- python3 that has imported the package (PythonPrototype)
//
// - A job (the module of a Triton candidate, the extensions of a ModelNew) has no GPU, and has
//   ended, with all that it started, before the runner is given any memory.
// - The process that runs a ModelNew has the device, and a channel to the server. It stands still
//   but while it is asked something, and the server takes the time of that: fewer processes have to
//   wake up than if the runner did.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "harness/measure/process/channel.h"
#include "harness/measure/runner/python_interpreter.h"
#include "harness/measure/runner/python_scratch.h"

namespace kbench::runner {

/// What python3 is to run.
struct PythonJob {
  std::string package = {};  ///< that the interpreter must have; empty: none
  std::string script;
  std::map<std::string, std::string> files = {};  ///< name -> text, in its own folder
  std::string input = {};                         ///< on its standard input
  double seconds = 30;                            ///< after which it is killed
  /// Its folder is that of the PyTorch process, in which what it makes is found.
  bool for_torch = false;
  bool meanwhile = false;         ///< that process runs already: nothing of it is kept
  std::string made_from = {};     ///< what it makes there is kept by this text; empty: by its input
  std::string architecture = {};  ///< of CUDA, to compile for: "9.0"
  std::string whose = "Triton's";  ///< its process, in messages
};

/// A question to the process that runs a ModelNew.
struct TorchQuestion {
  std::string text = {};  ///< empty: only waits for the answer to what start_torch() asked
  double seconds = 0;     ///< after which there is no answer
  bool held = false;      ///< the process stands still until it is asked, and again afterwards
  /// On a GPU: the helper does not sleep for the first milliseconds, and all processes that are
  /// asked so share a few processors.
  bool spin = false;
};

struct TorchAnswer {
  std::optional<std::string> text = {};  ///< untrusted; nothing: see below
  bool late = false;                     ///< it has not answered in time; else it has ended
  std::string last_words = {};           ///< why it has ended, as far as is known: untrusted
  bool killed = false;                   ///< it has ended by a signal that kbench did not send
  double ns = 0;                         ///< from its standstill to its standstill
};

/// The process that runs a ModelNew.
struct TorchOrder {
  std::string script;
  std::string device_uuid = {};   ///< of the GPU that it may use; empty: none
  uint64_t host_bytes = 0;        ///< its memory, at most
  std::string architecture = {};  ///< as the job has it that compiled for it
  std::string question = {};      ///< that it is asked first
};

/// Puts the extensions that were kept of such a job, and the library that they need, where a
/// process in the scratch folder finds them.
void put_kept_extensions(const PythonInterpreter& python, const PythonJob& job,
                         const PythonScratch& scratch);

/// The process that starts Python's processes, a thread of it for each connection.
class PythonServer {
 public:
  /// Forks it. To be called while this process has one thread. Throws kIo.
  PythonServer();
  /// Ends it, and all that it has started.
  ~PythonServer();
  PythonServer(const PythonServer&) = delete;

  /// For one PythonHelper, of this process or of another. Thread-safe. Throws kIo.
  UniqueFd connect();

 private:
  void start();

  std::mutex mutex_;
  std::optional<process::Channel> control_;
  pid_t pid_ = -1;
};

class PythonHelper {
 public:
  /// With a server of its own. To be called while this process has one thread.
  PythonHelper();
  /// `connection`: PythonServer::connect()'s.
  explicit PythonHelper(UniqueFd connection);
  /// As end().
  ~PythonHelper();
  PythonHelper(const PythonHelper&) = delete;

  /// Returns what the script writes to descriptor 3. Throws kUnsupported if there is no such
  /// python3, the system cannot lock it in, or it exceeds its limits of processes or files;
  /// kTimeout; kCompile with its last line of output if it ends without an answer, kInternal if
  /// another process killed it; kIo if its scratch folder cannot be removed.
  std::string run(const PythonJob& job);
  /// Ends its processes; when it returns, none is left.
  void end();

  /// Makes the library that quickly compiled extensions need, where it is not kept. Returns why
  /// there is none. Throws as run().
  std::string prepare_bridge(double seconds);

  /// Starts the PyTorch process, and returns which that is. Throws kUnsupported if there is no
  /// python3 with torch, kIo.
  pid_t start_torch(const TorchOrder& order);
  /// Asks it, once it has been started.
  TorchAnswer ask_torch(const TorchQuestion& question, std::span<const int> descriptors = {});

 private:
  nlohmann::json ask(uint32_t kind, const std::string& text, double seconds,
                     std::span<const int> descriptors = {});

  std::unique_ptr<PythonServer> own_server_;
  std::optional<process::Channel> channel_;  ///< until end()
};

}  // namespace kbench::runner
