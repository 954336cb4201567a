// Transcripts: one exchange, a file of them, and the messages of a prompt.
#include "kbench/exchange.h"
#include "tests/fuzz/fuzz.h"

namespace kbench::fuzz {
namespace {

void one_line(const std::string& line) {
  const std::string once = to_json(exchange_from_json(line));
  std::string twice;
  promise(once.find('\n') == std::string::npos, "an exchange is one line");
  promise(succeeds([&] { twice = to_json(exchange_from_json(once)); }),
          "an exchange reads its own line");
  promise(once == twice, "an exchange survives its own line");
}

void messages(const std::string& text) {
  const std::vector<Message> read = messages_from_json(text);
  const std::string once = messages_json(read);
  std::vector<Message> again;
  promise(succeeds([&] { again = messages_from_json(once); }), "messages read their own text");
  promise(once == messages_json(again), "messages survive their own text");
}

void one_file(const std::string& path) {
  const size_t before = read_transcript(path).size();
  std::ofstream(path, std::ios::binary | std::ios::app) << "{\"model\":\"torn";
  size_t after = 0;
  promise(succeeds([&] { after = read_transcript(path).size(); }), "a torn line is no error");
  promise(after == before, "a torn line is passed over");
}

}  // namespace
}  // namespace kbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile file("transcript.jsonl");
  const std::string text = fuzz::text_of(data, size);
  fuzz::succeeds([&] { fuzz::one_line(text); });
  fuzz::succeeds([&] { fuzz::messages(text); });
  fuzz::succeeds([&] { fuzz::one_file(file.write(data, size)); });
  return 0;
}
