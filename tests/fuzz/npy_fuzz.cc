// NumPy files: what can be read is written again as it was.
#include <cstring>

#include "kbench/golden.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kbench;
  if (size > fuzz::kMostBytes) return 0;
  static const fuzz::InputFile in("in.npy"), out("out.npy");
  fuzz::succeeds([&] {
    const Tensor tensor = read_npy(in.write(data, size));
    const std::string copy = out.write(nullptr, 0);
    write_npy(copy, tensor);
    const Tensor again = read_npy(copy);
    fuzz::promise(
        again.type() == tensor.type() &&
            (tensor.bytes() == 0 ||
             std::memcmp(again.raw(), tensor.raw(), static_cast<size_t>(tensor.bytes())) == 0),
        "a tensor survives its own file");
  });
  return 0;
}
