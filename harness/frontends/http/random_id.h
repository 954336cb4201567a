// Names of experiments, and the keys under which clients send them.
#pragma once

#include <string>

namespace kbench::http {

/// 32 hexadecimal digits from the system's random numbers, which cannot be guessed. Throws kIo.
std::string random_id();

}  // namespace kbench::http
