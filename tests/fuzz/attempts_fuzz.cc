// Attempts: one line, read fast and by fields, and a file of them.
#include "kbench/attempt.h"
#include "libkbench/scoring/attempt_json.h"
#include "tests/fuzz/fuzz.h"

namespace kbench::fuzz {
namespace {

void one_line(const std::string& line) {
  Attempt fast;
  fast.leniencies = {"of another line"};
  fast.verdict = Verdict::passed;
  fast.cost = fast.speedup.point = fast.seconds = 7;
  fast.usage = {7, 7, 7, 7};
  const bool plain = read_plain_attempt(line, fast);
  std::string by_fields;
  const bool valid = succeeds([&] { by_fields = to_json(attempt_by_fields(line)); });
  promise(valid || !plain, "what is read fast is an attempt");
  promise(!plain || to_json(fast) == by_fields, "both ways of reading find the same");
  if (!valid) return;
  promise(read_plain_attempt(by_fields, fast), "a line as it is written is read fast");
  promise(to_json(fast) == by_fields, "an attempt survives its own line");
}

void one_file(const std::string& path) {
  std::vector<int64_t> places;
  std::vector<std::string> lines;
  read_attempts(path, [&](const Attempt& attempt, int64_t place) {
    places.push_back(place);
    lines.push_back(to_json(attempt));
  });
  std::vector<Attempt> again;
  promise(succeeds([&] { again = read_attempts_at(path, places); }), "places are of attempts");
  for (size_t i = 0; i < again.size(); ++i) {
    promise(to_json(again[i]) == lines[i], "an attempt is found again by its place");
  }
}

}  // namespace
}  // namespace kbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile file("attempts.jsonl");
  fuzz::one_line(fuzz::text_of(data, size));
  fuzz::succeeds([&] { fuzz::one_file(file.write(data, size)); });
  return 0;
}
