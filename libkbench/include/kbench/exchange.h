// Exchanges with a model, as transcripts keep them, and a model that answers from them.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/model.h"
#include "kbench/task.h"

namespace kbench {

/// One line of a transcript: which request, and its answer. The messages themselves are kept apart,
/// under their hash.
struct Exchange {
  std::string model = {};
  TaskId task = {};
  int sample = 1;
  int attempt = 1;
  std::string prompt_hash = {};
  uint64_t seed = 0;
  Answer answer = {};
};

std::string to_json(const Exchange& exchange);  ///< one line, no newline at the end
/// Throws kParse. Fields it does not know are passed over.
Exchange exchange_from_json(const std::string& line);

/// Sample and attempt of a line, if possible without parsing the answer. Throws kParse.
std::pair<int, int> ids_of(std::string_view line);

/// SHA-256 over roles and texts.
std::string prompt_hash(const std::vector<Message>& messages);
/// [{"role": "system", "content": "..."}, ...], as prompts/ keeps them and servers take them.
std::string messages_json(const std::vector<Message>& messages);
std::vector<Message> messages_from_json(const std::string& text);  ///< throws kParse

/// "level1/19 s3 a2": the purpose of an Ask, which ReplayModel goes by.
std::string purpose_of(TaskId task, int sample, int attempt);
/// 31 bits out of a run's seed and all that tells one request of the run from another.
uint64_t request_seed(uint64_t run_seed, std::string_view model, TaskId task, int sample,
                      int attempt);

/// Answers what was answered before. An Ask is found by its purpose (see purpose_of); of several
/// exchanges with one purpose the last counts, as in a transcript that was resumed.
class ReplayModel : public Model {
 public:
  /// What to do where the prompt is not the recorded one. With `given`, new templates can be
  /// tried on old answers; with `refuse`, such a request has no answer.
  enum class OtherPrompt { refuse, given };
  ReplayModel(std::string name, std::vector<Exchange> exchanges,
              OtherPrompt other = OtherPrompt::refuse);
  ~ReplayModel() override;

  std::string name() const override;
  /// Throws ModelError (request) where nothing is recorded.
  Answer ask(const Ask& ask, std::stop_token stop) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// The exchanges of a transcript file. A last line without its end (a process was killed) is passed
/// over. Throws kIo, and kParse with the line.
std::vector<Exchange> read_transcript(const std::string& path);

}  // namespace kbench
