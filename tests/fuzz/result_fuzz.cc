// Results: one line, and a file of them that is read and then appended to.
#include "kbench/result.h"
#include "tests/fuzz/fuzz.h"

namespace kbench::fuzz {
namespace {

void one_line(const std::string& line) {
  const std::string once = to_json(result_from_json(line));
  std::string twice;
  promise(succeeds([&] { twice = to_json(result_from_json(once)); }),
          "a result reads its own line");
  promise(once == twice, "a result survives its own line");
}

void one_file(const std::string& path) {
  const size_t before = read_results(path).size();
  {
    ResultWriter writer(path);
    writer.append({});
  }
  promise(read_results(path).size() == before + 1, "what was read is kept, and one is added");
}

}  // namespace
}  // namespace kbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile file("results.jsonl");
  fuzz::succeeds([&] { fuzz::one_line(fuzz::text_of(data, size)); });
  fuzz::succeeds([&] { fuzz::one_file(file.write(data, size)); });
  return 0;
}
