#include "libkbench/candidate/files.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "kbench/candidate.h"
#include "kbench/candidate_limits.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// The name of an #include line and its column, if the line is one.
std::optional<std::pair<std::string, int>> include_in(const std::string& line) {
  const auto skip = [&](size_t i) {
    return std::min(line.find_first_not_of(" \t", i), line.size());
  };
  size_t i = skip(0);
  if (i >= line.size() || line[i] != '#') return std::nullopt;
  i = skip(i + 1);
  constexpr std::string_view kWord = "include";
  if (line.compare(i, kWord.size(), kWord) != 0) return std::nullopt;
  i = skip(i + kWord.size());
  if (i >= line.size() || (line[i] != '"' && line[i] != '<')) return std::nullopt;
  const size_t end = line.find(line[i] == '"' ? '"' : '>', i + 1);
  if (end == std::string::npos) return std::nullopt;
  return std::pair{line.substr(i + 1, end - i - 1), static_cast<int>(i) + 1};
}

/// Where an include may be, in the order to try.
std::vector<std::string> include_places(const std::string& name, const std::string& from) {
  const std::string beside = (fs::path(from).parent_path() / name).lexically_normal().string();
  const std::string root = fs::path(name).lexically_normal().string();
  return beside == root ? std::vector{root} : std::vector{beside, root};
}

/// Calls f; adds this place to an error that has none.
template <class F>
auto placed(const Location& at, F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (!error.location().file.empty()) throw;
    throw Error(error.code(), at, error.message());
  }
}

}  // namespace

std::string shown_path(const std::string& folder, const std::string& relative) {
  return (fs::path(folder) / relative).lexically_normal().string();
}

std::string plain_path(const std::string& relative) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::kParse, "path " + quoted(relative) + " " + why +
                                       "; files must lie in the candidate's own folder");
  };
  const fs::path path(relative);
  if (relative.empty()) fail("is empty");
  if (relative.size() > limits::kPathBytes) {
    fail("has more than " + std::to_string(limits::kPathBytes) + " bytes");
  }
  // File names appear in messages, tables and compiler output.
  if (shown(relative, relative.size()) != relative || relative.find('\\') != std::string::npos) {
    fail("holds a character that paths cannot have here");
  }
  if (path.is_absolute()) fail("is absolute");
  for (const auto& part : path) {
    if (part == "..") fail("leaves the folder by '..'");
  }
  const fs::path plain = path.lexically_normal();
  if (plain == "." || !plain.has_filename()) fail("names a folder");
  return plain.string();
}

void check_size(const std::string& path, size_t bytes, size_t most) {
  if (bytes <= most) return;
  throw Error(ErrorCode::kParse, "file " + quoted(path) + " is too long: " + std::to_string(bytes) +
                                     " bytes, at most " + std::to_string(most) + " are read");
}

void too_many_files() {
  throw Error(ErrorCode::kParse,
              "a candidate can have at most " + std::to_string(limits::kFiles) + " files");
}

void too_many_bytes() {
  throw Error(ErrorCode::kParse, "a candidate's files can have at most " +
                                     std::to_string(limits::kCandidateBytes) + " bytes together");
}

const std::string* CandidateReader::find(const std::string& plain) {
  const auto known = files_.find(plain);
  if (known != files_.end()) return &known->second;
  if (absent_.contains(plain)) return nullptr;
  if (absent_.size() + files_.size() >= limits::kLookups) {
    throw Error(ErrorCode::kParse, "a candidate can name at most " +
                                       std::to_string(limits::kLookups) + " different files");
  }
  std::optional<std::string> bytes = read_(plain);
  if (!bytes) {
    absent_.insert(plain);
    return nullptr;
  }
  if (files_.size() >= limits::kFiles) too_many_files();
  check_size(plain, bytes->size(), limits::kFileBytes);
  bytes_ += bytes->size();
  if (bytes_ > limits::kCandidateBytes) too_many_bytes();
  return &(files_[plain] = *std::move(bytes));
}

const std::string& CandidateReader::read(const std::string& relative, const Location& at) {
  const std::string* bytes = placed(at, [&] { return find(plain_path(relative)); });
  if (bytes) return *bytes;
  throw Error(ErrorCode::kNotFound, at,
              "there is no file " + quoted(shown_path(folder_, plain_path(relative))));
}

void CandidateReader::read_includes(const std::string& text, const std::string& relative,
                                    const Location& first) {
  std::istringstream stream(text);
  Location at = first;
  for (std::string line; std::getline(stream, line); ++at.line) {
    const auto include = include_in(line);
    if (!include) continue;
    at.column = include->second;
    placed(at, [&] { return plain_path(include->first); });
    for (const std::string& place : include_places(include->first, relative)) {
      if (includes_.contains(place)) break;
      // A missing include may be in a branch that is never compiled: the compiler decides.
      const std::string* included = placed(at, [&] { return find(plain_path(place)); });
      if (!included) continue;
      includes_[place] = *included;
      read_includes(*included, place, {shown_path(folder_, place), 1, 1});
      break;
    }
  }
}

std::optional<std::pair<std::string, std::string>> find_include(const Candidate& candidate,
                                                                const std::string& name,
                                                                const std::string& from) {
  const fs::path folder = fs::path(candidate.folder).lexically_normal();
  std::string relative = fs::path(from).lexically_normal().lexically_relative(folder).string();
  if (relative.starts_with("..")) relative.clear();
  for (const std::string& place : include_places(name, relative)) {
    const auto found = candidate.includes.find(place);
    if (found != candidate.includes.end()) {
      return std::pair{shown_path(candidate.folder, place), found->second};
    }
  }
  return std::nullopt;
}

}  // namespace kbench
