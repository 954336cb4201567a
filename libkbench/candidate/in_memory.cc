// A candidate on disk as one in memory, to be sent elsewhere.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kbench/candidate_source.h"
#include "kbench/error.h"
#include "libkbench/candidate/files.h"

namespace kbench {

CandidateSource in_memory(const CandidateSource& source) {
  if (source.files) return source;
  expect_readable(source);
  const CandidatePlace place = candidate_place(source.path);
  CandidateFolder folder(place.folder);
  std::map<std::string, std::string> files;
  const ReadFile keep = [&](const std::string& path) {
    std::optional<std::string> text = folder.read(path);
    if (text) files[path] = *text;
    return text;
  };
  try {
    load_candidate(place.manifest, place.folder, keep);
  } catch (const Error& e) {
    // What is wrong with it is for its judge to say, who finds the same in these files.
    if (e.code() != ErrorCode::kParse && e.code() != ErrorCode::kNotFound) throw;
  }
  CandidateSource whole(std::move(files));
  whole.manifest = place.manifest;
  whole.author = source.author;
  return whole;
}

}  // namespace kbench
