#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/evaluate/report/conversations.h"
#include "kbench/error.h"
#include "libkbench/scoring/run_names.h"

namespace kbench::report {
namespace {

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
