// Judges a list of candidates through a pool, for the verbs that print results as they come; and
// the file of --output that takes results.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/frontends/program/progress.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::program {

struct NamedQuestion {
  std::string name;  ///< for the progress
  Question question;
};

/// What becomes of the evaluation under way when a stop is requested.
enum class OnStop { finish, cancel };

/// Judges all on these devices, on one device in the order given, until all are done or `stop` is
/// requested; what waits then is not judged. `on_result` is called with the question's index, by
/// another thread, once at a time. Throws what is wrong with a question, and what
/// `on_result` throws; what waits then is not judged either.
void judge_all(std::vector<std::unique_ptr<Evaluator>> evaluators,
               std::vector<NamedQuestion> questions, Progress& progress,
               const std::function<void(size_t, Result)>& on_result, const std::stop_token& stop,
               OnStop on_stop);

/// If a result cannot be written, it is kept and tried again with each further result: so a job
/// continues when the disk is full, and loses nothing if that is temporary.
class OutputFile {
 public:
  /// Opens the file; "": no file. Throws like ResultWriter.
  explicit OutputFile(const std::string& path);

  /// Returns "", or, the first time that a result cannot be written, a warning.
  std::string append(const Result& result);
  /// Tries a last time. Returns "", or how many results the file lacks.
  std::string finish();

 private:
  /// Writes pending results; returns why it failed, else "".
  std::string write_waiting();

  std::string path_;
  std::unique_ptr<ResultWriter> writer_;
  std::vector<Result> waiting_;
  bool said_ = false;
};

}  // namespace kbench::program
