#include "libkbench/src/candidate_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "kbench/candidate.h"
#include "libkbench/src/text.h"

namespace kbench {
namespace {

namespace fs = std::filesystem;

// Far above any shader; far below what would burden a machine that reads thousands of candidates.
constexpr uintmax_t kLongestFile = uintmax_t{4} << 20;
constexpr size_t kMostFiles = 256;

/// Reads a regular file of bounded size.
std::string read_file(const fs::path& path, const std::string& shown, const Location& at) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error(ErrorCode::kNotFound, at, "there is no file " + quoted(shown));
  }
  if (!fs::is_regular_file(status)) {
    throw Error(ErrorCode::kIo, at, quoted(shown) + " is not a regular file");
  }
  const uintmax_t size = fs::file_size(path, error);
  if (!error && size > kLongestFile) {
    throw Error(ErrorCode::kParse, at,
                quoted(shown) + " is too long: " + std::to_string(size) + " bytes, at most " +
                    std::to_string(kLongestFile) + " are read");
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (stream && size > 0) text << stream.rdbuf();
  if (error || !stream || !text) {
    throw Error(ErrorCode::kIo, at,
                "cannot read " + quoted(shown) + ": " + std::strerror(errno ? errno : EIO));
  }
  return std::move(text).str();
}

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

}  // namespace

std::string shown_path(const std::string& folder, const std::string& relative) {
  return (fs::path(folder) / relative).lexically_normal().string();
}

std::string CandidateFiles::checked(const std::string& relative, const Location& at) const {
  const auto fail = [&](const std::string& why) {
    throw Error(
        ErrorCode::kParse, at,
        "path " + quoted(relative) + " " + why + "; files must lie in the candidate's own folder");
  };
  const fs::path path(relative);
  if (relative.empty()) fail("is empty");
  if (relative.find('\0') != std::string::npos || relative.find('\\') != std::string::npos) {
    fail("holds a character that paths cannot have here");
  }
  if (path.is_absolute()) fail("is absolute");
  for (const auto& part : path) {
    if (part == "..") fail("leaves the folder by '..'");
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder_.empty() ? "." : folder_, error);
  if (error) {
    throw Error(ErrorCode::kNotFound, at, "there is no folder " + quoted(folder_) + " to look in");
  }
  const fs::path target = fs::weakly_canonical(root / path, error);
  const auto [end, ignored] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (error || end != root.end()) fail("leaves the folder through a symbolic link");
  return path.lexically_normal().string();
}

const std::string& CandidateFiles::read(const std::string& relative, const Location& at) {
  const std::string path = checked(relative, at);
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (files_.size() >= kMostFiles) {
    throw Error(ErrorCode::kParse, at,
                "a candidate can have at most " + std::to_string(kMostFiles) + " files");
  }
  const std::string shown = shown_path(folder_, path);
  return files_[path] = read_file(fs::path(folder_) / path, shown, at);
}

void CandidateFiles::read_includes(const std::string& text, const std::string& relative,
                                   const Location& first) {
  std::istringstream stream(text);
  Location at = first;
  for (std::string line; std::getline(stream, line); ++at.line) {
    const auto include = include_in(line);
    if (!include) continue;
    at.column = include->second;
    checked(include->first, at);
    for (const std::string& place : include_places(include->first, relative)) {
      if (includes_.contains(place)) break;
      // An include that is not there may stand in a branch never compiled: the compiler decides.
      if (!fs::exists(fs::path(folder_) / place)) continue;
      const std::string& included = read(place, at);
      includes_[place] = included;
      read_includes(included, place, {shown_path(folder_, place), 1, 1});
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

Candidate load_candidate(const std::string& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  const fs::path file = is_folder ? fs::path(path) / "candidate.yaml" : fs::path(path);
  const fs::path parent = file.parent_path();
  const std::string text = read_file(file, file.string(), {});
  return parse_candidate(text, file.string(), parent.empty() ? "." : parent.string());
}

std::vector<std::string> candidate_files(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw Error(ErrorCode::kNotFound, "there is no candidate file or folder " + quoted(path));
  }
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
        files.push_back(entry.path().string());
      }
    }
  } catch (const fs::filesystem_error& failure) {
    throw Error(ErrorCode::kIo, "cannot list " + quoted(path) + ": " + failure.code().message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace kbench
