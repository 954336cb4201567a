// Golden files, plain and compressed, and a graph held against what they say.
#include "kbench/golden.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile plain("golden.json"), compressed("golden.json.zst");
  static const std::unique_ptr<Graph> graph = build_graph(find_task({1, 19}), Preset::smoke);
  const bool zstd = size >= 4 && data[0] == 0x28 && data[1] == 0xb5 && data[2] == 0x2f;
  fuzz::succeeds([&] {
    for (const GoldenRecord& record : load_golden((zstd ? compressed : plain).write(data, size))) {
      fuzz::succeeds([&] { draw_golden(record, *graph); });
    }
  });
  return 0;
}
