// A compiler's text, much of which a candidate writes (#error, #line).
#include "harness/measure/vulkan/compiler.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  fuzz::succeeds([&] {
    vulkan::parse_diagnostics(fuzz::text_of(data, size), "a.comp", 1);
    vulkan::parse_diagnostics(fuzz::text_of(data, size), "a.comp", 0x7fffffff);
  });
  return 0;
}
