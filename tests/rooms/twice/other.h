// The other of one.h.
#pragma once

#include <string>

namespace kbench {

class Other;

class Twice {
  std::string text_;
};

namespace other {
class Twice {};
}  // namespace other

}  // namespace kbench
