#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/evaluate/report/conversations.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::report {
namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

constexpr size_t kMostFiles = 16;

/// Parses a line only until sample and attempt are known.
class Ids : public nlohmann::json_sax<PlainJson> {
 public:
  int sample = 0, attempt = 0;

  bool null() override { return next(); }
  bool boolean(bool) override { return next(); }
  bool number_integer(int64_t) override { return next(); }
  bool number_unsigned(uint64_t value) override {
    if (into_ != nullptr) *into_ = static_cast<int>(std::min<uint64_t>(value, INT32_MAX));
    return next();
  }
  bool number_float(double, const std::string&) override { return next(); }
  bool string(std::string&) override { return next(); }
  bool binary(PlainJson::binary_t&) override { return next(); }
  bool start_object(size_t) override { return ++depth_, next(); }
  bool key(std::string& name) override {
    into_ = depth_ != 1         ? nullptr
            : name == "sample"  ? &sample
            : name == "attempt" ? &attempt
                                : nullptr;
    return true;
  }
  bool end_object() override { return --depth_, next(); }
  bool start_array(size_t) override { return next(); }
  bool end_array() override { return next(); }
  bool parse_error(size_t, const std::string&, const PlainJson::exception&) override {
    return false;
  }

 private:
  /// False ends parsing.
  bool next() {
    into_ = nullptr;
    return sample == 0 || attempt == 0;
  }
  int depth_ = 0;
  int* into_ = nullptr;
};

std::string text_in(const PlainJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

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

size_t read_spoken(const std::string& path, const std::function<bool(int, int)>& wanted,
                   const std::function<void(Spoken)>& take) {
  std::ifstream file(path, std::ios::binary);
  size_t bytes = 0;
  for (std::string line; std::getline(file, line);) {
    bytes += line.size() + 1;
    Ids ids;
    PlainJson::sax_parse(line, &ids);
    if (ids.sample == 0 || ids.attempt == 0 || !wanted(ids.sample, ids.attempt)) continue;
    const PlainJson json = PlainJson::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) continue;
    const auto found = json.find("answer");
    const bool nested = found != json.end() && found->is_object();
    const PlainJson& answer = nested ? *found : json;
    Spoken spoken{ids.sample, ids.attempt, text_in(answer, "text"), text_in(answer, "reasoning"),
                  text_in(answer, "finish")};
    if (spoken.answer.empty()) spoken.answer = text_in(json, "answer");
    take(std::move(spoken));
  }
  return bytes;
}

std::vector<std::pair<std::string, std::string>> read_prompt(const std::string& run,
                                                             const std::string& hash) {
  const bool plain = !hash.empty() && std::ranges::all_of(hash, [](unsigned char letter) {
    return std::isxdigit(letter) != 0;
  });
  if (!plain) return {};
  constexpr size_t kMost = size_t{4} << 20;
  const fs::path folder = fs::path(run) / "prompts";
  std::vector<std::pair<std::string, std::string>> messages;
  for (const fs::path& path :
       {folder / hash.substr(0, 2) / (hash + ".json"), folder / (hash + ".json")}) {
    if (!is_file(path)) continue;
    const PlainJson json =
        PlainJson::parse(read_up_to(path, kMost), nullptr, /*allow_exceptions=*/false);
    if (!json.is_array()) continue;
    for (const PlainJson& message : json) {
      if (!message.is_object()) continue;
      const std::string content = text_in(message, "content");
      messages.emplace_back(text_in(message, "role"),
                            content.empty() ? text_in(message, "text") : content);
    }
    break;
  }
  return messages;
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
