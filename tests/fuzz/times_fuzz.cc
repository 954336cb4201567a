// Recorded times in their three formats, and kbench's own file of them.
#include "kbench/baseline.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile in("times.json"), out("again.json");
  const std::string path = in.write(data, size);
  for (const char* column : {"", "mean", "eager_ms", "max_ms"}) {
    fuzz::succeeds([&] { read_recorded_times(path, column).label(); });
  }
  fuzz::succeeds([&] {
    const std::string once = to_json(read_baseline(path));
    const std::string copy = out.write(reinterpret_cast<const uint8_t*>(once.data()), once.size());
    fuzz::promise(to_json(read_baseline(copy)) == once, "a baseline survives its own file");
  });
  return 0;
}
