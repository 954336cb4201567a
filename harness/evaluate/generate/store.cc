#include "harness/evaluate/generate/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <deque>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "kbench/error.h"
#include "libkbench/base/files.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::generate {
namespace {

/// The number of last results to compare with. At most one for each thread can be written without
/// its attempt, which is far fewer.
constexpr size_t kLastLines = 4096;

/// Not synced: the transcript has the same content.
void write_file(const std::string& path, std::string_view text) {
  replace_file(path, text, Sync::no);
}

int64_t length_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

ResultStore::ResultStore(const std::string& path) : path_(path), writer_(path) {
  std::deque<int64_t> last;
  each_line(path, [&](std::string_view line, int64_t offset) {
    note(line, offset);
    last.push_back(offset);
    if (last.size() > kLastLines) last.pop_front();
  });
  for (const int64_t offset : last) {
    const Result result = read_at(path, offset, result_from_json);
    if (!is_infrastructure_fault(result.verdict)) {
      last_places_.insert(place_of(result));
    }
  }
}

ResultStore::Key ResultStore::key_of(std::string_view hash) {
  Key key;
  if (hash.size() < 32) return key;
  std::from_chars(hash.data(), hash.data() + 16, key.high, 16);
  std::from_chars(hash.data() + 16, hash.data() + 32, key.low, 16);
  return key;
}

/// Finds the field without parsing. With its quotes it cannot occur inside a JSON string.
void ResultStore::note(std::string_view line, int64_t offset) {
  constexpr std::string_view kField = ",\"candidate_hash\":\"";
  const size_t at = line.find(kField);
  if (at == line.npos) return;
  const std::string_view rest = line.substr(at + kField.size());
  const std::string_view hash = rest.substr(0, rest.find('"'));
  if (!hash.empty()) offsets_[key_of(hash)] = offset;
}

void ResultStore::append(const Result& result) {
  const std::lock_guard hold(mutex_);
  if (last_places_.contains(place_of(result))) return;
  const int64_t offset = length_of(path_);
  writer_.append(result);
  if (!result.candidate_hash.empty()) offsets_[key_of(result.candidate_hash)] = offset;
}

std::optional<Result> ResultStore::find(const std::string& hash, Preset preset, DType dtype) const {
  int64_t offset = 0;
  {
    const std::lock_guard hold(mutex_);
    const auto found = offsets_.find(key_of(hash));
    if (hash.empty() || found == offsets_.end()) return std::nullopt;
    offset = found->second;
  }
  Result result = read_at(path_, offset, result_from_json);
  if (result.candidate_hash != hash || result.preset != name_of(preset) || result.dtype != dtype ||
      is_infrastructure_fault(result.verdict)) {
    return std::nullopt;
  }
  return result;
}

Store::Store(RunFolder folder)
    : folder_(std::move(folder)), results_(folder_.results()), attempts_(folder_.attempts()) {}

std::mutex& Store::stripe(const std::string& path) {
  return stripes_[std::hash<std::string>()(path) % stripes_.size()];
}

void Store::keep_prompt(const std::string& hash, const std::vector<Message>& messages) {
  const std::string path = folder_.prompt(hash);
  const std::lock_guard hold(stripe(path));
  if (access(path.c_str(), F_OK) == 0) return;
  make_folder(std::filesystem::path(path).parent_path().string());
  replace_file(path, messages_json(messages) + "\n");
}

void Store::keep_exchange(const Exchange& exchange, const std::string& line) {
  const std::string path = folder_.transcript(exchange.model, exchange.task);
  const std::lock_guard hold(stripe(path));
  append_line(path, line);
}

void Store::keep_files(const std::string& relative, const CandidateFiles& files,
                       const std::string& answer) const {
  const std::filesystem::path folder = folder_.path() + "/" + relative;
  make_folder(folder.string());
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = folder / name;
    if (path.parent_path() != folder) make_folder(path.parent_path().string());
    write_file(path.string(), text);
  }
  // The model may have a file of that name; the transcript has the answer too.
  if (!files.contains("answer.md")) write_file((folder / "answer.md").string(), answer);
}

void Store::keep_feedback(const std::string& relative, const std::string& text) const {
  const std::string folder = folder_.path() + "/" + relative;
  make_folder(folder);
  write_file(folder + "/feedback.txt", text);
}

std::string Store::read_feedback(const std::string& relative) const {
  const std::string path = folder_.path() + "/" + relative + "/feedback.txt";
  return access(path.c_str(), F_OK) == 0 ? read_file(path) : "";
}

RunFolder::RunFolder(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

std::string RunFolder::prompt(const std::string& hash) const {
  return path_ + "/prompts/" + hash.substr(0, 2) + "/" + hash + ".json";
}

std::string RunFolder::transcript(const std::string& model, TaskId task) const {
  return path_ + "/transcripts/" + run_folder_name(model) + "/" + run_file_name(task) + ".jsonl";
}

std::string RunFolder::candidates(const std::string& model) const {
  return path_ + "/candidates/" + run_folder_name(model);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_io("make the folder", path, error.value());
}

RunLock::RunLock(const RunFolder& run) {
  fd_.reset(open(run.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd_.open()) throw_io("write", run.lock());
  lock_file(fd_.get(), run.path(), "working on it");
}

}  // namespace kbench::generate
