#include "harness/evaluate/report/conversations.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "kbench/error.h"
#include "libkbench/core/in_words.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::report {
namespace {

/// What was found for a wanted attempt.
struct Found {
  Attempt attempt;
  bool recorded = false;
  Answer answer;
};

class Collector {
 public:
  Collector(const Study& study, const std::vector<AttemptId>& wanted,
            const ConversationLimits& limits)
      : study_(study), limits_(limits) {
    for (const AttemptId& id : wanted) found_[id];
    for (size_t i = 0; i < study.participants.size(); ++i) {
      const Participant& one = study.participants[i];
      participants_[{one.source, one.recorded}] = i;
    }
  }

  Conversations run(const std::vector<AttemptId>& wanted) {
    for (size_t source = 0; source < study_.sources.size(); ++source) {
      const std::string& path = study_.sources[source].path;
      if (study_.sources[source].is_run) {
        note_attempts(source, path + "/attempts.jsonl");
        note_results(source, path + "/results.jsonl");
      } else {
        for (const std::string& each : study_.sources[source].paths()) {
          note_plain_results(source, each);
        }
      }
    }
    read_transcripts();
    for (const AttemptId& id : wanted) {
      if (bytes_ > limits_.total) break;
      if (found_[id].recorded) add(id, found_[id]);
    }
    return std::move(result_);
  }

 private:
  /// Keeps the lines of wanted attempts.
  void note_attempts(size_t source, const std::string& path) {
    std::vector<int64_t> places;
    std::vector<Found*> into;
    for (auto& [id, found] : found_) {
      const Participant& one = study_.participants[id.participant];
      if (one.source != source) continue;
      const AttemptRow* row = row_of(one.model, id);
      if (row == nullptr) continue;
      places.push_back(row->place);
      into.push_back(&found);
    }
    std::vector<Attempt> attempts = read_attempts_at(path, places);
    for (size_t i = 0; i < attempts.size(); ++i) note(source, std::move(attempts[i]), *into[i]);
  }

  const AttemptRow* row_of(uint32_t model, const AttemptId& id) const {
    const auto chains = study_.attempts.chains(model, id.task);
    const auto chain = std::ranges::lower_bound(chains, id.sample, {}, &Chain::sample);
    if (chain == chains.end() || chain->sample != id.sample) return nullptr;
    const auto row =
        std::ranges::lower_bound(chain->attempts, id.attempt, {}, &AttemptRow::attempt);
    return row == chain->attempts.end() || row->attempt != id.attempt ? nullptr : &*row;
  }

  void note(size_t source, Attempt attempt, Found& found) {
    if (!attempt.candidate_hash.empty()) hashes_[source].insert(attempt.candidate_hash);
    found.attempt = std::move(attempt);
    found.recorded = true;
  }

  /// Only the few results that are wanted are parsed: they are many and long.
  void note_results(size_t source, const std::string& path) {
    constexpr std::string_view kField = ",\"candidate_hash\":\"";
    std::ifstream file(path, std::ios::binary);
    for (std::string line; std::getline(file, line);) {
      const size_t at = line.find(kField);
      if (at == line.npos) continue;
      const size_t begin = at + kField.size();
      if (!hashes_[source].contains(line.substr(begin, line.find('"', begin) - begin))) continue;
      try {
        note_result(source, result_from_json(line));
      } catch (const Error&) {  // an incomplete line of a killed run
      }
    }
  }

  void note_result(size_t source, const Result& result) {
    results_[{source, result.task, result.candidate_hash}] = result;
  }

  void note_plain_results(size_t source, const std::string& path) {
    ResultSamples samples;
    for (const Result& result : read_results(path)) {
      const bool other = !result.preset.empty() && result.preset != study_.preset;
      if (other || result.dtype != study_.dtype) continue;
      note_result(source, result);
      const auto [sample, attempt] = samples.of(result);
      const auto participant = participants_.find({source, result.set});
      if (participant == participants_.end()) continue;
      const auto found = found_.find({participant->second, result.task, sample, attempt});
      if (found == found_.end()) continue;
      Attempt a;
      a.model = result.set;
      a.task = result.task;
      a.candidate_hash = result.candidate_hash;
      note(source, std::move(a), found->second);
    }
  }

  void read_transcripts() {
    std::map<std::pair<size_t, TaskId>, bool> files;
    for (const auto& [id, found] : found_) files[{id.participant, id.task}] |= found.recorded;
    size_t bytes = 0;
    for (const auto& [file, recorded] : files) {
      const auto number = file.first;
      const TaskId task = file.second;
      const Participant& one = study_.participants[number];
      if (!recorded || !study_.sources[one.source].is_run || bytes > limits_.transcripts) continue;
      const auto find = [&](int sample, int attempt) {
        return found_.find({number, task, sample, attempt});
      };
      bytes += read_exchanges(
          study_.sources[one.source].path + "/transcripts/" + run_folder_name(one.recorded) + "/" +
              run_file_name(task) + ".jsonl",
          [&](int sample, int attempt) { return find(sample, attempt) != found_.end(); },
          [&](const Exchange& exchange) {
            Answer& answer = find(exchange.sample, exchange.attempt)->second.answer;
            answer.text = cut_in_the_middle(exchange.answer.text, limits_.text);
            answer.reasoning = cut_in_the_middle(exchange.answer.reasoning, limits_.reasoning);
            answer.finish = exchange.answer.finish;
          });
    }
  }

  /// The index of a text in the pool; null if empty.
  Json pooled(const std::string& text) {
    if (text.empty()) return nullptr;
    const std::string kept = cut_in_the_middle(text, limits_.text);
    const auto [entry, is_new] = numbers_.emplace(kept, result_.pool.size());
    if (is_new) {
      bytes_ += kept.size();
      result_.pool.push_back(kept);
    }
    return entry->second;
  }

  void add(const AttemptId& id, Found& found) {
    const Attempt& a = found.attempt;
    const Participant& one = study_.participants[id.participant];
    const Source& source = study_.sources[one.source];
    Json text = Json::object();
    if (source.is_run) {
      AttemptFiles files = read_attempt_files(source.path, a, limits_.text);
      if (found.answer.text.empty()) found.answer.text = std::move(files.answer);
      Json prompt = Json::array(), code = Json::array();
      for (const Message& message : read_prompt(source.path, a.prompt_hash)) {
        prompt.push_back({name_of(message.role), pooled(message.text)});
      }
      for (const auto& [name, content] : files.code) code.push_back({name, pooled(content)});
      text["prompt"] = std::move(prompt);
      text["reasoning"] = pooled(found.answer.reasoning);
      text["answer"] = pooled(found.answer.text);
      text["finish"] = found.answer.finish;
      text["code"] = std::move(code);
      text["feedback"] = pooled(files.feedback);
      text["leniencies"] = a.leniencies;
      text["tokens"] = {a.usage.input ? Json(*a.usage.input) : Json(nullptr),
                        a.usage.output ? Json(*a.usage.output) : Json(nullptr)};
      text["seconds"] = a.seconds;
    }
    add_result(text, one.source, a);
    result_.texts.push_back(std::move(text));
    result_.included.push_back(id);
  }

  void add_result(Json& text, size_t source, const Attempt& a) {
    const auto found = results_.find({source, a.task, a.candidate_hash});
    if (found == results_.end()) return;
    const Result& r = found->second;
    text["message"] = r.message;
    Json diagnostics = Json::array();
    for (const Diagnostic& d : r.diagnostics) {
      diagnostics.push_back(
          {cut_in_the_middle(at(Location{d.file, d.line, d.column}) + d.severity + ": " + d.message,
                             size_t{2} << 10)});
    }
    text["diagnostics"] = std::move(diagnostics);
    if (r.samples == 0) return;
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
    text["measured"] = {{"candidate_ms", number(r.candidate_ms)},
                        {"baseline_ms", number(r.baseline_ms)},
                        {"setup_ms", number(r.setup_ms)},
                        {"gbytes_per_s", number(r.gbytes_per_s)},
                        {"tflops", number(r.tflops)},
                        {"max_error", number(r.max_error)},
                        {"compile_s", number(r.compile_s)},
                        {"samples", r.samples},
                        {"busy", r.busy},
                        {"device", r.device},
                        {"preset", preset_in_words(r.preset, r.dtype)}};
  }

  const Study& study_;
  const ConversationLimits& limits_;
  std::map<AttemptId, Found> found_;
  std::map<std::pair<size_t, std::string>, size_t> participants_;
  std::map<size_t, std::set<std::string>> hashes_;
  std::map<std::tuple<size_t, TaskId, std::string>, Result> results_;
  std::unordered_map<std::string, size_t> numbers_;
  Conversations result_;
  size_t bytes_ = 0;
};

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 16;

std::string read_up_to(const fs::path& path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() <= most) return text;
  text.resize(most);
  return text + "\n[cut here: the file is longer]\n";
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

/// Whether a path from a file stays inside the folder that it is relative to.
bool is_beneath(const fs::path& path) {
  return !path.empty() && path.is_relative() && *path.begin() != ".." &&
         *path.lexically_normal().begin() != "..";
}

}  // namespace

Conversations collect(const Study& study, std::vector<AttemptId> wanted,
                      const ConversationLimits& limits) {
  if (wanted.size() > limits.attempts) wanted.resize(limits.attempts);
  return Collector(study, wanted, limits).run(wanted);
}

size_t read_exchanges(const std::string& path, const std::function<bool(int, int)>& wanted,
                      const std::function<void(Exchange)>& take) {
  std::ifstream file(path, std::ios::binary);
  size_t bytes = 0;
  for (std::string line; std::getline(file, line);) {
    bytes += line.size() + 1;
    try {
      const auto [sample, attempt] = ids_of(line);
      if (wanted(sample, attempt)) take(exchange_from_json(line));
    } catch (const Error&) {  // an incomplete line of a killed run
    }
  }
  return bytes;
}

std::vector<Message> read_prompt(const std::string& run, const std::string& hash) {
  const bool plain = !hash.empty() && std::ranges::all_of(hash, [](unsigned char letter) {
    return std::isxdigit(letter) != 0;
  });
  constexpr size_t kMost = size_t{4} << 20;
  const fs::path path = fs::path(run) / "prompts" / hash.substr(0, 2) / (hash + ".json");
  if (!plain || !is_file(path)) return {};
  try {
    return messages_from_json(read_up_to(path, kMost));
  } catch (const Error&) {
    return {};
  }
}

AttemptFiles read_attempt_files(const std::string& run, const Attempt& attempt, size_t most) {
  AttemptFiles files;
  fs::path relative =
      attempt.candidate.empty()
          ? run_attempt_folder(attempt.model, attempt.task, attempt.sample, attempt.attempt)
          : attempt.candidate;
  if (!is_beneath(relative)) return files;
  if (is_file(fs::path(run) / relative)) relative = relative.parent_path();
  const fs::path folder = fs::path(run) / relative;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return files;
  std::vector<fs::path> paths;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (is_file(at->path())) paths.push_back(at->path());
  }
  // The manifest first.
  std::ranges::sort(paths, {}, [](const fs::path& path) {
    return std::pair(path.filename() != "candidate.yaml", path.string());
  });
  for (const fs::path& path : paths) {
    const std::string name = path.lexically_relative(folder).string();
    if (name == "answer.md") {
      files.answer = read_up_to(path, most);
    } else if (name == "feedback.txt") {
      files.feedback = read_up_to(path, most);
    } else if (files.code.size() < kMostFiles) {
      std::string text = read_up_to(path, most);
      if (text.find('\0') != text.npos) text = "[not a text]";
      files.code.emplace_back(name, std::move(text));
    }
  }
  return files;
}

std::string cut_in_the_middle(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  const auto inside = [&](size_t at) {  // inside a character
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  size_t end = most / 2, begin = text.size() - most / 2;
  while (end > 0 && inside(end)) --end;
  while (inside(begin)) ++begin;
  return text.substr(0, end) + "\n[... " + std::to_string(begin - end) +
         " bytes are left out here ...]\n" + text.substr(begin);
}

}  // namespace kbench::report
