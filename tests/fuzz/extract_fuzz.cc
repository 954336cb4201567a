// Models' answers: whatever they are, there is an extraction, and its files can be files.
#include "kbench/candidate_limits.h"
#include "kbench/extract.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  using fuzz::promise;
  if (size > fuzz::kMostBytes || size == 0) return 0;
  static const char* const kFinish[] = {"stop", "length", "", "content_filter"};
  Answer answer;
  answer.finish = kFinish[data[0] % 4];
  answer.text = fuzz::text_of(data + 1, size - 1);
  const Extraction found = extract(answer, {1, 19});

  const bool has_files =
      found.outcome == Outcome::candidate || found.outcome == Outcome::wrong_task;
  promise(has_files == found.files.contains("candidate.yaml"), "a candidate has a manifest");
  promise(has_files || found.files.empty(), "files belong to a candidate");
  promise(!found.explanation.empty(), "an outcome is explained");
  promise(found.explanation.find_first_of("\n\r\x1b") == std::string::npos, "in one line");
  for (const auto& [path, text] : found.files) {
    promise(!path.empty() && path.size() <= limits::kPathBytes, "paths are of sensible length");
    promise(path.front() != '/' && path.back() != '/', "paths are relative, of files");
    promise(("/" + path + "/").find("/../") == std::string::npos, "paths do not lead out");
    promise(path.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                   "_./-") == std::string::npos,
            "paths are of plain characters");
    for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
      promise(!found.files.contains(path.substr(0, slash)), "no file is another's folder");
    }
  }
  return 0;
}
