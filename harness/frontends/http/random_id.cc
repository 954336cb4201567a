#include "harness/frontends/http/random_id.h"

#include <sys/random.h>

#include <array>
#include <cstdint>

#include "libkbench/base/files.h"
#include "libkbench/base/hex.h"

namespace kbench::http {

std::string random_id() {
  std::array<uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != ssize_t{bytes.size()}) {
    throw_io("draw", "a random number");
  }
  return hex_of(bytes);
}

}  // namespace kbench::http
