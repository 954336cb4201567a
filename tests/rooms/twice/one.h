// A type whose name another header of the namespace has, too: what types.cmake has to find.
#pragma once

namespace kbench {

struct Twice {
  int value = 0;
};

}  // namespace kbench
