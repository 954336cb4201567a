// Every input in the fuzzers' corpora, once: seeds, and what they have found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#define FUZZER(name) extern "C" int fuzz_##name(const uint8_t* data, size_t size);
KBENCH_FUZZERS
#undef FUZZER

namespace kbench {
namespace {

struct Fuzzer {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};
void PrintTo(const Fuzzer& fuzzer, std::ostream* out) { *out << fuzzer.name; }

#define FUZZER(name) Fuzzer{#name, fuzz_##name},
const Fuzzer kFuzzers[] = {KBENCH_FUZZERS};
#undef FUZZER

class Corpus : public ::testing::TestWithParam<Fuzzer> {};

TEST_P(Corpus, EndsInAnAnswerOrAnError) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(KBENCH_FUZZ_CORPUS) / GetParam().name)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename());
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    EXPECT_NO_THROW(GetParam().run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, ::testing::ValuesIn(kFuzzers),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kbench
